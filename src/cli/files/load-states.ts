import { type LoadedMerchants, loadMerchants } from "../../config/load-merchants.ts";
import type { LoadHooks } from "../../config/load-sources.ts";
import { suggest } from "../../lib/suggest.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import { RolecallError } from "../../model/errors.ts";
import { judgeDeclared } from "../../plan/judge/judge-declared.ts";
import { checkOutputs } from "../io/output.ts";
import { findYamlFiles, namesProject, sourceReader } from "./find-files.ts";

/** The parsed files with their diagnostics. */
export interface Loaded {
  /** Every file that was read, including included ones, each once. */
  readonly sources: readonly { readonly file: string; readonly text: string }[];
  /** The selected valid merchants, sorted by code. */
  readonly states: readonly DesiredState[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Options for loading files. */
export interface LoadOptions {
  /** Selects merchants by code; empty selects all. */
  readonly merchants: readonly string[];
  readonly cwd: string;
  /** Time against which end dates are compared, in ms since the epoch. */
  readonly now: number;
  /** Paths of results, which must be neither any of the files nor one of `inputs`. */
  readonly outputs?: readonly (string | undefined)[];
  readonly inputs?: readonly string[];
  /** What else goes on while files are read; absent: nothing. */
  readonly hooks?: LoadHooks;
}

/** Reads and checks the files below the paths, with all that they include. */
export async function loadStates(paths: readonly string[], options: LoadOptions): Promise<Loaded> {
  const { merchants, cwd, outputs = [], inputs = [] } = options;
  const files = await findYamlFiles(paths, cwd);
  const loaded = await load(files, namesProject(paths, cwd), options);
  if (outputs.some((path) => path !== undefined)) {
    const sources = loaded.sources.map(({ file }) => file);
    checkOutputs(outputs, [...files, ...sources, ...inputs], cwd);
  }
  const states = loaded.merchants
    .flatMap(({ state }) => state ?? [])
    .sort((a, b) => (a.merchant < b.merchant ? -1 : 1));
  const { diagnostics, sources } = loaded;
  return { sources, states: pick(states, merchants, diagnostics), diagnostics };
}

async function load(
  files: readonly string[],
  wholeProject: boolean,
  { cwd, now, hooks }: LoadOptions,
): Promise<LoadedMerchants> {
  return loadMerchants(files, sourceReader(cwd), {
    now,
    judge: judgeDeclared,
    wholeProject,
    ...(hooks && { hooks }),
  });
}

function pick(
  states: readonly DesiredState[],
  merchants: readonly string[],
  diagnostics: readonly Diagnostic[],
): readonly DesiredState[] {
  if (merchants.length === 0) return states;
  const known = new Set(states.map(({ merchant }) => merchant));
  const missing = merchants.filter((merchant) => !known.has(merchant));
  if (missing.length > 0 && !diagnostics.some(isFileError)) {
    throw new RolecallError("usage", `No file declares merchant ${missing.join(", ")}.`, {
      hint: hintFor(missing, [...known]),
    });
  }
  return states.filter(({ merchant }) => merchants.includes(merchant));
}

const MAX_NAMED = 5;

/** Suggests similar merchant codes, else names some existing ones. */
function hintFor(missing: readonly string[], known: readonly string[]): string {
  const near = missing.flatMap((merchant) => suggest(merchant, known) ?? []);
  if (near.length > 0) return `Did you mean ${near.join(", ")}?`;
  const more = known.length - MAX_NAMED;
  const rest = more > 0 ? `, and ${more} more: "rolecall list" lists them` : "";
  return `The files declare ${known.slice(0, MAX_NAMED).join(", ") || "none"}${rest}.`;
}

/** Returns whether a diagnostic makes its file unusable; a refusal does not. */
export function isFileError({ severity, refusal }: Diagnostic): boolean {
  return severity === "error" && !refusal;
}

/** Returns whether a diagnostic reports that a file breaks its own policies or checks. */
export function isRefusal({ severity, refusal }: Diagnostic): boolean {
  return severity === "error" && refusal === true;
}
