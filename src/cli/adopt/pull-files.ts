import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Io } from "../../app/io/io.ts";
import { styleFor } from "../../app/io/terminal.ts";
import type { OutputOptions } from "../../app/project/command-options.ts";
import { isFileError, isRefusal } from "../../app/project/file-errors.ts";
import { defaultPath, sourceReader } from "../../app/project/find-files.ts";
import { type Loaded, loadStates } from "../../app/project/load-states.ts";
import { projectAccess } from "../../app/project/project-access.ts";
import { globMatcher, type PlannedMerchant } from "../../app/session/session.ts";
import { printDiagnostics } from "../../app/show/print-diagnostics.ts";
import { emptyState } from "../../edit/adopt/new-file-text.ts";
import { buildPlan } from "../../kernel/plan/build-plan.ts";
import type { ProjectAccess } from "../../kernel/read/bound-files.ts";
import { filesOf } from "../../kernel/read/files-of.ts";
import { loadMerchants } from "../../kernel/read/load-merchants.ts";
import type { ReadSource } from "../../kernel/read/load-sources.ts";
import { judgeDeclared } from "../../kernel/rules/judge-rules.ts";
import { MERCHANT } from "../../kernel/values/text-schemas.ts";
import { oneLine } from "../../lib/escape.ts";
import { suggest } from "../../lib/suggest.ts";
import { counted, listText } from "../../lib/text.ts";
import type { DesiredState } from "../../model/desired.ts";
import { RolecallError } from "../../model/errors.ts";
import type { FilePatch } from "../../show/text/patch-text.ts";
import { hangingLines } from "../../show/text/wrap.ts";

/** The merchants to pull, and the files that they may have. */
export interface PullTargets {
  readonly states: readonly DesiredState[];
  /** The merchants of every file of the project. */
  readonly all: readonly DesiredState[];
  readonly sources: Loaded["sources"];
  /** Codes of the merchants that have no file yet. */
  readonly fresh: ReadonlySet<string>;
  readonly diagnostics: Loaded["diagnostics"];
  /** No file has an error. */
  readonly valid: boolean;
}

/** Loads the files of the project, and chooses the merchants; one without a file gets `access/<code>.yaml`. */
export async function loadPullTargets(
  codes: readonly string[],
  options: Pick<OutputOptions, "color" | "quiet">,
  io: Io,
): Promise<PullTargets> {
  const loaded = await loadAll(codes, io);
  for (const code of codes) checkCode(code, loaded, io.cwd);
  printDiagnostics(loaded.diagnostics.filter(isFileError), options, io);
  const { states: allStates, sources } = loaded;
  const declared = new Map(allStates.map((state) => [state.merchant, state]));
  const selected = codes.length === 0 ? [...declared.keys()] : [...new Set(codes)];
  const fresh = selected.filter((code) => !declared.has(code));
  const states = selected.map(
    (code) => declared.get(code) ?? emptyState(code, newFile(code, loaded, io.cwd)),
  );
  const { diagnostics } = loaded;
  return {
    states,
    all: allStates,
    sources,
    fresh: new Set(fresh),
    diagnostics,
    valid: !diagnostics.some(isFileError),
  };
}

/** Throws RolecallError for anything but a code; for a path, suggests the codes of its merchants. */
function checkCode(code: string, { all: allStates }: Loaded, cwd: string): void {
  const path = resolve(cwd, code);
  const isPath = existsSync(path) && !allStates.some(({ merchant }) => merchant === code);
  if (MERCHANT.test(code) && !isPath) return;
  const shown = oneLine(code);
  const folder = oneLine(defaultPath(cwd));
  const codes = allStates
    .filter((state) => filesOf(state).some((file) => resolve(cwd, file) === path))
    .map(({ merchant }) => merchant);
  const hint = !isPath
    ? "Specify merchants by code, such as MC4F7K2P."
    : codes.length > 0
      ? `Specify merchants by code: rolecall pull ${codes.join(" ")}`
      : path === resolve(cwd, folder)
        ? `"rolecall pull" without a code updates every file in ${folder}.`
        : `pull updates the files in ${folder}, and takes merchant codes. Move the files there, or run pull in the folder that contains their access/ folder.`;
  throw new RolecallError("usage", `"${shown}" is ${isPath ? "a path, " : ""}not the code of a merchant.`, {
    hint,
  });
}

const NOTHING: Loaded = { sources: [], states: [], all: [], project: [], diagnostics: [], previousNames: [] };

/** Loads every file of the project; without any, a named merchant gets the first one. */
async function loadAll(codes: readonly string[], io: Io): Promise<Loaded> {
  const folder = resolve(io.cwd, defaultPath(io.cwd));
  if (codes.length > 0 && !existsSync(folder)) return NOTHING;
  try {
    return await loadStates([], { merchants: [], cwd: io.cwd, now: io.now() });
  } catch (error) {
    if (!(error instanceof RolecallError) || error.code !== "no-files") throw error;
    if (codes.length > 0) return NOTHING;
    throw new RolecallError("no-files", error.message, {
      hint: '"rolecall init" creates the files of the merchants that you select, and "rolecall pull CODE" creates the file of one merchant.',
    });
  }
}

/**
 * Returns the path of a merchant's new file; throws RolecallError if the merchant has, or may have, a file elsewhere.
 */
function newFile(code: string, { states, diagnostics }: Loaded, cwd: string): string {
  const file = join(defaultPath(cwd), `${code.toLowerCase()}.yaml`);
  const near = suggest(
    code,
    states.map(({ merchant }) => merchant),
  );
  if (near !== null && near.toLowerCase() === code.toLowerCase()) {
    throw new RolecallError("usage", `No file declares merchant ${code}.`, { hint: `Did you mean ${near}?` });
  }
  if (existsSync(resolve(cwd, file))) {
    const other = states.find(({ origin }) => origin.file === file)?.merchant;
    if (other !== undefined) {
      throw new RolecallError(
        "usage",
        `No file declares merchant ${code}, and ${file} exists for ${other}.`,
        {
          hint: `For that merchant, run "rolecall pull ${other}"; for another one, rename ${file} first.`,
        },
      );
    }
    throw new RolecallError("usage", `No valid file declares merchant ${code}, but ${file} already exists.`, {
      hint: `Rename ${file}, or correct its errors.`,
    });
  }
  if (diagnostics.some(isFileError)) {
    throw new RolecallError(
      "file-invalid",
      `No valid file declares merchant ${code}, and some files have errors.`,
      {
        hint: "Correct the errors first: one of the files may be that of this merchant.",
      },
    );
  }
  return file;
}

/** The part of the differences that is pulled. */
export interface PulledPart {
  readonly only?: "roles" | "members";
  readonly member: readonly string[];
  readonly adoptDrift?: true;
}

/** Returns whether a part of the differences is left out. */
export function isPart({ only, member, adoptDrift }: PulledPart): boolean {
  return only !== undefined || member.length > 0 || adoptDrift === true;
}

/** The patches that can be written. */
export interface CheckedPatches {
  readonly patches: readonly FilePatch[];
  /** Codes of the merchants whose files would have errors. */
  readonly bad: readonly string[];
}

/**
 * Loads the files as the patches would leave them, and plans again: prints the errors that they would have, and what a
 * plan would still change. Leaves out the patches of merchants whose files would have errors.
 */
export async function checkPatched(
  patches: readonly FilePatch[],
  targets: PullTargets,
  merchants: readonly PlannedMerchant[],
  options: Pick<OutputOptions, "color" | "quiet"> & PulledPart,
  io: Io,
): Promise<CheckedPatches> {
  if (patches.length === 0) return { patches, bad: [] };
  const now = io.now();
  const { states, all: allStates } = targets;
  const loaded = await loadPatched(patches, targets, io);
  const errors = loaded.diagnostics.filter(isFileError);
  if (errors.length > 0) {
    printDiagnostics(errors, options, io);
    const everyone = new Map([...allStates, ...states].map((state) => [state.merchant, state]));
    const { good, bad } = withoutBad(
      patches,
      [...everyone.values()],
      new Set(errors.map(({ file }) => file)),
    );
    const style = styleFor(io.stderr, io, options.color);
    const codes = states.length === allStates.length ? [] : states.map(({ merchant }) => merchant);
    const command = `rolecall pull${codes.map((code) => ` ${code}`).join("")}`;
    const next = isPart(options)
      ? `The parts that are left out do not match those that are pulled. Pull both with "${command}", or change the files first.`
      : "Correct these errors by hand first, then pull again.";
    const what =
      good.length === 0
        ? "nothing is written"
        : `${listText(bad)} ${bad.length === 1 ? "is" : "are"} not pulled`;
    const lines = [
      `The files would have ${counted(errors.length, "error")}, so ${what}.`,
      ...hangingLines(next, style.columns, `  ${style.cyan("→")} `, "    "),
    ];
    io.stderr.write(`${lines.join("\n")}\n`);
    const others = merchants.filter(({ live }) => !bad.includes(live.merchant));
    const rest = await checkPatched(good, targets, others, options, io);
    return { ...rest, bad: [...bad, ...rest.bad] };
  }
  const matches = globMatcher();
  for (const state of loaded.states) {
    const planned = merchants.find(({ live }) => live.merchant === state.merchant);
    if (planned === undefined || options.quiet) continue;
    const { live, plan } = planned;
    const next = buildPlan({ desired: state, live, service: plan.service, now, matches });
    if (next.changes.length === 0) continue;
    io.stderr.write(
      `${oneLine(state.merchant)}: the next plan still has ${counted(next.changes.length, "change")}.\n`,
    );
  }
  return { patches, bad: [] };
}

/** Leaves out the patches of merchants with an invalid file, and of those that share a patch with them. */
function withoutBad(
  patches: readonly FilePatch[],
  states: readonly DesiredState[],
  badFiles: ReadonlySet<string>,
): { readonly good: readonly FilePatch[]; readonly bad: readonly string[] } {
  const left = new Set(badFiles);
  const bad = new Set<string>();
  for (;;) {
    const more = states.filter(
      (state) => !bad.has(state.merchant) && filesOf(state).some((file) => left.has(file)),
    );
    if (more.length === 0) break;
    for (const state of more) {
      bad.add(state.merchant);
      for (const { file } of patches) if (filesOf(state).includes(file)) left.add(file);
    }
  }
  const good = patches.filter(({ file }) => !left.has(file));
  if (good.length < patches.length) return { good, bad: [...bad] };
  // No patch explains the errors, so none can be left out.
  const isPatched = (file: string): boolean => patches.some((patch) => patch.file === file);
  return { good: [], bad: states.flatMap((state) => (filesOf(state).some(isPatched) ? state.merchant : [])) };
}

/** Loads the files as patches would leave them. */
export async function loadPatched(
  patches: readonly FilePatch[],
  { states, all: allStates }: Pick<PullTargets, "states" | "all">,
  io: Io,
): Promise<Pick<Loaded, "states" | "diagnostics">> {
  const files = [...new Set([...allStates, ...states].map(({ origin }) => resolve(io.cwd, origin.file)))];
  const projects = (await projectAccess(files, io.cwd)).map((access) => withCreated(access, patches, io.cwd));
  const judging = { now: io.now(), judge: judgeDeclared, projects };
  const { merchants, diagnostics } = await loadMerchants(files, patchedReader(patches, io.cwd), judging);
  return { states: merchants.flatMap(({ state }) => state ?? []), diagnostics };
}

/**
 * Prints the errors that patched files have, and throws RolecallError with these words if there are any; otherwise prints the
 * rules that only the patches break, and returns whether there are any.
 */
export function requirePatched(
  after: Pick<Loaded, "diagnostics">,
  before: Pick<Loaded, "diagnostics">,
  { message, hint }: { readonly message: string; readonly hint: string },
  options: Pick<OutputOptions, "color" | "quiet">,
  io: Io,
): boolean {
  const errors = after.diagnostics.filter(isFileError);
  printDiagnostics(errors, options, io);
  if (errors.length > 0) throw new RolecallError("file-invalid", message, { hint });
  const known = new Set(before.diagnostics.map((diagnostic) => diagnostic.message));
  const broken = after.diagnostics.filter(
    (diagnostic) => isRefusal(diagnostic) && !known.has(diagnostic.message),
  );
  printDiagnostics(broken, options, io);
  return broken.length > 0;
}

/** Returns the access to projects with the files that patches would create. */
function withCreated(access: ProjectAccess, patches: readonly FilePatch[], cwd: string): ProjectAccess {
  const created = patches.flatMap(({ file, before }) =>
    before === null ? access.placesOf(resolve(cwd, file)) : [],
  );
  return {
    ...access,
    listIn: async (root, folder) => [
      ...(await access.listIn(root, folder)),
      ...created.filter((place) => place.root === root && place.path.startsWith(folder)),
    ],
  };
}

/** Reads files as the patches would leave them. */
function patchedReader(patches: readonly FilePatch[], cwd: string): ReadSource {
  const read = sourceReader(cwd);
  const texts = new Map(patches.map(({ file, after }) => [file, after]));
  const created = new Map(
    patches.flatMap(({ file, before }) => (before === null ? [[resolve(cwd, file), file] as const] : [])),
  );
  return async (path, from) => {
    const file = created.get(path);
    if (file !== undefined) return { ok: true, file, text: texts.get(file) ?? "" };
    const result = await read(path, from);
    return result.ok ? { ...result, text: texts.get(result.file) ?? result.text } : result;
  };
}
