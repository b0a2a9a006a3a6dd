import type { Io } from "../../app/io/io.ts";
import { readPastLive } from "../../app/live-branch/past-live.ts";
import { loadDeclared } from "../../app/plan/plan-merchants.ts";
import type { OutputOptions, PastTime, ServiceOptions } from "../../app/project/command-options.ts";
import { isFileError } from "../../app/project/file-errors.ts";
import { loadFilesAt } from "../../app/project/files-at.ts";
import { emptyShard, inShard } from "../../app/project/shard.ts";
import { plannedOnly } from "../../app/session/session.ts";
import { printDiagnostics } from "../../app/show/print-diagnostics.ts";
import { printUnread } from "../../app/show/show-plans.ts";
import { declaredSnapshot, liveSnapshot } from "../../ask/access/access-snapshot.ts";
import { ignoredPatterns } from "../../ask/access/ignored-access.ts";
import { RolecallError } from "../../model/errors.ts";
import type { FailureJson } from "../../model/events.ts";
import type { AccessSnapshot, IgnoredAccess } from "../../model/questions.ts";
import { diagnosticFailure, failureJson } from "../../show/machine/machine-formats.ts";
import type { AskedCommit } from "../../show/questions/answer-formats.ts";
import { withPlans } from "../progress/with-plans.ts";
import { ignoredPlanned } from "../show/write-ignored.ts";

/** Options that select the access to read. */
export type SnapshotOptions = ServiceOptions &
  OutputOptions & {
    /** Reads what is live; absent: what the files declare. */
    readonly live?: true;
    /** Reads the files, or with `live` the recorded live states, as of a time in git; absent: the current ones. */
    readonly at?: PastTime;
    readonly output?: string;
  };

/** The access of the selected merchants, and the files that it was read with. */
export interface ReadSnapshots {
  readonly source: AccessSnapshot["source"];
  readonly snapshots: readonly AccessSnapshot[];
  /** What the files ignore; if live, with the names of the matching roles and members. */
  readonly ignored: readonly IgnoredAccess[];
  readonly sources: readonly { readonly file: string; readonly text: string }[];
  /** The reasons why merchants are missing: errors of files, and live states that could not be read. */
  readonly failures: readonly FailureJson[];
  /** The commit whose files were read; `null` for the working tree. */
  readonly at: AskedCommit | null;
}

/** Reads the access of the selected merchants: declared, or live with its places in the files. */
export async function readSnapshots(
  paths: readonly string[],
  options: SnapshotOptions,
  io: Io,
): Promise<ReadSnapshots> {
  if (options.at) {
    const read = options.live ? readRecorded : readPast;
    return read(options.at, paths, options, io);
  }
  return options.live ? readLive(paths, options, io) : readDeclared(paths, options, io);
}

async function readDeclared(
  paths: readonly string[],
  options: SnapshotOptions,
  io: Io,
): Promise<ReadSnapshots> {
  const { states, loaded, now } = await loadDeclared(paths, { ...options, fileErrorsOnly: true }, io);
  return {
    source: "declared",
    snapshots: states.map((state) => declaredSnapshot(state, now)),
    ignored: ignoredPatterns(states),
    sources: loaded.sources,
    failures: loaded.diagnostics.filter(isFileError).map(diagnosticFailure),
    at: null,
  };
}

async function readPast(
  { text, moment }: PastTime,
  paths: readonly string[],
  options: SnapshotOptions,
  io: Io,
): Promise<ReadSnapshots> {
  const isDay = !text.includes("T");
  const now = Math.min(moment, io.now());
  if (moment > now && !(isDay && moment - now < DAY_MS)) {
    throw new RolecallError("usage", `--at ${text} is in the future, but git only has what was merged.`, {
      hint: "Run rolecall plan --as-of to see what ends by a later day.",
    });
  }
  const { commit, states, diagnostics, sources } = await loadFilesAt(now, paths, {
    merchants: options.merchant,
    cwd: io.cwd,
  });
  const errors = diagnostics.filter(isFileError);
  printDiagnostics(errors, options, io);
  const { shard } = options;
  const selected = inShard(states, shard);
  io.stderr.write(emptyShard(states, shard));
  return {
    source: "declared",
    snapshots: selected.map((state) => declaredSnapshot(state, now)),
    ignored: ignoredPatterns(selected),
    sources,
    failures: errors.map(diagnosticFailure),
    at: {
      time: new Date(now).toISOString(),
      commit: commit.id,
      committed: new Date(commit.time).toISOString(),
    },
  };
}

const DAY_MS = 24 * 3_600_000;

async function readRecorded(
  at: PastTime,
  paths: readonly string[],
  options: SnapshotOptions,
  io: Io,
): Promise<ReadSnapshots> {
  const { commit, moment, states, failed, sources } = await readPastLive(at, paths, options, io);
  printUnread(failed, options, io, "read");
  return {
    source: "live",
    snapshots: states.map(({ live, desired, environment }) => liveSnapshot(live, desired, environment)),
    ignored: [],
    sources,
    failures: failed.map(({ merchant, error }) => failureJson(merchant, error.failure)),
    at: {
      time: new Date(moment).toISOString(),
      commit: commit.id,
      committed: new Date(commit.time).toISOString(),
    },
  };
}

async function readLive(paths: readonly string[], options: SnapshotOptions, io: Io): Promise<ReadSnapshots> {
  return withPlans(
    paths,
    { ...options, fileErrorsOnly: true },
    io,
    async ({ planned, project, failures }) => {
      printUnread(planned, options, io, "read");
      return {
        source: "live",
        ignored: ignoredPlanned(plannedOnly(planned)),
        snapshots: plannedOnly(planned).map(({ live, session: { state, environment } }) =>
          liveSnapshot(live, state, environment),
        ),
        sources: project.sources,
        failures,
        at: null,
      };
    },
  );
}
