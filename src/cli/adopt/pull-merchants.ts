import { existsSync } from "node:fs";
import { resolve } from "node:path";
import {
  type AdoptedFiles,
  adoptPlanned,
  inSection,
  ofDrift,
  ofMembers,
  undecidedNote,
  type WantsEdit,
} from "../../app/adopt/adopt-planned.ts";
import { ExitCode, type Io } from "../../app/io/io.ts";
import { styleFor } from "../../app/io/terminal.ts";
import { failuresOf } from "../../app/plan/plan-merchants.ts";
import type { ServiceOptions } from "../../app/project/command-options.ts";
import { type Planned, type PlannedMerchant, plannedOnly } from "../../app/session/session.ts";
import { driftsOf } from "../../app/show/drifts-of.ts";
import { printUnread } from "../../app/show/show-plans.ts";
import { adoptNew, newFileText } from "../../edit/adopt/new-file-text.ts";
import { addressesOf } from "../../kernel/diff/scope.ts";
import { oneLine } from "../../lib/escape.ts";
import { counted } from "../../lib/text.ts";
import type { EntryEdit } from "../../model/adoption.ts";
import { RolecallError } from "../../model/errors.ts";
import type { LiveState } from "../../model/live.ts";
import { documentJson } from "../../show/machine/machine-formats.ts";
import { type FilePatch, patchText, renderPatch } from "../../show/text/patch-text.ts";
import { planLive } from "../progress/with-plans.ts";
import { confirmAll } from "../review/confirm-apply.ts";
import { SCHEMA_FILE, writePatches } from "./new-files.ts";
import { checkPatched, isPart, loadPullTargets, type PulledPart, type PullTargets } from "./pull-files.ts";

/** The options of `pull`. */
export type PullCommandOptions = Omit<ServiceOptions, "merchant" | "shard"> &
  PulledPart & {
    readonly check?: true;
    readonly yes?: true;
    readonly format: "text" | "json";
    readonly color: boolean;
  };

/** Writes the live states of merchants into their files. */
export async function pullMerchants(
  codes: readonly string[],
  options: PullCommandOptions,
  io: Io,
): Promise<ExitCode> {
  if (options.format === "json" && !options.check) {
    throw new RolecallError("usage", "--format json needs --check.", {
      hint: "Without --check, pull shows the patch as text and writes it.",
    });
  }
  const targets = await loadPullTargets(codes, options, io);
  refuseNewFile(targets, options);
  const planned = await planLive(targets.states, options, io);
  const style = styleFor(io.stderr, io, options.color);
  const { complete } = printUnread(planned, options, io, "pulled");
  const merchants = plannedOnly(planned);
  checkMembers(planned, targets, options);
  const { patches, conflicts, notes } = await patchesOf(merchants, targets, options, io);
  const isText = options.format === "text";
  if (isText) {
    for (const conflict of conflicts)
      io.stderr.write(`${style.yellow("not pulled")}: ${oneLine(conflict)}\n`);
    for (const note of notes) io.stderr.write(`${oneLine(note)}\n`);
  }
  if (!targets.valid) io.stderr.write("Files with errors are not pulled: correct them, and pull again.\n");
  const checked = await checkPatched(patches, targets, merchants, options, io);
  const isComplete = complete && conflicts.length + checked.bad.length === 0 && targets.valid;
  if (!isText) {
    const failures = failuresOf(targets, planned);
    const files = checked.patches.map((filePatch) => ({
      file: filePatch.file,
      patch: patchText([filePatch]),
    }));
    const notPulled = [...conflicts, ...checked.bad.map((code) => `${code}: its files would have errors.`)];
    io.stdout.write(documentJson({ files, notPulled, notes, failures }));
  } else if (patches.length === 0 && isComplete && !options.quiet) {
    io.stdout.write(nothingToDo(options, notes));
  }
  const code = await confirmPatches(checked.patches, options, io);
  return isComplete || code !== ExitCode.ok ? code : ExitCode.failed;
}

/** Throws RolecallError if only a part of a merchant without a file is wanted: a plan would remove the rest. */
function refuseNewFile({ fresh }: PullTargets, options: PullCommandOptions): void {
  const [code] = fresh;
  if (code === undefined || !isPart(options)) return;
  throw new RolecallError("usage", `${code} has no file yet, so only the whole merchant can be pulled.`, {
    hint: `Run "rolecall pull ${code}" first.`,
  });
}

/** Throws RolecallError for an address of `--member` that is neither live nor declared, if all is read. */
function checkMembers(
  planned: readonly Planned[],
  { valid }: PullTargets,
  { member }: PullCommandOptions,
): void {
  const merchants = plannedOnly(planned);
  // Merchants that could not be read, and files with errors, may have the address.
  if (member.length === 0 || merchants.length < planned.length || !valid) return;
  const messages = new Set(
    merchants.flatMap(({ live, session }) =>
      [...live.members.flatMap(addressesOf), ...(session.state.members ?? []).map(({ email }) => email)].map(
        (email) => email.toLowerCase(),
      ),
    ),
  );
  const unknown = member.filter((email) => !messages.has(email.toLowerCase()));
  if (unknown.length === 0) return;
  throw new RolecallError("usage", `No member has the address ${unknown.join(", ")}, live or in the files.`, {
    hint: "Check the address and the selected merchants.",
  });
}

/** Returns the patches of the files, new and existing. */
async function patchesOf(
  merchants: readonly PlannedMerchant[],
  targets: PullTargets,
  options: PullCommandOptions,
  io: Io,
): Promise<AdoptedFiles> {
  const isFresh = ({ live }: PlannedMerchant): boolean => targets.fresh.has(live.merchant);
  const created = merchants.filter(isFresh).map(({ session, live, plan }): FilePatch => {
    const { merchant } = live;
    const { environment, state } = session;
    const baseUrl = options.baseUrl === undefined ? {} : { baseUrl: plan.service };
    const { file } = state.origin;
    const schema = `../${SCHEMA_FILE}`;
    // The same as that of init, if init created the project.
    const forEditors = existsSync(resolve(io.cwd, file, "..", schema)) ? { schema } : {};
    const header = { merchant, environment, ...baseUrl, ...forEditors };
    return { file, before: null, after: newFileText(adoptNew(live, io.now()), header) };
  });
  const existing = merchants.filter((merchant) => !isFresh(merchant));
  const drifts = options.adoptDrift ? await driftsOf(existing, [], io) : [];
  const selected = existing.map((planned, index) => {
    const drift = drifts[index];
    const isWanted = filterOf(options, planned.live);
    if (drift === undefined) return { planned, wants: isWanted };
    const adopted = ofDrift(planned, drift, ["outside-git"]);
    return { ...adopted, wants: (edit: EntryEdit) => isWanted(edit) && adopted.wants(edit) };
  });
  const { patches, conflicts, notes } = adoptPlanned(selected, targets, io.now());
  const isWhole = options.only === undefined && options.member.length === 0 && !options.adoptDrift;
  const hasNothing = isWhole && patches.length + created.length + conflicts.length === 0;
  return {
    patches: [...patches, ...created],
    conflicts,
    notes: [
      ...notes,
      ...drifts.flatMap(undecidedNote),
      ...existing.flatMap(unmanagedNote),
      ...(hasNothing ? existing.flatMap(remainingNote) : []),
    ],
  };
}

function filterOf({ only, member }: PullCommandOptions, live: LiveState): WantsEdit {
  const filters = [
    ...(only === undefined ? [] : [inSection(only)]),
    ...(member.length === 0 ? [] : [ofMembers(new Set(member.map((email) => email.toLowerCase())), live)]),
  ];
  return (edit) => filters.every((wants) => wants(edit));
}

/** Reports that a file manages nothing, so that there is nothing to pull into it. */
function unmanagedNote({ session: { state } }: PlannedMerchant): readonly string[] {
  const { merchant, origin, roles, members } = state;
  if (roles !== undefined || members !== undefined) return [];
  return [
    `${merchant}: ${origin.file} has neither "roles:" nor "members:", so nothing is managed. Add "roles: []" and "members: []", and pull again.`,
  ];
}

/** Reports the changes that a plan has although the files match the live state, such as those of a person with two memberships. */
function remainingNote({ plan: { merchant, changes } }: PlannedMerchant): readonly string[] {
  if (changes.length === 0) return [];
  return [
    `${merchant}: no entry needs to change, but the next plan has ${counted(changes.length, "change")}.`,
  ];
}

function nothingToDo({ only, member, adoptDrift }: PullCommandOptions, notes: readonly string[]): string {
  if (adoptDrift) return "There is no change outside git to adopt.\n";
  if (only !== undefined || member.length > 0) {
    return "The files already match the live state of these entries: there is nothing to change.\n";
  }
  return notes.length > 0
    ? "There is nothing to change.\n"
    : "The files already match the live state: there is nothing to change.\n";
}

/** Shows patches, asks, and writes the files; with `check` it only shows them. */
export async function confirmPatches(
  patches: readonly FilePatch[],
  {
    check,
    yes,
    color,
    quiet,
    format,
  }: Pick<PullCommandOptions, "check" | "yes" | "color" | "quiet" | "format">,
  io: Io,
): Promise<ExitCode> {
  if (patches.length === 0) return ExitCode.ok;
  if (format === "text" && (!quiet || !yes))
    io.stdout.write(renderPatch(patches, styleFor(io.stdout, io, color)));
  return check ? ExitCode.differences : writeConfirmed(patches, { yes, color }, io);
}

/** Asks, unless with `yes`, and writes the files of patches that were shown. */
export async function writeConfirmed(
  patches: readonly FilePatch[],
  { yes, color }: { readonly yes?: true | undefined; readonly color: boolean },
  io: Io,
): Promise<ExitCode> {
  const question = {
    lines: [`Write ${counted(patches.length, "file")}?`, ...patches.map(({ file }) => `  ${oneLine(file)}`)],
    answer: "yes",
  };
  if (!yes && !(await confirmAll([question], { color, review: "Review the patch above; to write it" }, io)))
    return ExitCode.failed;
  await writePatches(patches, io);
  return ExitCode.ok;
}
