import { ExitCode, type Io } from "../../app/io/io.ts";
import { loadDeclared } from "../../app/plan/plan-merchants.ts";
import { isFileError } from "../../app/project/file-errors.ts";
import type { Loaded } from "../../app/project/load-states.ts";
import { globMatcher, plannedOnly } from "../../app/session/session.ts";
import { printDiagnostics } from "../../app/show/print-diagnostics.ts";
import { listedRuleFinder } from "../../app/show/rule-locations.ts";
import { printUnread } from "../../app/show/show-plans.ts";
import { writeAnswer } from "../../app/show/write-document.ts";
import { ignoredPatterns } from "../../ask/access/ignored-access.ts";
import { accessCoverage, openLasting } from "../../ask/coverage/access-coverage.ts";
import { judgeEach } from "../../ask/coverage/judge-each.ts";
import { listedAcross } from "../../ask/report/rule-results.ts";
import { scopeOf } from "../../kernel/diff/scope.ts";
import { namedRoleIds } from "../../kernel/plan/build-plan.ts";
import {
  type Access,
  accessAfter,
  accessBefore,
  liveRoleFinder,
  splitByResource,
} from "../../kernel/rules/access.ts";
import { type ResultAcross, resultsAcross } from "../../kernel/rules/across-merchants.ts";
import { ADMINISTRATORS } from "../../kernel/rules/gains.ts";
import { openDeclared } from "../../kernel/rules/judge-rules.ts";
import type { Judged } from "../../kernel/rules/judged.ts";
import { groupByKey } from "../../lib/text.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { FailureJson } from "../../model/events.ts";
import type { Plan } from "../../model/plan.ts";
import type { IgnoredAccess } from "../../model/questions.ts";
import { diagnosticFailure } from "../../show/machine/machine-formats.ts";
import { checkedDocument } from "../../show/questions/checked.ts";
import {
  type CheckedMerchant,
  type CheckedView,
  checkedJson,
  checkedTable,
} from "../../show/questions/coverage-view.ts";
import { ignoredTexts } from "../../show/text/ignored-text.ts";
import { withPlans } from "../progress/with-plans.ts";
import { ignoredPlanned, writeIgnored } from "../show/write-ignored.ts";
import type { SnapshotOptions } from "./read-snapshots.ts";

/** The options of `check`. */
export type CheckOptions = Omit<SnapshotOptions, "at"> & {
  /** Also finds the changes that no rule would notice. */
  readonly coverage?: true;
};

/** The access of a merchant, to be judged by its rules. */
interface JudgedMerchant {
  readonly state: DesiredState;
  readonly judged: Judged;
  /** The access that changes are made to. */
  readonly changed: Judged;
  /** The keys of roles that a plan reads only if they are granted. */
  readonly unread: ReadonlySet<string>;
}

/** The access of all merchants. */
interface JudgedMerchants {
  readonly all: readonly JudgedMerchant[];
  readonly across: readonly ResultAcross[];
  readonly ignored: readonly IgnoredAccess[];
  readonly project: Pick<Loaded, "sources" | "diagnostics">;
  readonly failures: readonly FailureJson[];
}

/** Reports which policies and checks hold, and with `--coverage` which changes no rule would notice. */
export async function checkRules(paths: readonly string[], options: CheckOptions, io: Io): Promise<ExitCode> {
  const {
    all: judged,
    across,
    ignored,
    project: { sources, diagnostics },
    failures,
  } = await (options.live ? judgeLiveMerchants : judgeDeclaredMerchants)(paths, options, io);
  printDiagnostics(
    diagnostics.filter(({ code }) => code === "across-not-counted"),
    options,
    io,
  );
  const matches = globMatcher();
  if (options.format === "text") writeIgnored(ignored, options.live ? "" : NOT_JUDGED, options, io);
  const view: CheckedView = {
    source: options.live ? "live" : "declared",
    merchants: judged.map(({ state, judged, changed, unread }) => ({
      merchant: state.merchant,
      file: state.origin.file,
      judged: judgeEach(judged, state),
      coverage: options.coverage ? accessCoverage(changed, state, { unread, matches }) : null,
    })),
    across: rulesAcross(across),
    ignored,
    placeOf: listedRuleFinder(
      judged.map(({ state }) => state),
      sources,
    ),
  };
  const answer = {
    json: () => checkedJson(view, failures),
    table: () => checkedTable(view),
    caveats: ignoredTexts(ignored, options.live ? "" : NOT_JUDGED),
    report: (isVerbose: boolean) => checkedDocument(view, isVerbose),
  };
  const code = await writeAnswer(answer, failures, options, io);
  const isBroken = [...view.merchants, ...view.across].some(({ judged }) =>
    judged.some(({ violations }) => violations.length > 0),
  );
  return code === ExitCode.ok && isBroken ? ExitCode.refused : code;
}

const NOT_JUDGED = "--live judges their access, too.";

/** Returns the rules across merchants as those of one more merchant. */
function rulesAcross(results: readonly ResultAcross[]): readonly CheckedMerchant[] {
  return groupByKey(results, ({ origin }) => origin.file).map((ofFile) => ({
    merchant: "all merchants",
    file: ofFile[0].origin.file,
    judged: ofFile.map(({ text, origin, broken }) => ({
      rule: listedAcross(text, origin),
      violations: broken.map(({ refusal }) => refusal.message),
      unknownRoles: [],
    })),
    coverage: null,
  }));
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
      return { state, judged, changed: openLasting(state, now), unread: new Set() };
    }),
    across: resultsAcross([], loaded.project, now),
    ignored: ignoredPatterns(states),
    project: loaded,
    failures: loaded.diagnostics.filter(isFileError).map(diagnosticFailure),
  };
}

function judgedOf(access: Access, { changes }: Plan, state: DesiredState): Judged {
  const { roles } = splitByResource(changes);
  const planned = accessAfter(access, { roles, members: [] }, SEPARATE);
  return { access, settled: access, find: liveRoleFinder(access, planned, state) };
}

const SEPARATE = { mergeReplacedRoles: false } as const;

/** Judges the live access as a plan does; for changes, also reads the roles of administrators that nobody holds. */
async function judgeLiveMerchants(
  paths: readonly string[],
  options: CheckOptions,
  io: Io,
): Promise<JudgedMerchants> {
  return withPlans(
    paths,
    { ...options, fileErrorsOnly: true, ...(options.coverage && { roleIds: () => ADMINISTRATORS }) },
    io,
    async ({ planned, project, failures }) => {
      printUnread(planned, options, io, "read");
      const matches = globMatcher();
      const judged = plannedOnly(planned).map(({ live, plan, session: { state } }) => {
        const scope = scopeOf(live, state.ignore, matches);
        const access = accessBefore(scope, { roles: [], members: [] }, SEPARATE);
        const read = new Set([...namedRoleIds(state), ...live.members.flatMap(({ roles }) => roles)]);
        const unread = new Set(ADMINISTRATORS.filter((id) => !read.has(id)));
        const roles = new Map([...access.roles].filter(([key]) => !unread.has(key)));
        const judged = judgedOf({ ...access, roles }, plan, state);
        return { state, judged, changed: judgedOf(access, plan, state), unread };
      });
      const run = plannedOnly(planned).map(({ live, plan, session }) => ({
        live,
        plan,
        files: session.state,
      }));
      const across = resultsAcross(run, project.project, io.now());
      const ignored = ignoredPlanned(plannedOnly(planned));
      return { all: judged, across, ignored, project, failures };
    },
  );
}
