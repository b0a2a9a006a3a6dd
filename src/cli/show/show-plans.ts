import { resolve } from "node:path";
import type { Path } from "../../config/diagnostics/problem.ts";
import { fieldsOf } from "../../config/values.ts";
import { parseFast } from "../../config/yaml/fast-yaml.ts";
import { locate } from "../../config/yaml/locate.ts";
import { parse } from "../../config/yaml/to-value.ts";
import type { DesiredState, Origin } from "../../model/desired.ts";
import type { FailureJson } from "../../model/events.ts";
import type { Finding, Plan } from "../../model/plan.ts";
import type { AccessReport, Drift } from "../../model/reports.ts";
import { checkText } from "../../plan/judge/checks.ts";
import { liveReport } from "../../plan/report/build-access-report.ts";
import { type DriftTimes, driftOf } from "../../plan/report/detect-drift.ts";
import { plansJunit } from "../../render/junit-report.ts";
import { plansJson } from "../../render/machine-formats.ts";
import { renderReview } from "../../render/markdown/render-review.ts";
import type { UnmanagedMerchant, UnplannedView } from "../../render/markdown/review-sections.ts";
import { renderFailure } from "../../render/text/failure-text.ts";
import { renderPlans } from "../../render/text/plan-text.ts";
import { type PlaceOf, type PlanCommand, planView } from "../../render/view/plan-view.ts";
import type { DocumentOptions, OutputOptions } from "../args/options.ts";
import { writeAtomically } from "../files/atomic-write.ts";
import { driftTimes } from "../files/git-history.ts";
import type { Io, TextWriter } from "../io/io.ts";
import { standardStream, styleFor, verbosityOf } from "../io/output.ts";
import { type Planned, plannedOnly } from "../session/session.ts";

/** The plans that were shown; `complete` if every merchant has one. */
export interface ShownPlans {
  readonly plans: readonly Plan[];
  readonly complete: boolean;
}

/** Prints the plans, and on stderr why a merchant has none. */
export function showPlans(
  planned: readonly Planned[],
  print: PrintPlans,
  options: { readonly color: boolean },
  io: Io,
): ShownPlans {
  const plans = plannedOnly(planned).map(({ plan }) => plan);
  print(plans, unplannedOf(planned));
  const style = styleFor(io.stderr, io, options.color);
  for (const one of planned) {
    if (one.status === "planned") continue;
    io.stderr.write(`\n${style.bold(one.merchant)} could not be planned.\n`);
    io.stderr.write(renderFailure(one.error.failure, style));
  }
  return { plans, complete: plans.length === planned.length };
}

/** Returns the merchants without a plan, for a review. */
export function unplannedOf(planned: readonly Planned[]): readonly UnplannedView[] {
  return planned.flatMap((one) =>
    one.status === "planned" ? [] : [{ merchant: one.merchant, failure: one.error.failure }],
  );
}

/** The formats of a plan that need only the plan. */
export type PlanFormat = "text" | "json" | "markdown" | "junit";

/** Options for printing plans. */
export interface Printing {
  readonly options: OutputOptions<PlanFormat> & DocumentOptions & { readonly verbose?: true };
  readonly placeOf: PlaceOf;
  /** Number of errors in the files. */
  readonly fileErrors: number;
  readonly failures: readonly FailureJson[];
  readonly unmanaged?: readonly UnmanagedMerchant[];
  readonly sink: TextWriter;
  /** The command that applies the plans; `apply` if absent. */
  readonly command?: PlanCommand;
}

/** Prints plans, and the merchants without one. */
export type PrintPlans = (plans: readonly Plan[], unplanned: readonly UnplannedView[]) => void;

/** Returns a printer of plans in the selected format. */
export function plansPrinter(
  { options, placeOf, fileErrors, failures, unmanaged = [], sink, command }: Printing,
  io: Io,
): PrintPlans {
  return (plans, unplanned) => {
    const views = plans.map((plan) => planView(plan, placeOf, [], command));
    switch (options.format) {
      case "json":
        return sink.write(plansJson(plans, failures));
      case "markdown":
        return sink.write(
          renderReview({ command: "plan", views, unplanned, fileErrors, unmanaged }, options.maxSize),
        );
      case "junit":
        return sink.write(plansJunit(views, failures));
      case "text":
        if (plans.length === 0) return;
        return sink.write(renderPlans(views, styleFor(sink, io, options.color), verbosityOf(options)));
      default:
        return options.format satisfies never;
    }
  };
}

/** Returns the access report of a merchant; with `planned`, also the access after its plan. */
export function reportOf(
  { session, live, plan }: Extract<Planned, { readonly plan: unknown }>,
  planned: boolean,
): AccessReport {
  const { state, environment } = session;
  return liveReport({
    live,
    desired: state,
    service: plan.service,
    environment,
    plan: planned ? plan : null,
  });
}

/** Returns the drift of the planned merchants. */
export async function driftsOf(planned: readonly Planned[], io: Io): Promise<readonly Drift[]> {
  const drifts = await Promise.all(
    planned.map(async (one): Promise<readonly Drift[]> => {
      if (one.status === "failed") return [];
      const { session, plan, live } = one;
      const times =
        plan.changes.length + plan.refusals.length === 0
          ? NO_TIMES
          : await driftTimes(session.state, live, io);
      return [driftOf({ desired: session.state, live }, plan, times)];
    }),
  );
  return drifts.flat();
}

const NO_TIMES: DriftTimes = { file: () => null, live: () => null };

/** Saves plans as JSON, atomically. */
export async function savePlans(
  plans: readonly Plan[],
  failures: readonly FailureJson[],
  out: string,
  io: Io,
): Promise<void> {
  const stream = standardStream(out);
  if (stream !== null) return io[stream].write(plansJson(plans, failures));
  await writeAtomically(resolve(io.cwd, out), plansJson(plans, failures), { shown: out });
  io.stderr.write(`Saved as ${out}.\n`);
}

/**
 * Returns a function that locates rules in the files, as in `access/shop.yaml:41:3`. A plan holds no locations, so that
 * moving a line changes no plan.
 */
export function ruleLocations(
  states: readonly DesiredState[],
  sources: readonly { readonly file: string; readonly text: string }[],
): PlaceOf {
  const byMerchant = new Map(states.map((state) => [state.merchant, state]));
  const texts = new Map(sources.map(({ file, text }) => [file, text]));
  const place = ({ file, path }: Origin): string | null => {
    const span = locate(texts.get(file) ?? "", path);
    return span ? `${file}:${span.line}:${span.column}` : null;
  };
  const firstPlace = (files: readonly string[], pathIn: (file: string) => Path | null): string | null => {
    for (const file of files) {
      const path = pathIn(file);
      const found = path === null ? null : place({ file, path });
      if (found !== null) return found;
    }
    return null;
  };
  const ofFinding = (
    { code, name, message }: Finding,
    { checks }: DesiredState,
    files: readonly string[],
  ): string | null => {
    if (NAMING_CODES.has(code)) return firstPlace(files, (file) => pathInRules(texts.get(file) ?? "", name));
    // An existing violation.
    const failed = checks.find((one) => message.includes(`(check: ${checkText(one)})`));
    if (failed) return place(failed.origin);
    return firstPlace(files, () => KEYS[code] ?? null);
  };
  return ({ merchant }, found) => {
    const state = byMerchant.get(merchant);
    if (state === undefined) return null;
    const files = [state.origin.file, ...(state.included ?? [])];
    if ("severity" in found) return ofFinding(found, state, files);
    const { rule, code, check, override } = found;
    if (rule === "check") {
      const written = state.checks.find((one) => checkText(one) === check);
      return written ? place(written.origin) : null;
    }
    const path = KEYS[code];
    if (path === undefined || (code === "min-holders" && !namesRole(state, override))) return null;
    return firstPlace(files, () => path);
  };
}

/** The findings about a name in a rule. */
const NAMING_CODES: ReadonlySet<string> = new Set([
  "rule-member-unknown",
  "rule-permission-unknown",
  "rule-role-unknown",
]);

const RULES = ["policies", "guards", "checks"] as const;

/** Returns the path at which a rule of a file names a role or a permission; `null` if none does. */
function pathInRules(text: string, name: string): Path | null {
  const value = fieldsOf((parseFast(text) ?? parse(text)).value);
  const find = (inner: unknown, path: Path): Path | null => {
    if (typeof inner === "string") return inner === name || inner === `role:${name}` ? path : null;
    if (typeof inner !== "object" || inner === null) return null;
    for (const [key, each] of Object.entries(inner)) {
      const to = [...path, Array.isArray(inner) ? Number(key) : key];
      const found = key === name ? to : find(each, to);
      if (found !== null) return found;
    }
    return null;
  };
  return RULES.map((key) => find(value[key], [key])).find((path) => path !== null) ?? null;
}

/**
 * Returns whether a merchant's files set the fewest holders of a role, and not the default, by the override of a
 * refusal.
 */
function namesRole({ guards }: DesiredState, override: string | null): boolean {
  return Object.keys(guards.minHolders ?? {}).some((role) => override?.startsWith(`min-holders=${role}:`));
}

/** The path of the file's key that causes a refusal, by its code. */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  "max-removals": ["guards", "max_removals"],
  protect: ["guards", "protect"],
  "min-holders": ["guards", "min_holders"],
  "email-domains": ["policies", "email_domains"],
  separate: ["policies", "separate"],
  "max-holders": ["policies", "max_holders"],
  "require-until": ["policies", "require_until"],
  "require-mfa": ["policies", "require_mfa"],
  "forbid-permissions": ["policies", "forbid_permissions"],
};
