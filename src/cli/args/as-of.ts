import { InvalidArgumentError } from "commander";

/** Parses `--as-of`: a day, from whose beginning on (UTC) a plan is made, or a moment; in milliseconds since the epoch. */
export function parseAsOf(text: string): number {
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text);
  const isMoment = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/.test(text);
  const time = isDay || isMoment ? Date.parse(text) : Number.NaN;
  const exists = !isDay || Number.isNaN(time) || new Date(time).toISOString().startsWith(text);
  if (Number.isNaN(time) || !exists) {
    throw new InvalidArgumentError(
      "It takes a day such as 2027-02-01, or a moment such as 2027-02-01T08:00:00Z.",
    );
  }
  return time;
}
