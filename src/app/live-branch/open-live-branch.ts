import { oneLine } from "../../lib/escape.ts";
import type { DesiredState } from "../../model/desired.ts";
import { RolecallError } from "../../model/errors.ts";
import type { Io } from "../io/io.ts";
import type { LiveBranch } from "./live-branch.ts";
import type { RecorderOutput, RecordLive } from "./record-live.ts";

type States = readonly Pick<DesiredState, "projects">[];

/** Returns the branch of live states that the projects of merchants name; `null` for none. */
export function liveBranchName(states: States): string | null {
  const names = states.flatMap(({ projects = [] }) => projects.flatMap(({ liveBranch }) => liveBranch ?? []));
  return names[0] ?? null;
}

/**
 * Opens the branch that the projects of merchants name; undefined if there is none, or if it cannot be reached, which is a
 * warning that begins with `lack`.
 */
export async function openLiveBranch(
  states: States,
  lack: string,
  warn: (text: string) => void,
  io: Pick<Io, "cwd" | "env" | "now" | "sleep">,
): Promise<LiveBranch | undefined> {
  const name = liveBranchName(states);
  if (name === null) return undefined;
  // Most projects have no such branch, and need no code for git.
  const { openNamedBranch } = await import("./live-branch.ts");
  try {
    return await openNamedBranch(io, name);
  } catch (error) {
    if (!(error instanceof RolecallError)) throw error;
    warn(`${lack} ${oneLine(error.message)}`);
    return undefined;
  }
}

/** Opens the recorder of merchants; undefined if their projects name no branch, or it cannot be reached. */
export async function openLiveRecorder(
  states: States,
  output: RecorderOutput,
  io: Pick<Io, "cwd" | "env" | "now" | "sleep">,
): Promise<RecordLive | undefined> {
  const branch = await openLiveBranch(states, "Live states cannot be recorded.", output.warn, io);
  return branch && (await import("./record-live.ts")).liveRecorder(branch, output, io);
}
