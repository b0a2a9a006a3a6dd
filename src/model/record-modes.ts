/** Where runs can be recorded: nowhere, in the clone, or in its remote repository. */
export const RECORD_MODES = ["off", "local", "push"] as const;

/** A place of records of runs. */
export type RecordMode = (typeof RECORD_MODES)[number];
