import * as z from "zod/mini";
import { isLiteralGlob } from "../../../lib/glob.ts";
import type { GainLimits } from "../../../model/desired.ts";
import { optional, ROLE_ID, text } from "../../values/text-schemas.ts";
import { fieldsOf } from "../../values/values.ts";
import { amountLimit, amountSchema, leastAmount, parseAmount } from "./amount.ts";
import { SENSITIVE } from "./sensitive.ts";
import { type GuardSetting, PEOPLE_OVERRIDE, type SettingKind } from "./setting-kinds.ts";

/** Limits on gains, by what is gained. */
const gainLimitsSchema = z.record(
  text(),
  z.union([amountSchema, z.strictObject({ at_most: amountSchema, reach: z.optional(z.literal(true)) })]),
);

/** Combines limits: of several, the strictest counts; `undefined` if there are none. */
function strictestGains(settings: readonly GainLimits[]): GainLimits | undefined {
  if (settings.length === 0) return undefined;
  const keys = [...new Set(settings.flatMap((limits) => Object.keys(limits)))];
  return Object.fromEntries(
    keys.flatMap((key) => {
      const limits = settings.flatMap((setting) => (Object.hasOwn(setting, key) ? (setting[key] ?? []) : []));
      const least = leastAmount(limits);
      if (least === undefined) return [];
      return [[key, { ...least, ...(limits.some(({ reach }) => reach) && { reach: true }) }] as const];
    }),
  );
}

/** Parses limits as written in a file. */
function parseGains(written: unknown): GainLimits {
  return Object.fromEntries(
    Object.entries(fieldsOf(written)).flatMap(([what, limit]) => {
      const { at_most, reach } = fieldsOf(limit);
      const amount = parseAmount(at_most ?? limit);
      return amount === null ? [] : [[what, { ...amount, ...(reach === true && { reach }) }] as const];
    }),
  );
}

/** Returns whether a key may name a permission; one with capital letters, spaces or the like names a role. */
function isPermission(what: string): boolean {
  return /^[a-z0-9_]+$/.test(what) && !ROLE_ID.test(what);
}

const gainLimits: SettingKind<GainLimits | undefined> = {
  combine: (written) => strictestGains(written.map(parseGains)),
  renamed: (value, nameOf) =>
    value &&
    strictestGains([
      {},
      ...Object.entries(value).map(([what, limit]) => ({
        [what === SENSITIVE ? what : nameOf(what)]: limit,
      })),
    ]),
  meaning: (value) => value,
  readable: (written) => written,
  names: (written) =>
    Object.keys(fieldsOf(written)).flatMap((what) => {
      if (what === SENSITIVE) return [];
      const meant = !isLiteralGlob(what) ? "permission-pattern" : isPermission(what) ? "permission" : "role";
      return [{ what: meant, text: what, path: [what], at: "key" } as const];
    }),
  lists: () => [],
  keys: (written) => Object.keys(fieldsOf(written)),
  limits: (written) =>
    Object.entries(fieldsOf(written)).flatMap(([what, limit]) => {
      const { at_most } = fieldsOf(limit);
      return at_most === undefined
        ? amountLimit([what], what, limit)
        : amountLimit([what, "at_most"], what, at_most);
    }),
};

export const maxGainsSetting = {
  section: "guards",
  key: "max_gains",
  schema: optional(gainLimitsSchema, {
    title: "Most gains",
    description: `Maximum number of people who may newly gain, in one apply, what a key names: "sensitive" for all sensitive permissions, a permission or a pattern such as "payouts_*", or the name or id of a role. A count, or a share of the members such as 5%, which allows at least 10 (0% allows none); or { at_most: 5%, reach: true } to count also those who could newly give it to themselves. If "sensitive" is not listed, at most 10 people or 5%, whichever is more, may gain sensitive permissions, not counting new members in the merchant's own file, and at most 2 may become owners, and 2 administrators. {} turns these defaults off.`,
    examples: [{ sensitive: "5%", "payouts_*": 2, role_admin: 1 }],
  }),
  kind: gainLimits,
  overrides: { "max-gains": PEOPLE_OVERRIDE },
  ofRun: {
    schema: optional(gainLimitsSchema, {
      title: "Maximum gains of a run",
      description:
        "Maximum number of people, across all merchants, who may newly gain in one run what a key names, as in guards.max_gains. A percentage of the members always allows 20, except 0%.",
      default: { [SENSITIVE]: "5%" },
      examples: [{ sensitive: "5%", payouts_edit: 3 }],
    }),
    default: { [SENSITIVE]: { percent: 5 } },
    code: "run-gains",
    override: { ...PEOPLE_OVERRIDE, alsoFor: "max-gains" },
  },
} as const satisfies GuardSetting<GainLimits | undefined>;
