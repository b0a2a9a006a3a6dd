import { oneLine } from "../../lib/escape.ts";
import type { FailureJson } from "../../model/events.ts";
import type {
  AccessAnswer,
  AccessEnd,
  AccessExplanation,
  AccessSuspension,
  AccessWay,
  ExpiringAccess,
  IgnoredAccess,
  UnknownAnswer,
} from "../../model/questions.ts";
import { documentJson } from "../machine/machine-formats.ts";
import type { Table } from "../view/table.ts";

/** A place in a file; line and column count from 1. */
export interface FilePlace {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** A question about access. */
export interface AccessQuestion {
  /** `can` asks about a permission, `has` about a role, `is` about a member. */
  readonly kind: "can" | "has" | "is";
  /** The name or glob in the question. */
  readonly name: string;
  readonly source: "declared" | "live";
  /** `null`: the files of the working tree, or what is live. */
  readonly at: AskedCommit | null;
}

/** The git commit whose files were read: what was merged at a time, not what was live. */
export interface AskedCommit {
  /** The time that end dates are compared with, ISO 8601. */
  readonly time: string;
  /** The last commit at that time. */
  readonly commit: string;
  /** Time of the commit, ISO 8601. */
  readonly committed: string;
}

/** An answer with the lines of the files. */
export interface LocatedAnswer extends AccessAnswer {
  /** The lines that grant the role; empty if no file does. */
  readonly grantedAt: readonly FilePlace[];
  /** The lines that end or suspend it; empty if nothing does. */
  readonly statusAt: readonly FilePlace[];
  /** The line of the role's entry; `null` if no file declares it. */
  readonly declaredAt: FilePlace | null;
  /** `null` if unknown; asked for one member only. */
  readonly since: GrantSince | null;
}

/** Since when a member has a role, according to git. */
export interface GrantSince {
  /** Since `commit`; `by` the commit, where the history begins; or not yet committed. */
  readonly kind: "commit" | "by" | "uncommitted";
  readonly commit: string | null;
  /** ISO 8601; `null` if it is not committed. */
  readonly time: string | null;
}

/** The located answers to a question. */
export interface AnswersView {
  readonly question: AccessQuestion;
  /** The time that ends are compared with, in ms since the epoch. */
  readonly now: number;
  readonly answers: readonly LocatedAnswer[];
  readonly unknown: readonly UnknownAnswer[];
  /** The names that the question matches, sorted. */
  readonly matched: readonly string[];
  /** A name that the question may have meant; `null` if it matches one, or none is near. */
  readonly near: string | null;
  /** The merchants that were read. */
  readonly merchants: readonly string[];
  /** The merchants whose files do not list all members. */
  readonly incomplete: readonly string[];
  /** What the files ignore. */
  readonly ignored: readonly IgnoredAccess[];
}

/** Returns answers as JSON, one for each role that a member holds at a merchant. */
export function answersJson(
  { question, answers, unknown, merchants, incomplete, ignored }: AnswersView,
  failures: readonly FailureJson[],
): string {
  return documentJson({
    question,
    merchants,
    answers: answers.map(answerJson),
    unknown,
    incomplete,
    ignored,
    failures,
  });
}

function answerJson({
  merchant,
  environment,
  member,
  role,
  held,
  permissions,
  grantedAt,
  statusAt,
  declaredAt,
  since,
}: LocatedAnswer): object {
  return {
    merchant,
    environment,
    member: memberJson(member),
    role: role && { name: role.name, id: role.id, predefined: role.predefined, declaredAt },
    permissions,
    status: held?.status ?? null,
    effective: held?.effective ?? false,
    from: held?.from ?? null,
    end: endJson(held?.end ?? null),
    suspended: suspensionJson(held?.suspension ?? null),
    since,
    grantedAt,
    statusAt,
  };
}

function endJson(end: AccessEnd | null): object | null {
  return end && { by: end.by, text: end.text, ends: end.ends };
}

function suspensionJson(suspension: AccessSuspension | null): object | null {
  return suspension && { until: suspension.until };
}

/** An end of access with its lines in the files; none if no file has it. */
export interface LocatedEnd extends Omit<ExpiringAccess, "origins" | "ends"> {
  /** The first moment without access, ISO 8601. */
  readonly ends: string;
  /** The last day with access, or the day that somebody leaves; UTC. */
  readonly day: string;
  /** The number of days from today until then. */
  readonly daysLeft: number;
  readonly places: readonly FilePlace[];
}

/** Returns ends of access as JSON. */
export function expiringJson(
  ends: readonly LocatedEnd[],
  source: "declared" | "live",
  ignored: readonly IgnoredAccess[],
  failures: readonly FailureJson[],
): string {
  return documentJson({ source, ends, ignored, failures });
}

/** A way to a permission with the lines of the files. */
export interface LocatedWay extends AccessWay {
  readonly grantedAt: readonly FilePlace[];
  /** The lines that give the role the permission; empty if no file does. */
  readonly permittedAt: readonly FilePlace[];
  /** The lines that end or suspend it; empty if nothing does. */
  readonly statusAt: readonly FilePlace[];
}

/** An explanation with the lines of the files. */
export interface LocatedExplanation extends AccessExplanation {
  readonly ways: readonly LocatedWay[];
  readonly without: readonly LocatedWay[];
}

/** The located explanations of why somebody can do something. */
export interface ExplanationsView {
  readonly question: Omit<AccessQuestion, "kind" | "name"> & {
    readonly kind: "why";
    readonly member: string;
    readonly permission: string;
  };
  /** The time that ends are compared with, in ms since the epoch. */
  readonly now: number;
  readonly explanations: readonly LocatedExplanation[];
  /** The merchants whose files do not list all members, and do not list those in the question. */
  readonly incomplete: readonly string[];
  /** What the files ignore. */
  readonly ignored: readonly IgnoredAccess[];
  /** The permissions that the question matches. */
  readonly permissions: readonly string[];
  /** A member that may be meant; `null` if the question matches one, or none is near. */
  readonly nearMember: string | null;
  /** A permission that may be meant; `null` if a role grants the one that is asked for, or none is near. */
  readonly nearPermission: string | null;
  readonly merchants: readonly string[];
}

/** Returns explanations as JSON, one for each merchant and permission. */
export function explanationsJson(
  { question, explanations, merchants, incomplete, ignored }: ExplanationsView,
  failures: readonly FailureJson[],
): string {
  const records = explanations.map(
    ({ merchant, environment, member, permission, ways, without, unclear }) => ({
      merchant,
      environment,
      member: memberJson(member),
      permission,
      // Unknown if the files do not contain the member's roles, or what one of these grants.
      can: ways.length > 0 || (member.rolesKnown && unclear.length === 0 ? false : null),
      ways: ways.map((way) => wayJson(way, member.name)),
      without: without.map((way) => wayJson(way, member.name)),
      unclear,
      // Everything that has to be removed: the grants of all roles, in every file that has them.
      toEnd: ways.flatMap(({ grantedAt }) => grantedAt),
    }),
  );
  return documentJson({ question, merchants, explanations: records, incomplete, ignored, failures });
}

function wayJson(way: LocatedWay, member: string): object {
  const {
    role: { name, id, predefined },
    held: { status, from, end, suspension },
    grantedAt,
    permittedAt,
    statusAt,
  } = way;
  const holders = otherHolders([way], member);
  return {
    role: { name, id, predefined },
    status,
    from,
    end: endJson(end),
    suspended: suspensionJson(suspension),
    otherHolders: holders,
    grantedAt,
    permittedAt,
    statusAt,
  };
}

/**
 * Returns how many people other than a member have access through the roles of ways; a person at several merchants
 * counts once.
 */
export function otherHolders(ways: readonly AccessWay[], member: string): number {
  const [first, ...more] = new Set(ways.map(({ holders }) => holders));
  const allHolders =
    more.length === 0 ? (first ?? new Set()) : new Set([first ?? [], ...more].flatMap((some) => [...some]));
  return allHolders.size - (allHolders.has(member.toLowerCase()) ? 1 : 0);
}

function memberJson({ name, email, id, status }: LocatedExplanation["member"]): object {
  return { name, email, id, status };
}

/** Returns a place as "access/shop.yaml:12". */
export function textOfPlace({ file, line }: FilePlace): string {
  return `${oneLine(file)}:${line}`;
}

/** Returns answers as a table, a row for each role that a member holds at a merchant. */
export function answersTable({ answers }: AnswersView): Table {
  const columns = [
    ...["merchant", "environment", "member", "member_id", "role", "role_id", "permissions"],
    ...["status", "effective", "from", "end", "since", "granted_at", "declared_at"],
  ];
  const rows = answers.map(({ merchant, environment, member, role, held, permissions, ...rest }) => [
    merchant,
    environment ?? "",
    member.name,
    member.id ?? "",
    role?.name ?? "",
    role?.id ?? "",
    // Empty: none; a question mark: unknown.
    permissions?.join(" ") ?? "?",
    held?.status ?? "",
    String(held?.effective ?? false),
    held?.from?.text ?? "",
    endText(held?.end ?? null),
    rest.since?.time ?? "",
    rest.grantedAt.map(textOfPlace).join(" "),
    rest.declaredAt === null ? "" : textOfPlace(rest.declaredAt),
  ]);
  return { columns, rows };
}

/** Returns explanations as a table, a row for each way, and one for each merchant without any. */
export function explanationsTable({ explanations }: ExplanationsView): Table {
  const columns = [
    ...["merchant", "environment", "member", "permission", "can", "role", "role_id", "status", "end"],
    ...["granted_at", "permitted_at"],
  ];
  const rows = explanations.flatMap(
    ({ merchant, environment, member, permission, ways, without, unclear }) => {
      const start = [merchant, environment ?? "", member.name, permission];
      const rows = [...ways.map((way) => wayRow("true", way)), ...without.map((way) => wayRow("false", way))];
      const isUnknown = ways.length === 0 && (!member.rolesKnown || unclear.length > 0);
      if (isUnknown) rows.push(["?", unclear.join(" "), "", "", "", "", ""]);
      else if (rows.length === 0) rows.push(["false", "", "", "", "", "", ""]);
      return rows.map((row) => [...start, ...row]);
    },
  );
  return { columns, rows };
}

function wayRow(
  can: string,
  { role, held: { status, end }, grantedAt, permittedAt }: LocatedWay,
): readonly string[] {
  const places = [grantedAt, permittedAt].map((some) => some.map(textOfPlace).join(" "));
  return [can, role.name, role.id ?? "", status, endText(end), ...places];
}

function endText(end: AccessEnd | null): string {
  if (end === null) return "";
  return end.by === "leaver" ? `before ${end.text}` : end.text;
}
