import { InvalidArgumentError } from "commander";

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };
const LONGEST_MS = 24 * 3_600_000;

/** Parses a duration such as `90s`, `5m`, `1h`, or seconds without a unit; in milliseconds. */
export function parseDuration(text: string): number {
  const [, digits, unit = "s"] = /^(\d{1,9})([smh])?$/.exec(text) ?? [];
  const ms = Number(digits) * (UNITS[unit] ?? Number.NaN);
  if (!(ms <= LONGEST_MS)) {
    throw new InvalidArgumentError("It takes a duration such as 90s, 5m or 1h, up to 24h; 0 means once.");
  }
  return ms;
}
