import { oneLine } from "../../lib/escape.ts";
import type { DesiredState } from "../../model/desired.ts";
import { renderDiagnostics } from "../../render/text/diagnostics-text.ts";
import type { OutputOptions } from "../args/options.ts";
import { emptyShard, isInShard, type Shard } from "../args/shard.ts";
import { ExitCode } from "../exit-code.ts";
import { isFileError, loadStates } from "../files/load-states.ts";
import { warnRemovedMerchants } from "../files/removed-merchants.ts";
import type { Io } from "../io/io.ts";
import { styleFor } from "../io/output.ts";
import { jobMatrix } from "./job-matrix.ts";

/** The options of `list`. */
export type ListCommandOptions = OutputOptions & {
  readonly merchant: readonly string[];
  readonly shard?: Shard;
  readonly jobs: number;
};

/** Prints the merchants of the files, or as JSON a workflow matrix of them. */
export async function listMerchants(
  paths: readonly string[],
  { shard, merchant: merchants, jobs, format, color }: ListCommandOptions,
  io: Io,
): Promise<ExitCode> {
  const loaded = await loadStates(paths, { merchants, cwd: io.cwd, now: io.now() });
  const errors = loaded.diagnostics.filter(isFileError);
  if (errors.length > 0) {
    io.stderr.write(`${renderDiagnostics(errors, styleFor(io.stderr, io, color))}\n`);
  }
  const states = shard ? loaded.states.filter((state) => isInShard(state.merchant, shard)) : loaded.states;
  if (shard && states.length === 0 && loaded.states.length > 0) io.stderr.write(emptyShard(shard));
  if (merchants.length === 0) {
    const present = loaded.states.map((state) => state.merchant);
    await warnRemovedMerchants(paths, present, { ...(shard && { shard }) }, io);
  }
  io.stdout.write(format === "json" ? `${JSON.stringify(jobMatrix(states, jobs))}\n` : table(states));
  return errors.length > 0 ? ExitCode.failed : ExitCode.ok;
}

function table(states: readonly DesiredState[]): string {
  const rows = states.map(({ merchant, environment, origin }) => [
    merchant,
    environment ?? "-",
    oneLine(origin.file),
  ]);
  const widthOf = (column: number): number => Math.max(0, ...rows.map((row) => row[column]?.length ?? 0));
  const widths = [widthOf(0), widthOf(1)];
  return rows
    .map((row) => `${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ")}\n`)
    .join("");
}
