import fc from "fast-check";
import { expect, test } from "vitest";
import { accessCoverage } from "../../../src/ask/coverage/access-coverage.ts";
import { STRANGER } from "../../../src/ask/coverage/single-changes.ts";
import { openDeclared } from "../../../src/kernel/rules/judge-rules.ts";
import type { DesiredState, GuardSettings } from "../../../src/model/desired.ts";
import { PREDEFINED_ROLES } from "../../../src/model/live.ts";
import {
  desired,
  live,
  liveMember,
  liveRole,
  matches,
  member,
  NOW,
  planOf,
  role,
} from "../../support/build.ts";
import { runs } from "../../support/property-runs.ts";

const ROLES = ["A", "B", "C"] as const;
const PEOPLE = ["ada", "bob", "cem", "dan"].map((name) => `${name}@x.example`);
const PERMISSIONS = [
  "payouts_edit",
  "payouts_view",
  "members_update",
  "roles_update",
  "orders_view",
] as const;

const amount = fc.constantFrom({ count: 0 }, { count: 1 }, { count: 2 }, { percent: 0 }, { percent: 25 });

const guards: fc.Arbitrary<GuardSettings> = fc.record(
  {
    maxRemovals: amount,
    maxGains: fc.dictionary(
      fc.constantFrom("sensitive", "payouts_*", "orders_view", "A", "role_admin"),
      fc
        .tuple(amount, fc.constantFrom({}, {}, { reach: true as const }))
        .map(([most, by]) => ({ ...most, ...by })),
      { maxKeys: 3 },
    ),
    minHolders: fc.dictionary(fc.constantFrom("A", "role_admin"), fc.nat({ max: 2 }), { maxKeys: 1 }),
    protect: fc.record({
      roles: fc.uniqueArray(fc.constantFrom("A", "B*"), { maxLength: 1 }),
      members: fc.uniqueArray(fc.constantFrom(PEOPLE[0] ?? "", "b*"), { maxLength: 1 }),
    }),
  },
  { requiredKeys: ["protect"] },
);

const states: fc.Arbitrary<DesiredState> = fc
  .record({
    guards,
    permissions: fc.array(fc.uniqueArray(fc.constantFrom(...PERMISSIONS), { maxLength: 3 }), {
      minLength: 3,
      maxLength: 3,
    }),
    held: fc.array(fc.uniqueArray(fc.constantFrom(...ROLES, "role_admin"), { maxLength: 3 }), {
      minLength: 4,
      maxLength: 4,
    }),
  })
  .map(({ permissions, held, ...rules }) =>
    desired({
      ...rules,
      roles: permissions.map((own, at) => role(ROLES[at] ?? "", { permissions: own })),
      members: held.map((roles, at) => member(PEOPLE[at] ?? "", { roles })),
    }),
  );

const toggled = (items: readonly string[], item: string): readonly string[] =>
  items.includes(item) ? items.filter((other) => other !== item) : [...items, item];

type Held = {
  readonly permissions: ReadonlyMap<string, readonly string[]>;
  readonly roles: ReadonlyMap<string, readonly string[]>;
};

const heldIn = ({ roles = [], members = [] }: DesiredState): Held => ({
  permissions: new Map(roles.map(({ name, permissions = [] }) => [name, permissions])),
  roles: new Map(members.map(({ email, roles: grants = [] }) => [email, grants.map((grant) => grant.role)])),
});

/** What everybody can do, and through which roles of unknown permissions. */
function abilities({ permissions, roles }: Held): string {
  const can = [...roles].map(([name, held]) => [
    name,
    ...new Set(held.flatMap((key) => permissions.get(key) ?? [`what ${key} grants`]).sort()),
  ]);
  return JSON.stringify(can.filter((one) => one.length > 1));
}

/** Returns the changes that a plan of them neither refuses nor defers. */
function plannedUnnoticed(state: DesiredState): readonly string[] {
  const held = heldIn(state);
  const idOf = (name: string): string => (name.startsWith("role_") ? name : `role_id${name}`);
  const is = live(
    [
      ...ROLES.map((name) => liveRole(idOf(name), name, { permissions: held.permissions.get(name) ?? [] })),
      ...PREDEFINED_ROLES.map((id) => liveRole(id, id.slice(5), { predefined: true })),
    ],
    PEOPLE.map((email, at) =>
      liveMember(`mem_${at}`, email, { roles: (held.roles.get(email) ?? []).map(idOf) }),
    ),
  );
  const named = (permissions: readonly string[]): readonly string[] => [
    ...new Set([
      ...permissions,
      ...Object.keys(state.guards.maxGains ?? {}).filter((what) => what === "orders_view"),
    ]),
  ];
  const permissions = named([...held.permissions.values()].flat());
  const changes = [
    ...[...PEOPLE, STRANGER.name].flatMap((person) =>
      [...ROLES, "role_owner", "role_admin"].map((name) => {
        const roles = held.roles.get(person) ?? [];
        const after = { ...held, roles: new Map([...held.roles, [person, toggled(roles, name)]]) };
        return { text: `${roles.includes(name) ? "taken" : "given"} ${name} ${person}`, after };
      }),
    ),
    ...ROLES.flatMap((name) =>
      permissions.map((permission) => {
        const granted = held.permissions.get(name) ?? [];
        const after = {
          ...held,
          permissions: new Map([...held.permissions, [name, toggled(granted, permission)]]),
        };
        return { text: `${granted.includes(permission) ? "taken" : "given"} ${permission} ${name}`, after };
      }),
    ),
  ];
  return changes.flatMap(({ text, after }) => {
    if (abilities(after) === abilities(held)) return [];
    const roles = [...after.permissions].map(([name, own]) => role(name, { permissions: own }));
    const members = [...after.roles].map(([email, own]) =>
      member(email === STRANGER.name ? "new@x.example" : email, { roles: own }),
    );
    const { refusals, deferred } = planOf({ ...state, roles, members }, is);
    return refusals.length + deferred.length === 0 ? [text] : [];
  });
}

function covered(state: DesiredState): readonly string[] {
  const { groups } = accessCoverage(openDeclared(state, NOW), state, { matches });
  return groups.flatMap(({ change, role: ofRole, permission, subjects, toAnybody }) => {
    const does = change.endsWith("given") ? "given" : "taken";
    const name = ofRole?.id ?? ofRole?.name ?? "";
    if (change.startsWith("role")) {
      return [...subjects, ...(toAnybody ? [STRANGER.name] : [])].map(
        (person) => `${does} ${name} ${person}`,
      );
    }
    return subjects.map((subject) =>
      does === "given" ? `given ${permission} ${subject}` : `taken ${subject} ${name}`,
    );
  });
}

test("guards notice the changes whose plans they refuse or defer", () => {
  fc.assert(
    fc.property(states, (state) => {
      expect([...covered(state)].sort()).toEqual([...plannedUnnoticed(state)].sort());
    }),
    { numRuns: runs(60) },
  );
});
