import * as z from "zod/mini";
import { DEFAULT_REMOVAL_LIMIT, type RemovalLimit } from "../../../model/desired.ts";
import { count, matching, optional, SHARE } from "../../values/text-schemas.ts";
import { countOf } from "../../values/values.ts";
import type { GuardSetting, SettingKind } from "./setting-kinds.ts";

const removalLimit: SettingKind<RemovalLimit | undefined> = {
  /** Returns the least of several counts, or of several shares. */
  combine(written) {
    const numberOf = (limit: unknown): number => Number.parseInt(String(limit), 10);
    const [least] = written.toSorted((a, b) => numberOf(a) - numberOf(b));
    if (least === undefined) return undefined;
    return typeof least === "number" ? { count: least } : { percent: numberOf(least) };
  },
  renamed: (value) => value,
  meaning: (value = DEFAULT_REMOVAL_LIMIT) => value,
  readable: (written) => written,
  names: () => [],
  lists: () => [],
  keys: () => [],
  limits(written) {
    const number = countOf(written);
    const share = typeof written === "string" ? Number.parseInt(written, 10) : Number.NaN;
    const [unit, limit] = number === null ? ["share", share] : ["count", number];
    return Number.isNaN(limit)
      ? []
      : [{ path: [], role: null, unit, value: written, strictness: -limit, stricter: "less" }];
  },
};

export const maxRemovalsSetting = {
  section: "guards",
  key: "max_removals",
  schema: optional(z.union([count("bad-removal-limit"), matching(SHARE, "bad-removal-limit")]), {
    title: "Most removals",
    description:
      "How many roles, and how many members, one apply may remove or take something from: a count, or a share of what is live such as 25%, which allows at least 3 (0% allows none).",
    default: "25%",
    examples: ["25%", 10],
  }),
  kind: removalLimit,
  overrides: { "max-removals": "[0-9]+" },
} as const satisfies GuardSetting<RemovalLimit | undefined>;
