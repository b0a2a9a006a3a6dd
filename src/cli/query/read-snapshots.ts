import type { FailureJson } from "../../model/events.ts";
import type { AccessSnapshot } from "../../model/questions.ts";
import { declaredSnapshot, liveSnapshot } from "../../plan/query/access-snapshot.ts";
import { diagnosticFailure } from "../../render/machine-formats.ts";
import type { OutputOptions, ServiceOptions } from "../args/options.ts";
import { isFileError } from "../files/load-states.ts";
import type { Io } from "../io/io.ts";
import { loadDeclared, planMerchants } from "../session/plan-merchants.ts";
import { plannedOnly } from "../session/session.ts";
import { showPlans } from "../show/show-plans.ts";

/** Options that select the access to read. */
export type SnapshotOptions = ServiceOptions &
  OutputOptions & {
    /** Reads what is live; absent: what the files declare. */
    readonly live?: true;
    readonly output?: string;
  };

/** The access of the selected merchants, and the files that it was read with. */
export interface ReadSnapshots {
  readonly source: AccessSnapshot["source"];
  readonly snapshots: readonly AccessSnapshot[];
  readonly sources: readonly { readonly file: string; readonly text: string }[];
  /** The reasons why merchants are missing: errors of files, and live states that could not be read. */
  readonly failures: readonly FailureJson[];
}

/** Reads the access of the selected merchants: declared, or live with its places in the files. */
export async function readSnapshots(
  paths: readonly string[],
  options: SnapshotOptions,
  io: Io,
): Promise<ReadSnapshots> {
  // Warnings about the files answer no question.
  return options.live ? readLive(paths, options, io) : readDeclared(paths, { ...options, quiet: true }, io);
}

async function readDeclared(
  paths: readonly string[],
  options: SnapshotOptions,
  io: Io,
): Promise<ReadSnapshots> {
  const { states, loaded, now } = await loadDeclared(paths, options, io);
  return {
    source: "declared",
    snapshots: states.map((state) => declaredSnapshot(state, now)),
    sources: loaded.sources,
    failures: loaded.diagnostics.filter(isFileError).map(diagnosticFailure),
  };
}

async function readLive(paths: readonly string[], options: SnapshotOptions, io: Io): Promise<ReadSnapshots> {
  const { planned, project, failures, close } = await planMerchants(paths, options, io);
  try {
    showPlans(planned, () => undefined, options, io);
    return {
      source: "live",
      snapshots: plannedOnly(planned).map(({ live, session: { state, environment } }) =>
        liveSnapshot(live, state, environment),
      ),
      sources: project.sources,
      failures,
    };
  } finally {
    await close();
  }
}
