import type { ExitCode, Io } from "../../app/io/io.ts";
import { styleFor } from "../../app/io/terminal.ts";
import { isFileError } from "../../app/project/file-errors.ts";
import type { Loaded, LoadedWithSharers } from "../../app/project/load-states.ts";
import { globMatcher } from "../../app/session/session.ts";
import { placeFinder } from "../../app/show/find-places.ts";
import { printDiagnostics } from "../../app/show/print-diagnostics.ts";
import { isSameAccess } from "../../ask/lint/same-access.ts";
import { writeCurrentNames } from "../../edit/yaml/current-names.ts";
import { editYaml, type YamlEdit } from "../../edit/yaml/edit-yaml.ts";
import { tidyEdits } from "../../edit/yaml/tidy-edits.ts";
import { filesOf } from "../../kernel/read/files-of.ts";
import { fieldsOf, textOf, valueAt } from "../../kernel/values/values.ts";
import { parseText } from "../../kernel/yaml/to-value.ts";
import { oneLine } from "../../lib/escape.ts";
import { counted, groupByKey } from "../../lib/text.ts";
import { RolecallError } from "../../model/errors.ts";
import type { FilePatch } from "../../show/text/patch-text.ts";
import { hangingLines } from "../../show/text/wrap.ts";
import { loadPatched } from "./pull-files.ts";
import { confirmPatches } from "./pull-merchants.ts";

/** The options of `lint --fix`. */
export interface TidyOptions {
  readonly check?: true;
  readonly yes?: true;
  readonly quiet?: true;
  readonly color: boolean;
}

/**
 * Removes what has no effect from the files of the selected merchants and writes the current names of roles, after the
 * plans prove that neither changes anything, and after it is confirmed.
 */
export async function tidyFiles(loaded: LoadedWithSharers, options: TidyOptions, io: Io): Promise<ExitCode> {
  const errors = loaded.diagnostics.filter(isFileError);
  if (errors.length > 0) {
    printDiagnostics(errors, options, io);
    throw new RolecallError("file-invalid", "Some files have errors, so no fix can be verified.", {
      hint: "Correct the errors above first. Nothing was changed.",
    });
  }
  const files = new Set(loaded.states.flatMap(filesOf));
  const renamed = await currentNames(files, loaded, io);
  const drafts = loaded.sources.flatMap(({ file, text: before }): readonly Draft[] => {
    const text = renamed.texts.get(file) ?? before;
    const edits = files.has(file) ? tidyEdits(text, io.now()) : [];
    return edits.length === 0 && text === before ? [] : [{ file, before, text, edits }];
  });
  const mains = new Set(loaded.all.map(({ origin }) => origin.file));
  const provable = loaded.sharersUnknown ? drafts.filter(({ file }) => mains.has(file)) : drafts;
  const { proved, reasons } = await provedEdits(provable, loaded, io);
  const unfixable = [...renamed.left, ...unfixed(drafts, proved, reasons)];
  if (drafts.length + unfixable.length === 0) io.stdout.write("There is nothing to fix.\n");
  if (unfixable.length > 0) {
    const { columns } = styleFor(io.stderr, io, options.color);
    const more = unfixable.length - MAX_NAMED;
    const lines = [
      ...unfixable.slice(0, MAX_NAMED),
      ...(more > 0 ? [`and ${counted(more, "more place")}.`] : []),
    ];
    io.stderr.write("Not fixed, since plans could change:\n");
    io.stderr.write(`${lines.flatMap((line) => hangingLines(line, columns, "  ", "    ")).join("\n")}\n`);
  }
  const ended = new Set(loaded.diagnostics.flatMap(({ code, file }) => (code === "until-past" ? file : [])));
  if (!options.quiet && proved.some(({ file, edits }) => edits.length > 0 && ended.has(file))) {
    const { columns } = styleFor(io.stderr, io, options.color);
    io.stderr.write(`${hangingLines(APPLY_FIRST, columns, "", "  ").join("\n")}\n`);
  }
  return confirmPatches(patchesOf(proved), { ...options, format: "text" }, io);
}

const APPLY_FIRST =
  'If ended access may still be live, run "rolecall apply" first: once its entry is removed, apply --only due does not end it.';

const MAX_NAMED = 5;

/** The edits of a file. */
interface Draft {
  readonly file: string;
  readonly before: string;
  /** The text with the current names of roles, which the edits are made in. */
  readonly text: string;
  readonly edits: readonly YamlEdit[];
}

/** Files with the current names of roles, and why others keep previous ones. */
interface CurrentNames {
  readonly texts: ReadonlyMap<string, string>;
  readonly left: readonly string[];
}

/** Writes the current names of roles into some files, except where that changes a plan. */
async function currentNames(
  files: ReadonlySet<string>,
  loaded: LoadedWithSharers,
  io: Io,
): Promise<CurrentNames> {
  const texts = new Map(loaded.sources.map(({ file, text }) => [file, text]));
  const references = loaded.previousNames.filter(({ location }) => files.has(location.file));
  const patches = groupByKey(references, ({ location }) => location.file).flatMap((inFile) => {
    const { file } = inFile[0].location;
    const before = texts.get(file) ?? "";
    const after = writeCurrentNames(before, inFile);
    return after === before ? [] : [{ file, before, after }];
  });
  const mains = new Set(loaded.all.map(({ origin }) => origin.file));
  const isProvable = ({ file }: FilePatch): boolean => !loaded.sharersUnknown || mains.has(file);
  const doubtful = await filesInDoubt(patches.filter(isProvable), loaded, io);
  const proved = patches.filter((patch) => isProvable(patch) && !doubtful.has(patch.file));
  return {
    texts: new Map(proved.map(({ file, after }) => [file, after])),
    left: patches.flatMap(({ file }) => {
      const merchants = doubtful.get(file);
      if (merchants !== undefined)
        return oneLine(`${file} previous names: ${otherPlans(merchants, "with current ones")}.`);
      return proved.some((draft) => draft.file === file)
        ? []
        : oneLine(`${file} previous names: ${SHARER_ERRORS}.`);
    }),
  };
}

const SHARER_ERRORS = "a file that may include it has errors";

function countEdits(drafts: readonly Draft[]): number {
  return drafts.reduce((sum, { edits }) => sum + edits.length, 0);
}

/** Returns what is left as it is: each location with its entry, and the reason. */
function unfixed(
  drafts: readonly Draft[],
  proved: readonly Draft[],
  reasons: ReadonlyMap<YamlEdit, string>,
): readonly string[] {
  const fixed = new Set(proved.flatMap(({ edits }) => edits));
  const { entry } = placeFinder(drafts);
  return drafts.flatMap(({ file, text, edits }) => {
    const { value } = parseText(text);
    return edits
      .filter((edit) => !fixed.has(edit))
      .map((edit) => {
        const line = entry({ file, path: edit.path })?.line;
        const name = nameAt(value, edit.path);
        const place = `${file}${line === undefined ? "" : `:${line}`}${name === "" ? "" : ` ${name}`}`;
        return oneLine(`${place}: ${reasons.get(edit) ?? SHARER_ERRORS}.`);
      });
  });
}

/** Returns the names of the entry at a path, and of its grant, such as `ada@example.com Lead`. */
function nameAt(value: unknown, path: YamlEdit["path"]): string {
  const names = path.map((_, index) => {
    const inner = valueAt(value, path.slice(0, index + 1));
    const { email, name, role } = fieldsOf(inner);
    return textOf(email) ?? textOf(name) ?? textOf(role) ?? textOf(inner) ?? "";
  });
  return names.filter((name) => name !== "").join(" ");
}

/** Edits that are proven to be safe, and the reasons why others are not. */
interface Proof {
  readonly proved: readonly Draft[];
  readonly reasons: ReadonlyMap<YamlEdit, string>;
}

/** Returns the drafts with the edits that change nobody's access: all of them, or those that are proven one by one. */
async function provedEdits(drafts: readonly Draft[], loaded: Loaded, io: Io): Promise<Proof> {
  const reasons = new Map<YamlEdit, string>();
  const possible = drafts.map((draft) => {
    if ("text" in editYaml(draft.text, draft.edits)) return draft;
    // Each attempt reads the file again.
    const edits = draft.edits.filter((edit) => {
      const edited = editYaml(draft.text, [edit]);
      if ("refused" in edited) reasons.set(edit, edited.refused);
      return "text" in edited;
    });
    return { ...draft, edits };
  });
  if (countEdits(possible) === 0) return { proved: possible, reasons };
  const unproved = await filesInDoubt(patchesOf(possible), loaded, io);
  if (unproved.size === 0) return { proved: possible, reasons };
  const clear = possible.filter(({ file }) => !unproved.has(file));
  const doubtful = possible.filter(({ file }) => unproved.has(file));
  const kept = new Map<string, YamlEdit[]>();
  for (const some of trialsOf(doubtful, loaded)) {
    const wrong = await filesInDoubt(patchesOf(some), loaded, io);
    for (const { file, edits } of some) {
      const merchants = wrong.get(file);
      if (merchants === undefined) kept.set(file, [...(kept.get(file) ?? []), ...edits]);
      else for (const edit of edits) reasons.set(edit, otherPlans(merchants));
    }
  }
  const proved = [...clear, ...doubtful.map((draft) => ({ ...draft, edits: kept.get(draft.file) ?? [] }))];
  const together = await filesInDoubt(patchesOf(proved), loaded, io);
  if (together.size === 0) return { proved, reasons };
  for (const edit of proved.flatMap(({ edits }) => edits)) {
    reasons.set(edit, otherPlans([...together.values()].flat()));
  }
  return { proved: proved.map((draft) => ({ ...draft, edits: [] })), reasons };
}

function otherPlans(merchants: readonly string[], how = "without it"): string {
  const codes = [...new Set(merchants)];
  const more = codes.length - MAX_NAMED;
  const rest = more > 0 ? ` and ${counted(more, "more merchant")}` : "";
  return `${how}, the plan of ${codes.slice(0, MAX_NAMED).join(", ")}${rest} would differ`;
}

/** Returns single edits to try together: those of different merchants' own files; each of a shared file by itself. */
function trialsOf(
  drafts: readonly Draft[],
  { all: allStates }: Pick<Loaded, "all">,
): readonly (readonly Draft[])[] {
  const mains = new Set(allStates.map(({ origin }) => origin.file));
  const single = (draft: Draft): readonly Draft[] => draft.edits.map((edit) => ({ ...draft, edits: [edit] }));
  const ownDrafts = drafts.filter(({ file }) => mains.has(file)).map(single);
  const rounds = Math.max(0, ...ownDrafts.map(({ length }) => length));
  return [
    ...Array.from({ length: rounds }, (_, round) => ownDrafts.flatMap((edits) => edits[round] ?? [])),
    ...drafts
      .filter(({ file }) => !mains.has(file))
      .flatMap(single)
      .map((draft) => [draft]),
  ];
}

/** Returns the edited files that would change the access of merchants, or break their files, with these merchants. */
async function filesInDoubt(
  patches: readonly FilePatch[],
  { states, all: allStates }: Pick<Loaded, "states" | "all">,
  io: Io,
): Promise<ReadonlyMap<string, readonly string[]>> {
  if (patches.length === 0) return new Map();
  const edited = new Set(patches.map(({ file }) => file));
  const after = await loadPatched(patches, { states, all: allStates }, io);
  const byMerchant = new Map(after.states.map((state) => [state.merchant, state]));
  const matches = globMatcher();
  const now = io.now();
  const doubted = new Map<string, string[]>();
  for (const before of allStates) {
    const files = filesOf(before).filter((file) => edited.has(file));
    if (files.length === 0) continue;
    const state = byMerchant.get(before.merchant);
    if (state !== undefined && isSameAccess(before, state, now, matches)) continue;
    for (const file of files) doubted.set(file, [...(doubted.get(file) ?? []), before.merchant]);
  }
  return doubted;
}

function patchesOf(drafts: readonly Draft[]): readonly FilePatch[] {
  return drafts.flatMap(({ file, before, text, edits }) => {
    const edited = editYaml(text, edits);
    return "text" in edited && edited.text !== before ? [{ file, before, after: edited.text }] : [];
  });
}
