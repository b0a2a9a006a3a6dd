import type { OutputLoss } from "./io.ts";

/** Whether the reader of a pipe has merely left, as in `rolecall plan | head`. */
export function hasNoReader({ code }: OutputLoss): boolean {
  return code === "EPIPE";
}

const REASONS: Readonly<Record<string, string>> = {
  EPIPE: "nobody reads it any more",
  ENOSPC: "no space is left on the device",
  EDQUOT: "the disk quota is used up",
};

/** "stdout cannot be written: no space is left on the device". */
export function describeLoss({ stream, code }: OutputLoss): string {
  return `${stream} cannot be written: ${REASONS[code] ?? code}`;
}
