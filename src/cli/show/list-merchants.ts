import type { ExitCode, Io } from "../../app/io/io.ts";
import { styleFor } from "../../app/io/terminal.ts";
import { changedFiles, type RemovedMerchant } from "../../app/project/changed-since.ts";
import type { OutputOptions } from "../../app/project/command-options.ts";
import { declaredDiagnostics } from "../../app/project/declared-diagnostics.ts";
import { readMerchants } from "../../app/project/declared-merchants.ts";
import { defaultPath } from "../../app/project/find-files.ts";
import { jobMatrix } from "../../app/project/job-matrix.ts";
import { noneChanged, pickMerchants } from "../../app/project/pick-merchants.ts";
import { openIndex } from "../../app/project/project-index.ts";
import { selectFiles } from "../../app/project/select-files.ts";
import { emptyShard, inShard, type Shard } from "../../app/project/shard.ts";
import { writeAnswer } from "../../app/show/write-document.ts";
import type { Addressed } from "../../model/desired.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import type { Document } from "../../show/blocks/block.ts";
import { diagnosticFailure } from "../../show/machine/machine-formats.ts";
import { renderDiagnostics } from "../../show/text/diagnostics-text.ts";
import { findRemoved, warnUnmanaged } from "./unmanaged-merchants.ts";

/** The options of `list`. */
export type ListCommandOptions = OutputOptions & {
  readonly merchant: readonly string[];
  readonly shard?: Shard;
  readonly changedSince?: string;
  readonly using?: string;
  readonly jobs: number;
};

/** Prints the merchants of the files, or as JSON a workflow matrix of them. */
export async function listMerchants(
  paths: readonly string[],
  options: ListCommandOptions,
  io: Io,
): Promise<ExitCode> {
  const { shard, merchant: codes, using, jobs, color } = options;
  const isWhole = codes.length === 0 && using === undefined;
  const removed = isWhole ? findRemoved(paths, options, io) : [];
  const {
    merchants: declared,
    diagnostics: errors,
    unmanaged,
  } = await selectMerchants(paths, options, io.cwd);
  if (errors.length > 0) {
    io.stderr.write(`${renderDiagnostics(errors, styleFor(io.stderr, io, color))}\n`);
  }
  const listed = inShard(declared, shard);
  io.stderr.write(
    emptyShard(declared, shard) || noneChanged(options, { states: declared, diagnostics: errors }),
  );
  if (isWhole)
    warnUnmanaged(await removed, { states: declared, ...(unmanaged && { unmanaged }) }, options, io);
  const rowsWith = (none: string): readonly (readonly string[])[] =>
    listed.map(({ merchant, environment, origin }) => [merchant, environment ?? none, origin.file]);
  const answer = {
    // One line, as the output of a step takes it.
    json: () => `${JSON.stringify(jobMatrix(listed, jobs))}\n`,
    table: () => ({ columns: ["merchant", "environment", "file"], rows: rowsWith("") }),
    caveats: [],
    report: (): Document => [[{ kind: "grid", heads: [], rows: rowsWith("-").map((cells) => ({ cells })) }]],
  };
  return writeAnswer(answer, errors.map(diagnosticFailure), options, io);
}

interface SelectedMerchants {
  readonly merchants: readonly Addressed[];
  readonly diagnostics: readonly Diagnostic[];
  /** The merchants that no file declares any more; absent unless compared with a commit. */
  readonly unmanaged?: readonly RemovedMerchant[];
}

/** Selects the merchants that the options name. */
async function selectMerchants(
  paths: readonly string[],
  { merchant: codes, using, changedSince }: ListCommandOptions,
  cwd: string,
): Promise<SelectedMerchants> {
  const index = openIndex(cwd);
  const { files, some, shared } = await selectFiles(paths, {
    cwd,
    index,
    ...(using !== undefined && { using }),
  });
  const pickFrom = async (files: readonly string[]) => {
    const declared = await readMerchants(files, codes, index, cwd);
    const diagnostics = declaredDiagnostics(declared);
    return {
      merchants: pickMerchants(declared.merchants, codes, diagnostics, shared.length > 0),
      diagnostics,
    };
  };
  if (changedSince === undefined) return pickFrom(some);
  const declared = codes.length === 0 ? [] : await Promise.all(files.map(index.merchantIn));
  if (codes.some((code) => !declared.includes(code))) await pickFrom(files);
  const selectedPaths = paths.length > 0 ? paths : [defaultPath(cwd)];
  const since = await changedFiles(
    changedSince,
    { paths: selectedPaths, files: some, all: files },
    index,
    cwd,
  );
  since.close();
  const isPicked = ({ merchant }: { readonly merchant: string }): boolean =>
    codes.length === 0 || codes.includes(merchant);
  const changed = await readMerchants(since.files, [], index, cwd);
  return {
    merchants: changed.merchants.filter(isPicked),
    diagnostics: declaredDiagnostics(changed),
    unmanaged: since.removed.filter(isPicked),
  };
}
