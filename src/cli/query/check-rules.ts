import type { DesiredState } from "../../model/desired.ts";
import type { FailureJson } from "../../model/events.ts";
import { namedRoleIds } from "../../plan/build-plan.ts";
import { type Access, accessBefore, roleFinder } from "../../plan/judge/access.ts";
import type { Judged } from "../../plan/judge/checks.ts";
import { openDeclared } from "../../plan/judge/judge-rules.ts";
import { accessCoverage } from "../../plan/mutate/access-coverage.ts";
import { ADMINISTRATORS, openLasting } from "../../plan/mutate/coverage-world.ts";
import { judgeEach } from "../../plan/mutate/judge-each.ts";
import { scopeOf } from "../../plan/scope.ts";
import { diagnosticFailure } from "../../render/machine-formats.ts";
import { renderChecked } from "../../render/questions/coverage-text.ts";
import { type CheckedView, checkedJson } from "../../render/questions/coverage-view.ts";
import { isFileError } from "../files/load-states.ts";
import { ExitCode, type Io } from "../io/io.ts";
import { outputTo, styleFor } from "../io/output.ts";
import { loadDeclared, planMerchants } from "../session/plan-merchants.ts";
import { globMatcher, plannedOnly } from "../session/session.ts";
import { listedRuleFinder } from "../show/rule-locations.ts";
import { showPlans } from "../show/show-plans.ts";
import type { SnapshotOptions } from "./read-snapshots.ts";

/** The options of `check`. */
export type CheckOptions = Omit<SnapshotOptions, "at"> & {
  readonly format: "text" | "json";
  /** Also finds the changes that no rule would notice. */
  readonly coverage?: true;
};

/** The access of merchants, to be judged by their rules. */
interface JudgedMerchants {
  readonly all: readonly {
    readonly state: DesiredState;
    readonly judged: Judged;
    /** The access that changes are made to. */
    readonly changed: Judged;
    /** The keys of roles that a plan reads only once they are granted. */
    readonly unread: ReadonlySet<string>;
    readonly complete: boolean;
  }[];
  readonly sources: readonly { readonly file: string; readonly text: string }[];
  readonly failures: readonly FailureJson[];
}

/** Says which policies and checks hold, and with `--coverage` which changes nothing would notice. */
export async function checkRules(paths: readonly string[], options: CheckOptions, io: Io): Promise<ExitCode> {
  const { all, sources, failures } = await (options.live ? judgeLiveMerchants : judgeDeclaredMerchants)(
    paths,
    options,
    io,
  );
  const matches = globMatcher();
  const view: CheckedView = {
    source: options.live ? "live" : "declared",
    merchants: all.map(({ state, judged, changed, unread, complete }) => ({
      merchant: state.merchant,
      file: state.origin.file,
      judged: judgeEach(judged, state),
      coverage: options.coverage ? accessCoverage(changed, state, { complete, unread, matches }) : null,
    })),
    placeOf: listedRuleFinder(
      all.map(({ state }) => state),
      sources,
    ),
  };
  const { sink, end } = outputTo(options.output, io);
  sink.write(
    options.format === "json"
      ? checkedJson(view, failures)
      : renderChecked(view, styleFor(sink, io, options.color), options.verbose === true),
  );
  await end();
  if (failures.length > 0) return ExitCode.failed;
  const isBroken = view.merchants.some(({ judged }) =>
    judged.some(({ violations }) => violations.length > 0),
  );
  return isBroken ? ExitCode.refused : ExitCode.ok;
}

async function judgeDeclaredMerchants(
  paths: readonly string[],
  options: CheckOptions,
  io: Io,
): Promise<JudgedMerchants> {
  const { states, loaded, now } = await loadDeclared(
    paths,
    { ...options, quiet: true, fileErrorsOnly: true },
    io,
  );
  return {
    all: states.map((state) => {
      const judged = openDeclared(state, now);
      return { state, judged, changed: openLasting(state, now), unread: new Set(), complete: false };
    }),
    sources: loaded.sources,
    failures: loaded.diagnostics.filter(isFileError).map(diagnosticFailure),
  };
}

function judgedOf(access: Access): Judged {
  return { access, settled: access, find: roleFinder(access) };
}

/** Judges what is live as a plan does; for changes, it also reads the roles of administrators that nobody holds. */
async function judgeLiveMerchants(
  paths: readonly string[],
  options: CheckOptions,
  io: Io,
): Promise<JudgedMerchants> {
  const { planned, project, failures, close } = await planMerchants(
    paths,
    { ...options, fileErrorsOnly: true, ...(options.coverage && { roleIds: () => ADMINISTRATORS }) },
    io,
  );
  try {
    showPlans(planned, () => undefined, options, io, "read");
    const matches = globMatcher();
    const all = plannedOnly(planned).map(({ live, session: { state } }) => {
      const scope = scopeOf(live, state.ignore, matches);
      const access = accessBefore(scope, { roles: [], members: [] }, { mergeReplacedRoles: false });
      const read = new Set([...namedRoleIds(state), ...live.members.flatMap(({ roles }) => roles)]);
      const unread = new Set(ADMINISTRATORS.filter((id) => !read.has(id)));
      const roles = new Map([...access.roles].filter(([key]) => !unread.has(key)));
      const judged = judgedOf({ ...access, roles });
      return { state, judged, changed: judgedOf(access), unread, complete: true };
    });
    return { all, sources: project.sources, failures };
  } finally {
    await close();
  }
}
