import { suggest } from "../../lib/suggest.ts";
import type { AccessAnswers, AccessSnapshot } from "../../model/questions.ts";
import { whoCan, whoHas, whoIs } from "../../plan/query/ask-access.ts";
import { type AccessQuestion, type AnswersView, answersJson } from "../../render/questions/answer-formats.ts";
import { renderAnswers } from "../../render/questions/answers-text.ts";
import { ExitCode, type Io } from "../io/io.ts";
import { outputTo, styleFor } from "../io/output.ts";
import { globMatcher } from "../session/session.ts";
import { placeFinder } from "./find-places.ts";
import { readSnapshots, type SnapshotOptions } from "./read-snapshots.ts";

/** The options of `who`. */
export type WhoCommandOptions = SnapshotOptions & { readonly format: "text" | "json" };

/** Answers who can do what, who holds which role, or what somebody holds. */
export async function answerQuestion(
  kind: AccessQuestion["kind"],
  name: string,
  paths: readonly string[],
  options: WhoCommandOptions,
  io: Io,
): Promise<ExitCode> {
  const { source, at = null, snapshots, sources, failures } = await readSnapshots(paths, options, io);
  const found = ASK[kind](snapshots, name, globMatcher());
  const view = viewOf({ kind, name, source, at }, found, snapshots, sources);
  const { sink, end } = outputTo(options.output, io);
  sink.write(
    options.format === "json"
      ? answersJson(view, failures)
      : renderAnswers(view, styleFor(sink, io, options.color), options.verbose === true),
  );
  await end();
  return failures.length > 0 ? ExitCode.failed : ExitCode.ok;
}

const ASK = { can: whoCan, has: whoHas, is: whoIs } as const;

function viewOf(
  question: AccessQuestion,
  { answers, unknown, matched }: AccessAnswers,
  snapshots: readonly AccessSnapshot[],
  sources: readonly { readonly file: string; readonly text: string }[],
): AnswersView {
  const places = placeFinder(sources);
  // Where somebody is listed, others do not matter.
  const answered = new Set(question.kind === "is" ? answers.map(({ merchant }) => merchant) : []);
  return {
    question,
    answers: answers.map((answer) => ({
      ...answer,
      grantedAt: (answer.held?.origins ?? [answer.member.origin].filter((origin) => origin !== null)).flatMap(
        (origin) => places.entry(origin) ?? [],
      ),
      declaredAt: answer.role?.origin ? places.entry(answer.role.origin) : null,
    })),
    unknown,
    matched,
    near: matched.length > 0 ? null : suggest(question.name, namesFor(question, snapshots)),
    merchants: snapshots.map(({ merchant }) => merchant),
    incomplete: snapshots.flatMap(({ merchant, complete }) =>
      complete || answered.has(merchant) ? [] : merchant,
    ),
  };
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
