import { resolve } from "node:path";
import { projectAccess } from "../../app/project/project-access.ts";
import { placeFinder } from "../../app/show/find-places.ts";
import { type GlobMatch, matchesAny } from "../../kernel/diff/scope.ts";
import { lastMoment } from "../../kernel/rules/require-until.ts";
import { checkProject } from "../../kernel/schema/check-file.ts";
import { PROJECT_FILE } from "../../kernel/schema/project-file.ts";
import type { RequestableRule } from "../../kernel/schema/requestable-schema.ts";
import { parsePeriod } from "../../kernel/values/dates.ts";
import { unique } from "../../kernel/values/values.ts";
import { parse } from "../../kernel/yaml/to-value.ts";
import { oneLine } from "../../lib/escape.ts";
import { listText } from "../../lib/text.ts";
import { RolecallError } from "../../model/errors.ts";
import type { AccessRequest, ChangedRole } from "./access-request.ts";

/** What a project allows to be requested. */
interface Requestable {
  /** The place of the section, such as `rolecall.yaml:3`. */
  readonly place: string;
  readonly rules: readonly (RequestableRule & { readonly place: string })[];
}

/** Reads `requestable` of the projects that files belong to; those without it allow everything. */
export async function readRequestable(
  files: readonly string[],
  cwd: string,
): Promise<readonly Requestable[]> {
  const paths = files.map((file) => resolve(cwd, file));
  const sections = (await projectAccess(paths, cwd)).map(async ({ placesOf, namesIn, readIn }) => {
    const roots = unique(paths.flatMap((path) => placesOf(path).map(({ root }) => root)));
    const read = roots.map(async (root) =>
      (await namesIn(root)).includes(PROJECT_FILE) ? requestableIn(await readIn(root, PROJECT_FILE)) : [],
    );
    return (await Promise.all(read)).flat();
  });
  return (await Promise.all(sections)).flat();
}

type ReadFile = Awaited<ReturnType<Awaited<ReturnType<typeof projectAccess>>[number]["readIn"]>>;

function requestableIn(read: ReadFile): readonly Requestable[] {
  const content = read.ok ? checkProject(parse(read.text).value).content : null;
  if (!read.ok || content === null) {
    throw new RolecallError(
      "file-invalid",
      `${PROJECT_FILE} cannot be read, so it is not known what it allows.`,
    );
  }
  const { requestable } = content;
  if (requestable === undefined) return [];
  const places = placeFinder([read]);
  const placeOf = (...path: readonly (string | number)[]): string => {
    const place = places.entry({ file: read.file, path });
    return oneLine(place === null ? read.file : `${place.file}:${place.line}`);
  };
  const rules = requestable.map((rule, index) => ({ ...rule, place: placeOf("requestable", index) }));
  return [{ place: placeOf("requestable"), rules }];
}

/** A role of a merchant that a request changes; `names` are its name and its id, and empty for roles that no file lists. */
export interface RequestedRole extends Pick<ChangedRole, "from" | "until"> {
  readonly merchant: string;
  /** The person's address in the files, whichever the request has. */
  readonly email: string;
  readonly names: readonly string[];
}

/** The context in which a request is judged. */
interface Judging {
  readonly matches: GlobMatch;
  /** In ms since the epoch. */
  readonly now: number;
}

/** Throws RolecallError for the first role that a project does not allow to be requested in this way. */
export function checkRequestable(
  projects: readonly Requestable[],
  roles: readonly RequestedRole[],
  request: AccessRequest,
  judging: Judging,
): void {
  for (const project of projects) for (const role of roles) checkRole(project, role, request, judging);
}

function checkRole(
  { place, rules }: Requestable,
  { merchant, email, names, from, until }: RequestedRole,
  { kind }: AccessRequest,
  { matches, now }: Judging,
): void {
  const isAbout = ({ roles, merchants = ["*"], members = ["*"] }: RequestableRule): boolean =>
    (names.length === 0 ? roles.includes("*") : matchesAny(roles, names, matches)) &&
    matchesAny(merchants, [merchant], matches) &&
    matchesAny(members, [email], matches);
  const allowing = rules.filter(isAbout);
  const what = `${names[0] === undefined ? "The membership" : oneLine(names[0])} at ${merchant}`;
  if (allowing.length === 0) {
    throw refused(
      `${what} cannot be requested for ${oneLine(email)}: no entry of requestable (${place}) allows it.`,
      "Propose a change to the file by hand.",
    );
  }
  const isShort = (rule: RequestableRule): boolean => {
    const limit = rule.for === undefined ? null : parsePeriod(rule.for);
    if (limit === null || kind === "revoke") return true;
    return until !== undefined && lastMoment(until, limit) <= Math.max(from?.starts ?? now, now) + limit.ms;
  };
  if (allowing.some(isShort)) return;
  const limits = allowing.map((rule) => `${rule.for} (${rule.place})`);
  throw refused(
    `${what} can be requested for at most ${listText(limits, "or")}, and the grant would ${until === undefined ? "have no end" : `end on ${until.text}`}.`,
    "Choose an end within that time with --until.",
  );
}

function refused(message: string, hint: string): RolecallError {
  return new RolecallError("not-requestable", message, { hint });
}
