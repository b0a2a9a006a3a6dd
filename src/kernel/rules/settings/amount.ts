import * as z from "zod/mini";
import type { Amount } from "../../../model/desired.ts";
import { count, matching, SHARE } from "../../values/text-schemas.ts";
import { countOf } from "../../values/values.ts";
import type { SettingLimit } from "./setting-kinds.ts";

/** A count, or a percentage such as 5%. */
export const amountSchema = z.union([count("bad-limit"), matching(SHARE, "bad-limit")]);

/** Parses a count or a percentage; `null` for anything else. */
export function parseAmount(written: unknown): Amount | null {
  const number = countOf(written);
  if (number !== null) return { count: number };
  const percent = typeof written === "string" ? Number.parseInt(written, 10) : Number.NaN;
  return Number.isNaN(percent) ? null : { percent };
}

/** Returns an amount as written in files. */
export function amountText(amount: Amount): string {
  return "count" in amount ? String(amount.count) : `${amount.percent}%`;
}

/** Returns the number that an amount allows out of a total; a percentage above 0% allows at least `least`. */
export function allowedOf(amount: Amount, total: number, least: number): number {
  if ("count" in amount) return amount.count;
  return amount.percent === 0 ? 0 : Math.max(Math.floor((total * amount.percent) / 100), least);
}

/** Returns whether an amount may allow more than another, for some total. */
export function isMore(before: Amount, after: Amount, least: number): boolean {
  if ("percent" in before && "percent" in after) return after.percent > before.percent;
  if ("count" in before && "count" in after) return after.count > before.count;
  // A percentage above 0 always allows a few.
  if ("percent" in before)
    return before.percent < 100 && "count" in after && after.count > (before.percent === 0 ? 0 : least);
  return "percent" in after && after.percent > 0;
}

/** Returns the least of several counts, or of several percentages; `undefined` if there are none. */
export function leastOf(written: readonly unknown[]): Amount | undefined {
  return leastAmount(written.flatMap((value) => parseAmount(value) ?? []));
}

/** Returns the least of several counts, or of several percentages; validation rejects a mixture. */
export function leastAmount(amounts: readonly Amount[]): Amount | undefined {
  return amounts.toSorted((a, b) => numberOf(a) - numberOf(b))[0];
}

function numberOf(amount: Amount): number {
  return "count" in amount ? amount.count : amount.percent;
}

/** Returns the amount at a path of a setting as a limit; a smaller one is stricter. */
export function amountLimit(
  path: SettingLimit["path"],
  role: string | null,
  written: unknown,
): readonly SettingLimit[] {
  const amount = parseAmount(written);
  if (amount === null) return [];
  const unit = "count" in amount ? "count" : "share";
  return [{ path, role, unit, value: written, strictness: -numberOf(amount), stricter: "less" }];
}
