import { locate } from "../../config/yaml/locate.ts";
import type { DesiredState, Origin } from "../../model/desired.ts";
import { checkText } from "../../plan/judge/checks.ts";
import type { PlaceOf } from "../../render/view/plan-view.ts";

/**
 * Returns a function that locates rules in the files, as in `access/shop.yaml:41:3`. A plan holds no locations, so that
 * moving a line changes no plan.
 */
export function ruleLocations(
  states: readonly DesiredState[],
  sources: readonly { readonly file: string; readonly text: string }[],
): PlaceOf {
  const byMerchant = new Map(states.map((state) => [state.merchant, state]));
  const texts = new Map(sources.map(({ file, text }) => [file, text]));
  const place = ({ file, path }: Origin): string | null => {
    const span = locate(texts.get(file) ?? "", path);
    return span ? `${file}:${span.line}:${span.column}` : null;
  };
  return ({ merchant }, { rule, code, check }) => {
    const state = byMerchant.get(merchant);
    if (state === undefined) return null;
    if (rule === "check") {
      const written = state.checks.find((one) => checkText(one) === check);
      return written ? place(written.origin) : null;
    }
    const path = KEYS[code];
    if (path === undefined) return null;
    // The merchant's own file first, then the others, which it may include.
    const files = [state.origin.file, ...texts.keys()];
    return files.map((file) => place({ file, path })).find((found) => found !== null) ?? null;
  };
}

/** The path of the file's key that causes a refusal, by its code. */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  "max-removals": ["guards", "max_removals"],
  protect: ["guards", "protect"],
  "min-holders": ["guards", "min_holders"],
  "email-domains": ["policies", "email_domains"],
  separate: ["policies", "separate"],
  "max-holders": ["policies", "max_holders"],
  "require-until": ["policies", "require_until"],
  "require-mfa": ["policies", "require_mfa"],
  "forbid-permissions": ["policies", "forbid_permissions"],
};
