import { resolve } from "node:path";
import { approvedPart } from "../../app/apply/approved-parts.ts";
import type { Io } from "../../app/io/io.ts";
import { textOrNull } from "../../app/io/read-text.ts";
import { openScreen, styleFor, terminalOf } from "../../app/io/terminal.ts";
import type { PlannedMerchants } from "../../app/plan/plan-merchants.ts";
import type { OutputOptions } from "../../app/project/command-options.ts";
import {
  type Planned,
  type PlannedMerchant,
  plannedOnly,
  planSessions,
  type Session,
  withRunOverrides,
} from "../../app/session/session.ts";
import { type ChangeLocations, changeLocations } from "../../app/show/rule-locations.ts";
import { dependenciesBetween, leftOutWith, selectionJudge } from "../../kernel/plan/select.ts";
import { applyOverrides, type Override } from "../../kernel/rules/overrides.ts";
import { oneLine } from "../../lib/escape.ts";
import { counted } from "../../lib/text.ts";
import { RolecallError } from "../../model/errors.ts";
import type { Selection } from "../../model/plan.ts";
import type { BrowseState, FileLine } from "../../show/screen/browse/browse-state.ts";
import type { PlaceOf } from "../../show/view/plan-view.ts";
import { editFile } from "../io/edit-file.ts";

/** Throws RolecallError without a terminal that can be drawn on. */
export function checkInteractive({ format }: Pick<OutputOptions<string>, "format">, io: Io): void {
  if (format !== "text") {
    throw new RolecallError("usage", `--interactive cannot be combined with --format ${format}.`);
  }
  const { asks, draws } = terminalOf(io);
  if (asks && draws) return;
  throw new RolecallError(
    "usage",
    asks
      ? "--interactive cannot draw on this terminal (TERM=dumb)."
      : "--interactive needs a terminal, but there is none.",
    { hint: "Omit --interactive to print the plan as text." },
  );
}

/** The plans to browse, and what may be done with them. */
export interface BrowsedPlans {
  readonly planned: readonly PlannedMerchant[];
  readonly placeOf: PlaceOf;
  readonly project: Pick<PlannedMerchants["project"], "project">;
  readonly overrides: readonly Override[];
  /** Allows changes to be left out, and the rest applied. */
  readonly selects: boolean;
  /** Refused merchants are skipped. */
  readonly goesOn: boolean;
}

/** The decision made in the browser. */
interface Browsed {
  /** True to apply the selected changes. */
  readonly apply: boolean;
  readonly selection: Selection;
}

/** Opens the plan browser on the terminal; with `selects`, the user can leave changes out. */
export async function browsePlans(
  browsed: BrowsedPlans,
  { color }: Pick<OutputOptions, "color">,
  io: Io,
): Promise<Browsed> {
  const { browse, browseScreen } = await import("../../show/screen/browse/browser.tsx");
  const { planned, selects, placeOf } = browsed;
  const plans = planned.map(({ plan }) => plan);
  const judge = selectionJudge(
    planned.map(({ plan, planWithout, session, live }) => ({
      plan,
      planWithout,
      files: session.state,
      live,
    })),
    browsed.project.project,
  );
  const dependencies = dependenciesBetween(plans);
  const newLocations = (): ChangeLocations =>
    changeLocations(
      planned.map(({ session }) => session.state),
      (file) => textOrNull(resolve(io.cwd, file)),
    );
  let locations = newLocations();
  const screen = browseScreen({
    plans,
    judge,
    leftOut: (chosen) => leftOutWith(dependencies, chosen),
    objection: (selection) => objectionTo(selection, browsed),
    permissionsOf: permissionsIn(planned),
    fileOf: ({ plan, change }) => locations.fileOf(plan.merchant, change),
    fileLineOf: ({ plan, change }) => locations.fileLineOf(plan.merchant, change),
    placeOf,
    selects,
  });
  const style = styleFor(io.stderr, io, color);
  const ended = new AbortController();
  let close = openScreen(io);
  const ignoreSignals = io.onStopSignal(() => {
    ended.abort();
    close();
  });
  try {
    let state: BrowseState | null = null;
    for (;;) {
      state = await browse(screen, state, io.terminal, style, ended.signal);
      const { end, chosen } = state;
      if (end === null || end === "apply" || end === "leave")
        return { apply: end === "apply", selection: judge(chosen) };
      close();
      const after = end === "suspend" ? await suspended(io) : await edited(end.edit, io);
      if (ended.signal.aborted) return { apply: false, selection: judge(chosen) };
      close = openScreen(io);
      if (after.edited) locations = newLocations();
      state = { ...state, ...after, end: null, edited: state.edited || after.edited };
    }
  } finally {
    close();
    ignoreSignals();
  }
}

/** Changes made while another program had the terminal. */
type AfterPause = Pick<BrowseState, "edited" | "note">;

/** Opens a file in the editor; returns whether the file changed, and a message about it. */
async function edited({ file, line }: FileLine, io: Io): Promise<AfterPause> {
  const path = resolve(io.cwd, file);
  const before = textOrNull(path);
  const problem = await editFile({ file, line }, io);
  const isEdited = textOrNull(path) !== before;
  return { edited: isEdited, note: problem ?? (isEdited ? AFTER_EDIT : "") };
}

/** Stops the process, as Ctrl-Z does elsewhere, until it is continued. */
async function suspended(io: Io): Promise<AfterPause> {
  await io.suspend();
  return { edited: false, note: "" };
}

const AFTER_EDIT = "The plan is from before the edit: quit, and plan again.";

/** Returns why a selection cannot be applied as it is; `null` if it can. */
function objectionTo({ plans, run }: Selection, { overrides, goesOn }: BrowsedPlans): string | null {
  const judged = plans.map((plan) => applyOverrides(plan, overrides, run));
  const used = new Set(judged.flatMap((part) => part.used));
  const stray = overrides.find((override) => !used.has(override));
  if (stray) return `--allow ${oneLine(stray.text)} is for another selection.`;
  const refused = judged.filter(({ refusals }) => refusals.length > 0);
  if (refused.length === 0 || (goesOn && refused.length < plans.length)) return null;
  const reasons = refused.reduce((sum, { refusals }) => sum + refusals.length, 0);
  return `Refused, for ${counted(reasons, "reason")}: r lists ${reasons === 1 ? "it" : "them"}. Leave the refused changes out.`;
}

/** Returns a function that gives the permissions of live roles. */
function permissionsIn(
  planned: readonly PlannedMerchant[],
): (merchant: string, roleId: string) => readonly string[] | null {
  const roles = new Map(
    planned.map(({ plan, live }) => [plan.merchant, new Map(live.roles.map((role) => [role.id, role]))]),
  );
  return (merchant, roleId) => roles.get(merchant)?.get(roleId)?.permissions ?? null;
}

/** The selected changes, planned again. */
export interface ChangeSelection {
  readonly planned: readonly Planned[];
  /** Changes of the fresh plans that were not shown, a sentence each, by merchant. */
  readonly objections: ReadonlyMap<string, readonly string[]>;
  /** Number of changes left out, by merchant. */
  readonly leftOut: ReadonlyMap<string, number>;
}

/**
 * Lets the user select changes on the terminal; `null` if they leave. Everything is then planned again without the
 * changes left out, with the plans of the selection, as judged on the screen, as its approval.
 */
export async function selectChanges(
  {
    planned,
    placeOf,
    project,
    progress,
  }: Pick<PlannedMerchants, "planned" | "placeOf" | "project" | "progress">,
  options: Pick<OutputOptions, "color"> & Pick<BrowsedPlans, "overrides" | "goesOn">,
  io: Io,
): Promise<ChangeSelection | null> {
  const results = plannedOnly(planned).filter(({ plan }) => plan.changes.length > 0);
  const browsed = { ...options, planned: results, placeOf, project, selects: true };
  const { apply, selection } = await browsePlans(browsed, options, io);
  if (!apply) return null;
  const { plans, leaveOut } = selection;
  const shown = { file: "the screen", plans };
  const selected = results.map(({ session, plan }, index) => ({
    session: { ...session, plan: () => session.plan(leaveOut[index]) } satisfies Session,
    merchant: plan.merchant,
    leftOut: plan.changes.filter(({ fingerprint }) => leaveOut[index]?.has(fingerprint)).length,
  }));
  progress.reading(selected.map(({ merchant }) => merchant));
  try {
    const fresh = await planSessions(
      selected.map(({ session }) => session),
      progress.read,
    );
    const again = new Map(selected.map(({ merchant }, index) => [merchant, fresh[index]]));
    const outcomes = planned.map(
      (outcome) =>
        again.get(outcome.status === "planned" ? outcome.plan.merchant : outcome.merchant) ?? outcome,
    );
    return {
      planned: withRunOverrides(outcomes, project.project),
      objections: new Map(
        plannedOnly(fresh).map((outcome) => [outcome.plan.merchant, approvedPart(outcome, [shown]).refusals]),
      ),
      leftOut: new Map(selected.map((each) => [each.merchant, each.leftOut])),
    };
  } finally {
    await progress.rest();
  }
}
