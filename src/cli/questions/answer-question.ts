import type { ExitCode, Io } from "../../app/io/io.ts";
import { globMatcher } from "../../app/session/session.ts";
import { placeFinder } from "../../app/show/find-places.ts";
import { writeAnswer } from "../../app/show/write-document.ts";
import { explainAccess, whoCan, whoHas, whoIs } from "../../ask/access/ask-access.ts";
import { suggest } from "../../lib/suggest.ts";
import type { Origin } from "../../model/desired.ts";
import { RolecallError } from "../../model/errors.ts";
import type {
  AccessAnswer,
  AccessAnswers,
  AccessSnapshot,
  AccessWay,
  HeldRole,
} from "../../model/questions.ts";
import {
  type AccessQuestion,
  type AnswersView,
  answersJson,
  answersTable,
  type ExplanationsView,
  explanationsJson,
  explanationsTable,
  type GrantSince,
  type LocatedWay,
} from "../../show/questions/answer-formats.ts";
import { answerCaveats, answersDocument } from "../../show/questions/answers.ts";
import { explanationCaveats, explanationsDocument } from "../../show/questions/explanations.ts";
import { type TracedGrant, traceGrants } from "./grant-history.ts";
import { type ReadSnapshots, readSnapshots, type SnapshotOptions } from "./read-snapshots.ts";

/** The options of `who` and `why`. */
export type QuestionOptions = SnapshotOptions;

/** Answers who can do what, who holds which role, or what somebody holds. */
export async function answerQuestion(
  kind: AccessQuestion["kind"],
  name: string,
  paths: readonly string[],
  options: QuestionOptions,
  io: Io,
): Promise<ExitCode> {
  requireName(name);
  const { source, at, snapshots, ignored, sources, failures } = await readSnapshots(paths, options, io);
  const answers = ASK[kind](snapshots, name, globMatcher());
  const isRecorded = source === "live" && at !== null;
  const since =
    kind === "is" && !isRecorded ? await sinceOf(answers.answers, snapshots, at?.commit, io.cwd) : [];
  const view = viewOf({ kind, name, source, at }, answers, since, {
    snapshots,
    ignored,
    sources,
    now: timeOf(at, io),
  });
  const answer = {
    json: () => answersJson(view, failures),
    table: () => answersTable(view),
    caveats: answerCaveats(view),
    report: (isVerbose: boolean) => answersDocument(view, isVerbose),
  };
  return writeAnswer(answer, failures, options, io);
}

/** Throws RolecallError for an empty name, as from a variable that is not set. */
function requireName(name: string): void {
  if (name.trim() !== "") return;
  throw new RolecallError("usage", "The name in the question is empty.", { hint: "Use '*' for all." });
}

const ASK = { can: whoCan, has: whoHas, is: whoIs } as const;

function viewOf(
  question: AccessQuestion,
  { answers, unknown, matched }: AccessAnswers,
  since: readonly (GrantSince | null)[],
  {
    snapshots,
    ignored,
    sources,
    now,
  }: Pick<ReadSnapshots, "snapshots" | "ignored" | "sources"> & { readonly now: number },
): AnswersView {
  const places = placeFinder(sources);
  // Unlisted members matter only where the person in question is not listed.
  const answered = new Set(question.kind === "is" ? answers.map(({ merchant }) => merchant) : []);
  return {
    question,
    now,
    answers: answers.map((answer, index) => ({
      ...answer,
      statusAt:
        answer.held === null
          ? []
          : statusOrigins(answer.held).flatMap((origin) => places.entry(origin) ?? []),
      grantedAt: (answer.held?.origins ?? [answer.member.origin].filter((origin) => origin !== null)).flatMap(
        (origin) => places.entry(origin) ?? [],
      ),
      declaredAt: answer.role?.origin ? places.entry(answer.role.origin) : null,
      since: since[index] ?? null,
    })),
    unknown,
    matched,
    near: matched.length > 0 ? null : suggest(question.name, namesFor(question, snapshots)),
    merchants: snapshots.map(({ merchant }) => merchant),
    ignored,
    incomplete: snapshots.flatMap(({ merchant, complete }) =>
      complete || answered.has(merchant) ? [] : merchant,
    ),
  };
}

/** Returns the time that ends are compared with, in ms since the epoch. */
function timeOf(asked: AccessQuestion["at"], io: Io): number {
  return asked === null ? io.now() : Date.parse(asked.time);
}

/** Returns since when the members of the answers have their roles, of those that the files grant. */
async function sinceOf(
  answers: readonly AccessAnswer[],
  snapshots: readonly AccessSnapshot[],
  commit: string | undefined,
  cwd: string,
): Promise<readonly (GrantSince | null)[]> {
  const files = new Map(snapshots.map(({ merchant, file }) => [merchant, file]));
  const traced = answers.map(({ merchant, member: { email }, role, held }): TracedGrant | null => {
    const file = files.get(merchant);
    if (file === undefined || email === null || role === null || !held?.origins.length) return null;
    return { file, merchant, email, role };
  });
  const grants = traced.filter((grant) => grant !== null);
  const since = await traceGrants(grants, cwd, commit);
  const sinceByGrant = new Map(grants.map((grant, index) => [grant, since[index] ?? null]));
  return traced.map((grant) => (grant === null ? null : (sinceByGrant.get(grant) ?? null)));
}

function namesFor({ kind }: AccessQuestion, snapshots: readonly AccessSnapshot[]): ReadonlySet<string> {
  return new Set(
    snapshots.flatMap(({ roles, members }) => {
      if (kind === "is") return members.map(({ name }) => name);
      return kind === "has"
        ? roles.flatMap(({ name, id }) => (id === null ? name : [name, id]))
        : roles.flatMap(({ permissions }) => permissions ?? []);
    }),
  );
}

/** Explains why somebody can use a permission, and what would end that. */
export async function explainQuestion(
  asked: { readonly member: string; readonly permission: string },
  paths: readonly string[],
  options: QuestionOptions,
  io: Io,
): Promise<ExitCode> {
  requireName(asked.member);
  requireName(asked.permission);
  const { source, at, snapshots, ignored, sources, failures } = await readSnapshots(paths, options, io);
  const { explanations, members, permissions } = explainAccess(snapshots, asked, globMatcher());
  const places = placeFinder(sources);
  const located =
    (permission: string) =>
    (way: AccessWay): LocatedWay => ({
      ...way,
      grantedAt: way.held.origins.flatMap((origin) => places.entry(origin) ?? []),
      permittedAt: places.permission(way.role, permission),
      statusAt: statusOrigins(way.held).flatMap((origin) => places.entry(origin) ?? []),
    });
  const near = (word: string, names: readonly string[]): string | null => suggest(word, new Set(names));
  const view: ExplanationsView = {
    question: { kind: "why" as const, ...asked, source, at },
    now: timeOf(at, io),
    ignored,
    incomplete: snapshots.flatMap(({ merchant, complete }) =>
      complete || explanations.some((explanation) => explanation.merchant === merchant) ? [] : merchant,
    ),
    explanations: explanations.map((explanation) => ({
      ...explanation,
      ways: explanation.ways.map(located(explanation.permission)),
      without: explanation.without.map(located(explanation.permission)),
    })),
    permissions,
    nearMember:
      members.length > 0
        ? null
        : near(
            asked.member,
            snapshots.flatMap((snapshot) => snapshot.members.map(({ name }) => name)),
          ),
    nearPermission:
      permissions.length > 0
        ? null
        : near(
            asked.permission,
            snapshots.flatMap(({ roles }) => roles.flatMap((role) => role.permissions ?? [])),
          ),
    merchants: snapshots.map(({ merchant }) => merchant),
  };
  const answer = {
    json: () => explanationsJson(view, failures),
    table: () => explanationsTable(view),
    caveats: explanationCaveats(view),
    report: (isVerbose: boolean) => explanationsDocument(view, isVerbose),
  };
  return writeAnswer(answer, failures, options, io);
}

/** Returns the locations of what ends or suspends a grant. */
function statusOrigins({ status, end, suspension }: HeldRole): readonly Origin[] {
  if (suspension !== null) return [suspension.origin];
  return status === "ended" ? (end?.origins ?? []) : [];
}
