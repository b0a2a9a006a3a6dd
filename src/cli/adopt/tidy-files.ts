import { editYaml, type YamlEdit } from "../../config/edit/edit-yaml.ts";
import { tidyEdits } from "../../config/edit/tidy-edits.ts";
import { oneLine } from "../../lib/escape.ts";
import { counted } from "../../lib/text.ts";
import type { DesiredState } from "../../model/desired.ts";
import { RolecallError } from "../../model/errors.ts";
import { isSameAccess } from "../../plan/lint/same-access.ts";
import type { FilePatch } from "../../render/text/patch-text.ts";
import { hangingLines } from "../../render/text/wrap.ts";
import { isFileError, type Loaded, type LoadedWithSharers } from "../files/load-states.ts";
import type { ExitCode, Io } from "../io/io.ts";
import { styleFor } from "../io/output.ts";
import { printDiagnostics } from "../session/plan-merchants.ts";
import { globMatcher } from "../session/session.ts";
import { loadPatched } from "./pull-files.ts";
import { confirmPatches } from "./pull-merchants.ts";

/** The options of `lint --fix`. */
export interface TidyOptions {
  readonly check?: true;
  readonly yes?: true;
  readonly quiet?: true;
  readonly color: boolean;
}

/** Removes what has no effect from the files of the selected merchants, after it is proved to have none, and confirmed. */
export async function tidyFiles(loaded: LoadedWithSharers, options: TidyOptions, io: Io): Promise<ExitCode> {
  const errors = loaded.diagnostics.filter(isFileError);
  if (errors.length > 0) {
    printDiagnostics(errors, { ...options, format: "text" }, io);
    throw new RolecallError("file-invalid", "Some files have errors, so that nothing can be proved.", {
      hint: "Correct the errors above first. Nothing was changed.",
    });
  }
  const files = new Set(loaded.states.flatMap(({ origin, included = [] }) => [origin.file, ...included]));
  const drafts = loaded.sources.flatMap(({ file, text }): readonly Draft[] => {
    const edits = files.has(file) ? tidyEdits(text, io.now()) : [];
    return edits.length === 0 ? [] : [{ file, text, edits }];
  });
  const mains = new Set(loaded.all.map(({ origin }) => origin.file));
  const provable = loaded.sharersUnknown ? drafts.filter(({ file }) => mains.has(file)) : drafts;
  const proved = await provedEdits(provable, loaded, io);
  if (drafts.length === 0) io.stdout.write("There is nothing to fix.\n");
  const fixed = new Map(proved.map(({ file, edits }) => [file, edits.length]));
  const left = drafts.flatMap(({ file, edits }) => {
    const count = edits.length - (fixed.get(file) ?? 0);
    return count === 0 ? [] : [`${oneLine(file)} (${count})`];
  });
  if (left.length > 0) {
    const style = styleFor(io.stderr, io, options.color);
    const more = left.length - MAX_NAMED;
    const names = `${left.slice(0, MAX_NAMED).join(", ")}${more > 0 ? `, and ${counted(more, "more file")}` : ""}`;
    const text = `Not fixed, since more could change: ${names}.`;
    io.stderr.write(`${hangingLines(text, style.columns, "", "  ").join("\n")}\n`);
  }
  const ended = new Set(loaded.diagnostics.flatMap(({ code, file }) => (code === "until-past" ? file : [])));
  if (!options.quiet && proved.some(({ file, edits }) => edits.length > 0 && ended.has(file))) {
    const { columns } = styleFor(io.stderr, io, options.color);
    io.stderr.write(`${hangingLines(APPLY_FIRST, columns, "", "  ").join("\n")}\n`);
  }
  return confirmPatches(patchesOf(proved), { ...options, format: "text" }, io);
}

const APPLY_FIRST =
  'Run "rolecall apply" first where what has ended may still be live: once its entry is gone, apply --only due does not end it.';

const MAX_NAMED = 5;

/** The edits of a file. */
interface Draft {
  readonly file: string;
  readonly text: string;
  readonly edits: readonly YamlEdit[];
}

function countEdits(drafts: readonly Draft[]): number {
  return drafts.reduce((sum, { edits }) => sum + edits.length, 0);
}

/** Returns the drafts with the edits that change nobody's access: all, or those that are proved one by one. */
async function provedEdits(drafts: readonly Draft[], loaded: Loaded, io: Io): Promise<readonly Draft[]> {
  const possible = drafts.map((draft) => ({
    ...draft,
    // Each attempt reads the file again.
    edits:
      "text" in editYaml(draft.text, draft.edits)
        ? draft.edits
        : draft.edits.filter((edit) => "text" in editYaml(draft.text, [edit])),
  }));
  if (countEdits(possible) === 0) return [];
  const unproved = await filesInDoubt(possible, loaded, io);
  if (unproved.size === 0) return possible;
  const clear = possible.filter(({ file }) => !unproved.has(file));
  const doubtful = possible.filter(({ file }) => unproved.has(file));
  const kept = new Map<string, YamlEdit[]>();
  for (const some of trialsOf(doubtful, loaded)) {
    const wrong = await filesInDoubt(some, loaded, io);
    for (const { file, edits } of some) {
      if (!wrong.has(file)) kept.set(file, [...(kept.get(file) ?? []), ...edits]);
    }
  }
  const proved = [...clear, ...doubtful.map((draft) => ({ ...draft, edits: kept.get(draft.file) ?? [] }))];
  return (await filesInDoubt(proved, loaded, io)).size === 0 ? proved : [];
}

/** Returns single edits to try together: those of different merchants' own files; each of a shared file by itself. */
function trialsOf(drafts: readonly Draft[], { all }: Pick<Loaded, "all">): readonly (readonly Draft[])[] {
  const mains = new Set(all.map(({ origin }) => origin.file));
  const single = (draft: Draft): readonly Draft[] => draft.edits.map((edit) => ({ ...draft, edits: [edit] }));
  const own = drafts.filter(({ file }) => mains.has(file)).map(single);
  const rounds = Math.max(0, ...own.map(({ length }) => length));
  return [
    ...Array.from({ length: rounds }, (_, round) => own.flatMap((edits) => edits[round] ?? [])),
    ...drafts
      .filter(({ file }) => !mains.has(file))
      .flatMap(single)
      .map((one) => [one]),
  ];
}

/** Returns the edited files of merchants whose access the edits would change, or whose files they would break. */
async function filesInDoubt(
  drafts: readonly Draft[],
  { states, all }: Pick<Loaded, "states" | "all">,
  io: Io,
): Promise<ReadonlySet<string>> {
  const patches = patchesOf(drafts);
  if (patches.length === 0) return new Set();
  const edited = new Set(patches.map(({ file }) => file));
  const after = await loadPatched(patches, { states, all }, io);
  const byMerchant = new Map(after.states.map((state) => [state.merchant, state]));
  const matches = globMatcher();
  const now = io.now();
  return new Set(
    all.flatMap((before: DesiredState) => {
      const files = [before.origin.file, ...(before.included ?? [])].filter((file) => edited.has(file));
      const state = byMerchant.get(before.merchant);
      const isSame = state !== undefined && isSameAccess(before, state, now, matches);
      return files.length === 0 || isSame ? [] : files;
    }),
  );
}

function patchesOf(drafts: readonly Draft[]): readonly FilePatch[] {
  return drafts.flatMap(({ file, text, edits }) => {
    const edited = editYaml(text, edits);
    return "text" in edited && edited.text !== text ? [{ file, before: text, after: edited.text }] : [];
  });
}
