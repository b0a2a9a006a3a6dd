import { rawFileReader } from "../../app/adopt/adopt-planned.ts";
import { ExitCode, type Io } from "../../app/io/io.ts";
import { styleFor } from "../../app/io/terminal.ts";
import type { ServiceOptions } from "../../app/project/command-options.ts";
import { isFileError } from "../../app/project/file-errors.ts";
import { type Loaded, loadStates } from "../../app/project/load-states.ts";
import { pickMerchants } from "../../app/project/pick-merchants.ts";
import { globMatcher, type Planned, plannedOnly, withRunOverrides } from "../../app/session/session.ts";
import { placeFinder } from "../../app/show/find-places.ts";
import { laterViews } from "../../app/show/later-views.ts";
import { printDiagnostics } from "../../app/show/print-diagnostics.ts";
import { ruleLocations } from "../../app/show/rule-locations.ts";
import { printUnread } from "../../app/show/show-plans.ts";
import { writeDocument } from "../../app/show/write-document.ts";
import { commentAbove } from "../../edit/yaml/comment-above.ts";
import { editYaml } from "../../edit/yaml/edit-yaml.ts";
import { soonDates } from "../../kernel/plan/upcoming-dates.ts";
import { filesOf } from "../../kernel/read/files-of.ts";
import { unique } from "../../kernel/values/values.ts";
import { oneLine } from "../../lib/escape.ts";
import { canonicalJson } from "../../lib/json-text.ts";
import { counted, listText } from "../../lib/text.ts";
import type { DesiredState } from "../../model/desired.ts";
import { RolecallError } from "../../model/errors.ts";
import { type FilePatch, renderPatch } from "../../show/text/patch-text.ts";
import { hangingLines } from "../../show/text/wrap.ts";
import { openInterview } from "../adopt/init-questions.ts";
import { loadPatched, requirePatched } from "../adopt/pull-files.ts";
import { planLive } from "../progress/with-plans.ts";
import {
  type AccessEdit,
  type AccessEdits,
  type AccessRequest,
  listedAs,
  type MerchantAccess,
} from "./access-request.ts";
import { grantEdits } from "./grant-edits.ts";
import { checkOtherRoles } from "./other-roles.ts";
import { checkRequestable, type RequestedRole, readRequestable } from "./requestable-rules.ts";
import { revokeEdits } from "./revoke-edits.ts";

/** The options of `grant` and `revoke`. */
export type AccessCommandOptions = Omit<ServiceOptions, "shard"> & {
  readonly from?: string;
  readonly until?: string;
  readonly reason?: string;
  readonly file?: string;
  readonly check?: true;
  readonly declared?: true;
  readonly pr?: true;
  readonly yes?: true;
  readonly color: boolean;
};

/** A change that is ready to be written. */
export interface PreparedChange {
  readonly patches: readonly FilePatch[];
  /** The merchants of the request, and the roles that change. */
  readonly merchants: readonly string[];
  readonly roles: readonly string[];
}

/**
 * Shows what a request changes in the files, and the resulting plan; returns the exit code if there is nothing to
 * write.
 */
export async function prepareChange(
  request: AccessRequest,
  options: AccessCommandOptions,
  io: Io,
): Promise<PreparedChange | { readonly code: ExitCode }> {
  const { loaded, selected } = await loadSelected(request, options, io);
  const { edits, notes, roles } = await decide(request, selected, loaded, options, io);
  const style = styleFor(io.stderr, io, options.color);
  for (const note of notes) io.stderr.write(`${hangingLines(note, style.columns, "", "  ").join("\n")}\n`);
  if (edits.length === 0) {
    if (!options.quiet) io.stdout.write("There is nothing to change.\n");
    return { code: ExitCode.ok };
  }
  const changed = new Set(edits.map(({ file }) => file));
  const affected = loaded.all.filter((state) => filesOf(state).some((file) => changed.has(file)));
  const requested = affected.flatMap((state): readonly RequestedRole[] => {
    const { merchant, roles: declared = [] } = state;
    const { email } = listedAs(request, state);
    const changes = roles.map(({ role, from, until }) => {
      const names = [role, declared.find(({ name }) => name === role)?.id ?? role];
      return { merchant, email, names, from, until };
    });
    return changes.length === 0 ? [{ merchant, email, names: [] }] : changes;
  });
  const projects = await readRequestable([...changed], io.cwd);
  checkRequestable(projects, requested, request, { matches: globMatcher(), now: io.now() });
  const names = unique(roles.map(({ role }) => role));
  const patches = patchesOf(edits, names, request, loaded, io);
  const after = await loadPatched(patches, { states: loaded.all, all: loaded.all }, io);
  if (after.diagnostics.some(isFileError) || !options.quiet || !options.yes)
    io.stdout.write(renderPatch(patches, styleFor(io.stdout, io, options.color)));
  const words = {
    message: "With the patch above, the files would have these errors.",
    hint: "Nothing was changed. Their lines are those of the patched files.",
  };
  requirePatched(after, loaded, words, options, io);
  for (const state of affected) {
    checkOtherRoles(
      state,
      after.states.find(({ merchant }) => merchant === state.merchant),
      request,
      roles,
      io.now(),
    );
  }
  const merchants = new Set(affected.map(({ merchant }) => merchant));
  const states = after.states.filter(({ merchant }) => merchants.has(merchant));
  if (!options.declared && !(await showPlan(states, after.states, patches, loaded, options, io))) {
    if (!options.check) io.stderr.write(NOT_WRITTEN);
    return { code: ExitCode.failed };
  }
  if (options.check) return { code: ExitCode.differences };
  return { patches, merchants: selected.map(({ merchant }) => merchant), roles: names };
}

const NOT_WRITTEN =
  "Nothing was written. Solve the problems above first; --declared uses only the files, and makes no plan.\n";

async function loadSelected(
  { kind, email }: AccessRequest,
  options: AccessCommandOptions,
  io: Io,
): Promise<{ readonly loaded: Loaded; readonly selected: readonly DesiredState[] }> {
  const loaded = await loadStates([], { merchants: [], cwd: io.cwd, now: io.now() });
  const errors = loaded.diagnostics.filter(isFileError);
  if (errors.length > 0) {
    printDiagnostics(errors, options, io);
    throw new RolecallError("file-invalid", "Some files have errors.", {
      hint: "Correct the errors above first. Nothing was changed.",
    });
  }
  const { all: states, diagnostics } = loaded;
  const selected = pickMerchants(states, options.merchant, diagnostics);
  if (options.merchant.length === 0 && states.length > 1) {
    const codes = states.map(({ merchant }) => merchant);
    const some =
      codes.length > MAX_NAMED ? `${codes.slice(0, MAX_NAMED).join(", ")}, …` : listText(codes, "or");
    throw new RolecallError("usage", "Specify the merchant with -m.", {
      hint: `The files declare ${some}. For example: rolecall ${kind} ${oneLine(email)} … -m ${codes[0]}`,
    });
  }
  return { loaded, selected };
}

const MAX_NAMED = 5;

/** Decides the edits at each merchant; asks for the file if it is ambiguous. */
async function decide(
  request: AccessRequest,
  selected: readonly DesiredState[],
  { all: states, sources }: Loaded,
  options: AccessCommandOptions,
  io: Io,
): Promise<Omit<AccessEdits, "choices">> {
  const codes = new Set(selected.map(({ merchant }) => merchant));
  const places = placeFinder(sources);
  const rawOf = rawFileReader(new Map(sources.map(({ file, text }) => [file, text])));
  const shared: Omit<MerchantAccess, "state" | "files"> = {
    othersOf: (file) =>
      states
        .filter((state) => !codes.has(state.merchant) && filesOf(state).includes(file))
        .map(({ merchant }) => merchant),
    placeOf: (origin) => {
      const place = places.entry(origin);
      return oneLine(place === null ? origin.file : `${place.file}:${place.line}`);
    },
    matches: globMatcher(),
    now: io.now(),
  };
  const editsOf = request.kind === "grant" ? grantEdits : revokeEdits;
  const decided: AccessEdits[] = [];
  for (const state of selected) {
    const merchant = { ...shared, state, files: filesOf(state).map(rawOf) };
    const first = editsOf(request, merchant);
    const { choices } = first;
    if (choices.length === 0) decided.push(first);
    else {
      const chosen = await chooseFile(choices, merchant, options, io);
      decided.push(editsOf(request, { ...merchant, chosen }));
    }
  }
  // A file that several merchants share is changed once.
  const edits = new Map(decided.flatMap((each) => each.edits.map((edit) => [canonicalJson(edit), edit])));
  return {
    edits: [...edits.values()],
    notes: unique(decided.flatMap(({ notes }) => notes)),
    roles: decided.flatMap(({ roles }) => roles),
  };
}

async function chooseFile(
  choices: readonly string[],
  { state: { merchant }, othersOf }: MerchantAccess,
  options: AccessCommandOptions,
  io: Io,
): Promise<string> {
  const notes = choices.map((file) => {
    const others = othersOf(file);
    return others.length === 0 ? `only ${merchant}` : `also ${counted(others.length, "other merchant")}`;
  });
  const interview = openInterview(options, io);
  if (interview === null) {
    const list = choices.map((file, index) => `${oneLine(file)} (${notes[index]})`);
    throw new RolecallError("usage", `The grant at ${merchant} can go to ${listText(list, "or")}.`, {
      hint: `Choose one with --file, such as --file ${oneLine(choices[0] ?? "")}`,
    });
  }
  const labels = choices.map((file, index) => ({ label: oneLine(file), note: notes[index] ?? "" }));
  const index = await interview.one(`Which file should grant it at ${merchant}?`, labels);
  return choices[index] ?? "";
}

/** Edits the files; throws RolecallError for one that cannot be edited without changing something else. */
function patchesOf(
  edits: readonly AccessEdit[],
  roles: readonly string[],
  { reason }: AccessRequest,
  { sources }: Loaded,
  io: Io,
): readonly FilePatch[] {
  return sources.flatMap(({ file, text: before }): readonly FilePatch[] => {
    const inFile = edits.filter((edit) => edit.file === file);
    if (inFile.length === 0) return [];
    const above = inFile.find((edit) => edit.above !== undefined)?.above;
    const comment = reason === undefined || above === undefined ? null : `${roles.join(", ")}: ${reason}`;
    const commented = comment === null ? before : commentAbove(before, ["members", above ?? 0], comment);
    if (commented === null)
      io.stderr.write(`The reason has no place in ${oneLine(file)}, and is left out.\n`);
    const edited = editYaml(
      commented ?? before,
      inFile.map(({ edit }) => edit),
    );
    if ("refused" in edited) {
      throw new RolecallError("file-unwritable", `${oneLine(file)} cannot be edited: ${edited.refused}.`, {
        hint: "Change it by hand, such as at an alias or an anchor. Nothing was changed.",
      });
    }
    return [{ file, before, after: edited.text }];
  });
}

/** Plans the changed merchants as the patched files declare them; returns false if one has no plan, or a new error. */
async function showPlan(
  states: readonly DesiredState[],
  declared: readonly DesiredState[],
  patches: readonly FilePatch[],
  { sources }: Loaded,
  options: AccessCommandOptions,
  io: Io,
): Promise<boolean> {
  const planned = withRunOverrides(await planLive(states, options, io), declared);
  const texts = new Map(patches.map(({ file, after }) => [file, after]));
  const patched = sources.map(({ file, text }) => ({ file, text: texts.get(file) ?? text }));
  const later = laterViews(
    plannedOnly(planned).map((outcome) => ({ state: outcome.session.state, planned: outcome })),
    declared,
    (state) => soonDates(state, io.now()),
  );
  const { plans, complete } = printUnread(planned, options, io);
  const placeOf = ruleLocations(states, patched);
  const document = { plans, placeOf, unplanned: [], fileErrors: 0, failures: [], later };
  await writeDocument("plans", document, { ...options, format: "text" }, io);
  return complete && !planned.some(hasError);
}

function hasError(planned: Planned): boolean {
  return planned.status === "planned" && planned.plan.findings.some(({ severity }) => severity === "error");
}
