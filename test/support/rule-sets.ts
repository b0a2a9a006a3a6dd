import fc from "fast-check";
import type { Check, DesiredState, GuardSettings, Policies } from "../../src/model/desired.ts";

const ROLE_NAMES = ["Cashier", "Shift Lead", "role_owner", "role_employee"];
const EMAILS = ["ada@example.com", "bob@example.com", "cy@example.com"];
const PERMISSIONS = ["catalog_view", "refunds_create", "payouts_view"];
const origin = { file: "shop.yaml", path: [] };
const numbers = (max: number) =>
  fc.dictionary(fc.constantFrom(...ROLE_NAMES), fc.integer({ min: 0, max }), { maxKeys: 2 });

const guards: fc.Arbitrary<GuardSettings> = fc
  .record({
    maxRemovals: fc.oneof(
      fc.constant(undefined),
      fc.integer({ min: 0, max: 100 }).map((percent) => ({ percent })),
      fc.integer({ min: 0, max: 4 }).map((count) => ({ count })),
    ),
    protect: fc.record({
      roles: fc.subarray(["Cash*", "Shift Lead"]),
      members: fc.subarray(["ada@*", ...EMAILS]),
    }),
    minHolders: fc.option(numbers(2), { nil: undefined }),
  })
  .map(({ maxRemovals, protect, minHolders }) => ({
    protect,
    ...(maxRemovals && { maxRemovals }),
    ...(minHolders && { minHolders }),
  }));

const policies: fc.Arbitrary<Policies> = fc
  .record({
    emailDomains: fc.option(fc.subarray(["example.com", "other.example"]), { nil: undefined }),
    separate: fc.array(fc.subarray(ROLE_NAMES, { minLength: 2 }), { maxLength: 2 }),
    maxHolders: numbers(3),
    requireUntil: fc.dictionary(fc.constantFrom(...ROLE_NAMES), fc.constant(null), { maxKeys: 1 }),
    requireMfa: fc.subarray(ROLE_NAMES, { maxLength: 1 }),
    forbidPermissions: fc.subarray(PERMISSIONS, { maxLength: 1 }),
  })
  .map(({ emailDomains, ...rest }) => ({ ...rest, ...(emailDomains && { emailDomains }) }));

const checks: fc.Arbitrary<readonly Check[]> = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constant("only" as const),
      can: fc.constantFrom(...PERMISSIONS),
      only: fc.subarray([...EMAILS, "role:Cashier"]),
      origin: fc.constant(origin),
    }),
    fc.record({
      kind: fc.constant("at-most" as const),
      can: fc.constantFrom(...PERMISSIONS),
      atMost: fc.integer({ min: 0, max: 3 }),
      origin: fc.constant(origin),
    }),
    fc.record({
      kind: fc.constant("cannot" as const),
      member: fc.constantFrom(...EMAILS),
      cannot: fc.subarray(PERMISSIONS, { minLength: 1 }),
      origin: fc.constant(origin),
    }),
  ),
  { maxLength: 3 },
);

/** Guards, policies and checks. */
export type RuleSet = Pick<DesiredState, "guards" | "policies" | "checks">;

/** Rules about the roles and members of `desiredStates`. */
export const ruleSets: fc.Arbitrary<RuleSet> = fc.record({ guards, policies, checks });
