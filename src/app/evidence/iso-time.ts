/** Formats a time in ms since the epoch as ISO 8601. */
export function isoTime(time: number): string {
  return new Date(time).toISOString();
}
