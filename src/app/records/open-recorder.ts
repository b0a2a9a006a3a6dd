import type { RecordMode } from "../../model/record-modes.ts";
import type { Io } from "../io/io.ts";
import { recordSetting } from "./record-setting.ts";
import type { RunRecorder } from "./run-recorder.ts";
import { signingKey } from "./signing-key.ts";

/** Options of the commands that record runs. */
export interface RecordOptions {
  /** Absent: that of the project's file, else `off`. */
  readonly records?: RecordMode;
  /** Records also in a repository that everybody can read. */
  readonly allowPublic?: true;
}

/**
 * Opens the recorder of a run; undefined if it is not to be recorded. Throws RolecallError if there is no repository to
 * record in, or everybody can read it.
 */
export async function openRecorder(
  { records, allowPublic }: RecordOptions,
  say: (text: string) => void,
  io: Io,
): Promise<RunRecorder | undefined> {
  const mode = records ?? (await recordSetting(io.cwd)) ?? "off";
  if (mode === "off") return undefined;
  // A bad key is known before anything is changed.
  signingKey(io.env);
  const { RECORD_REFS, recordPlace, requirePrivate, withRunRecords } = await import("./record-place.ts");
  const { jobActor, runRecorder } = await import("./run-recorder.ts");
  const place = await recordPlace(mode, io);
  if (!allowPublic) await requirePrivate(place, io);
  const open: Parameters<typeof runRecorder>[0]["open"] = (use) => withRunRecords(place, io, use);
  const warn = (text: string): void => say(`warning: ${text}`);
  return runRecorder(
    { open, place: place.name, refs: RECORD_REFS, pulls: [], actor: jobActor(io.env), say, warn },
    io,
  );
}
