import type { Duration, From, Until } from "../../model/desired.ts";

const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;

const TIMESTAMP =
  /^(\d{4})-(\d\d)-(\d\d)[Tt]([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))$/;

/** The pattern of an end in the JSON Schema, which does not check the days of a month. */
export const UNTIL_PATTERN =
  "^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])([Tt]([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d{1,9})?([Zz]|[+-]([01]\\d|2[0-3]):[0-5]\\d))?$";

const DAY = 86_400_000;

/** Parses an end: a date includes its whole day in UTC, an RFC 3339 timestamp is that instant; null if neither. */
export function parseUntil(text: string): Until | null {
  const start = parseFrom(text);
  return start === null ? null : { text, ends: start.starts + (DATE.test(text) ? DAY : 0) };
}

/** Parses a beginning: a date means the start of that day in UTC, an RFC 3339 timestamp that instant; null if neither. */
export function parseFrom(text: string): From | null {
  const date = DATE.exec(text);
  if (date !== null) {
    const day = dayNumber(date);
    return day === null ? null : { text, starts: day * DAY };
  }
  const stamp = TIMESTAMP.exec(text);
  const day = stamp && dayNumber(stamp);
  if (stamp === null || day === null) {
    return null;
  }
  const [, , , , hours, minutes, seconds, fraction = "", sign, zoneHours = 0, zoneMinutes = 0] = stamp;
  const time = (Number(hours) * 60 + Number(minutes)) * 60_000 + Number(seconds) * 1000;
  const zone = (Number(zoneHours) * 60 + Number(zoneMinutes)) * (sign === "-" ? -60_000 : 60_000);
  return { text, starts: day * DAY + time + Number(fraction.slice(0, 3).padEnd(3, "0")) - zone };
}

/** Returns why a text is not an end: no such day, no time zone, or another format. */
export function untilMistake(text: string): "day" | "zone" | "form" {
  if (parseUntil(`${text}Z`) !== null) {
    return "zone";
  }
  return DATE.test(text.slice(0, 10)) && dayNumber(DATE.exec(text.slice(0, 10)) ?? []) === null
    ? "day"
    : "form";
}

/** Returns the number of days in a month (1 to 12), 0 for any other month. */
export function daysInMonth(year: number, month: number): number {
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0;
}

/** Returns the days since 1970-01-01 in the Gregorian calendar; null if there is no such day. */
function dayNumber([, years, months, days]: readonly string[]): number | null {
  const [year, month, day] = [Number(years), Number(months), Number(days)];
  if (day < 1 || day > daysInMonth(year, month)) {
    return null;
  }
  // Counted in years that begin in March, so that a leap day is the last of its year.
  const y = month > 2 ? year : year - 1;
  const century = Math.floor(y / 400);
  const yearOfCentury = y - century * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfCentury =
    yearOfCentury * 365 + Math.floor(yearOfCentury / 4) - Math.floor(yearOfCentury / 100) + dayOfYear;
  return century * 146_097 + dayOfCentury - 719_468;
}

const HOUR = 3_600_000;

const UNITS: Readonly<Record<string, number>> = { w: 168 * HOUR, d: 24 * HOUR, h: HOUR };

/** Parses a number of weeks, days or hours; null for another text. */
export function parsePeriod(text: string): Duration | null {
  const [, number, unit = ""] = /^([1-9]\d{0,4})([wdh])$/.exec(text) ?? [];
  return number === undefined ? null : { text, ms: Number(number) * (UNITS[unit] ?? 0) };
}
