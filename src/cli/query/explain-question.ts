import { suggest } from "../../lib/suggest.ts";
import type { AccessWay } from "../../model/questions.ts";
import { explainAccess } from "../../plan/query/ask-access.ts";
import { explanationsJson, type LocatedWay } from "../../render/questions/answer-formats.ts";
import { renderExplanations } from "../../render/questions/explanations-text.ts";
import { ExitCode, type Io } from "../io/io.ts";
import { outputTo, styleFor } from "../io/output.ts";
import { globMatcher } from "../session/session.ts";
import { placeFinder } from "./find-places.ts";
import { readSnapshots, type SnapshotOptions } from "./read-snapshots.ts";

/** The options of `why`. */
export type WhyCommandOptions = SnapshotOptions & { readonly format: "text" | "json" };

/** Explains why somebody can use a permission, and what has to change to end that. */
export async function explainQuestion(
  asked: { readonly member: string; readonly permission: string },
  paths: readonly string[],
  options: WhyCommandOptions,
  io: Io,
): Promise<ExitCode> {
  const { source, at = null, snapshots, sources, failures } = await readSnapshots(paths, options, io);
  const { explanations, members, permissions } = explainAccess(snapshots, asked, globMatcher());
  const places = placeFinder(sources);
  const located =
    (permission: string) =>
    (way: AccessWay): LocatedWay => ({
      ...way,
      grantedAt: way.held.origins.flatMap((origin) => places.entry(origin) ?? []),
      permittedAt: places.permission(way.role, permission),
    });
  const near = (word: string, names: readonly string[]): string | null => suggest(word, new Set(names));
  const view = {
    question: { kind: "why" as const, ...asked, source, at },
    explanations: explanations.map((one) => ({
      ...one,
      ways: one.ways.map(located(one.permission)),
      without: one.without.map(located(one.permission)),
    })),
    permissions,
    nearMember:
      members.length > 0
        ? null
        : near(
            asked.member,
            snapshots.flatMap((one) => one.members.map(({ name }) => name)),
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
  const { sink, end } = outputTo(options.output, io);
  sink.write(
    options.format === "json"
      ? explanationsJson(view, failures)
      : renderExplanations(view, styleFor(sink, io, options.color), options.verbose === true),
  );
  await end();
  return failures.length > 0 ? ExitCode.failed : ExitCode.ok;
}
