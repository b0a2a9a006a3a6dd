/** Where runs can be recorded: nowhere, in the clone, or in its remote repository. */
export const RECORD_MODES = ["off", "local", "push"] as const;

/** Where runs are recorded. */
export type RecordMode = (typeof RECORD_MODES)[number];
