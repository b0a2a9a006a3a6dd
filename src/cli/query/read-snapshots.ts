import type { FailureJson } from "../../model/events.ts";
import type { AccessSnapshot } from "../../model/questions.ts";
import { declaredSnapshot } from "../../plan/query/access-snapshot.ts";
import { diagnosticFailure } from "../../render/machine-formats.ts";
import type { OutputOptions, ServiceOptions } from "../args/options.ts";
import { isFileError } from "../files/load-states.ts";
import type { Io } from "../io/io.ts";
import { loadDeclared } from "../session/plan-merchants.ts";

/** The access of the selected merchants, and the files that it was read with. */
export interface ReadSnapshots {
  readonly snapshots: readonly AccessSnapshot[];
  readonly sources: readonly { readonly file: string; readonly text: string }[];
  /** Errors of files, for which merchants are missing. */
  readonly failures: readonly FailureJson[];
}

/** Reads the access of the selected merchants. */
export async function readSnapshots(
  paths: readonly string[],
  options: ServiceOptions & OutputOptions & { readonly output?: string },
  io: Io,
): Promise<ReadSnapshots> {
  const { states, loaded, now } = await loadDeclared(paths, { ...options, quiet: true }, io);
  return {
    snapshots: states.map((state) => declaredSnapshot(state, now)),
    sources: loaded.sources,
    failures: loaded.diagnostics.filter(isFileError).map(diagnosticFailure),
  };
}
