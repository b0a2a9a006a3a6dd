import { oneLine } from "../../lib/escape.ts";
import { suggest } from "../../lib/suggest.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import { RolecallError } from "../../model/errors.ts";
import { isFileError } from "./file-errors.ts";

const MAX_NAMED = 5;

/**
 * Picks merchants by their codes; none selects all. Throws RolecallError for one that is missing, unless files have
 * errors. `isPart` says that the files are those that are named or reached, and not all.
 */
export function pickMerchants<Declared extends { readonly merchant: string }>(
  states: readonly Declared[],
  merchants: readonly string[],
  diagnostics: readonly Diagnostic[],
  isPart = false,
): readonly Declared[] {
  if (merchants.length === 0) return states;
  const declared = new Set(states.map(({ merchant }) => merchant));
  const missing = merchants.filter((merchant) => !declared.has(merchant));
  if (missing.length > 0 && !diagnostics.some(isFileError)) {
    const which = isPart ? "No file that is named or reached" : "No file";
    throw new RolecallError("usage", `${which} declares merchant ${missing.join(", ")}.`, {
      hint: hintFor(missing, [...declared]),
    });
  }
  return states.filter(({ merchant }) => merchants.includes(merchant));
}

/** Suggests similar merchant codes, or else names some existing ones. */
function hintFor(missing: readonly string[], codes: readonly string[]): string {
  const near = missing.flatMap((merchant) => suggest(merchant, codes) ?? []);
  if (near.length > 0) return `Did you mean ${near.join(", ")}?`;
  const more = codes.length - MAX_NAMED;
  const rest = more > 0 ? `, and ${more} more: "rolecall list" lists them` : "";
  const declared = `The files declare ${codes.slice(0, MAX_NAMED).join(", ") || "none"}${rest}.`;
  return `${declared} To create a file from the live state: rolecall pull ${missing.join(" ")}`;
}

/** Returns the note that `--changed-since` selects no merchant; empty if that has another cause. */
export function noneChanged(
  { changedSince, merchant }: { readonly changedSince?: string; readonly merchant: readonly string[] },
  {
    states,
    diagnostics,
  }: { readonly states: readonly unknown[]; readonly diagnostics: readonly Diagnostic[] },
): string {
  if (changedSince === undefined || states.length > 0 || diagnostics.some(isFileError)) return "";
  const since = `changed since ${oneLine(changedSince)}.\n`;
  if (merchant.length === 1) return `${merchant[0]} has not ${since}`;
  return `${merchant.length === 0 ? "No merchant" : `None of ${merchant.join(", ")}`} has ${since}`;
}
