import { libraryIo } from "../app/io/node-io.ts";
import { loadStates } from "../app/project/load-states.ts";
import type { DesiredState } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";

/** Options for loading merchants' files. */
export interface LoadMerchantsOptions {
  /** Folder that relative paths start from; absent: the working directory. */
  readonly cwd?: string;
  /** Codes of merchants to load; absent: all. */
  readonly merchants?: readonly string[];
  /** Selects the merchants whose resolved state differs from that of this git commit; absent: all. */
  readonly changedSince?: string;
  /** Time that end dates are compared with, in ms since the epoch; absent: now. */
  readonly now?: number;
}

/** The merchants of files, and every problem of these files. */
export interface FilesRead {
  /** The valid merchants with their includes resolved, sorted by code. */
  readonly merchants: readonly DesiredState[];
  /** All merchants that rules across merchants count; empty without such rules. */
  readonly project: readonly DesiredState[];
  /** Sorted by file, line and column; a file with an error other than a refusal has no merchant. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Reads merchants' files and all that they include, from files and folders; an invalid file is a diagnostic.
 *
 * @param paths - A file or folder, or a list of these; empty: the folder `access/`. A shared file stands for the merchants that include it.
 * @throws RolecallError with the code `no-files` or `file-unreadable` if a path cannot be read, and `usage` if no file
 * declares one of the merchants.
 * @throws TypeError if the paths or the merchants are something else.
 */
export async function loadMerchantFiles(
  paths: string | readonly string[] = [],
  options: LoadMerchantsOptions = {},
): Promise<FilesRead> {
  const { merchants = [], changedSince, now, ...where } = options;
  const list = typeof paths === "string" ? [paths] : paths;
  checkTexts(list, "paths", "a path or a list of paths");
  checkTexts(merchants, "merchants", "a list of codes");
  const io = libraryIo(where);
  const loaded = await loadStates(list, {
    cwd: io.cwd,
    merchants,
    now: now ?? io.now(),
    ...(changedSince !== undefined && { changedSince }),
  });
  return { merchants: loaded.states, project: loaded.project, diagnostics: loaded.diagnostics };
}

/** Throws TypeError for an argument that is not a list of texts, whatever its type says. */
function checkTexts(value: unknown, name: string, expected: string): void {
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) return;
  throw new TypeError(`${name} must be ${expected}`);
}
