import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { accessCoverage } from "../../../src/ask/coverage/access-coverage.ts";
import { STRANGER } from "../../../src/ask/coverage/single-changes.ts";
import type { Access, PersonAccess } from "../../../src/kernel/rules/access.ts";
import { withheldBy } from "../../../src/kernel/rules/guards.ts";
import { byKey, isNoWorse, openDeclared, violationsIn } from "../../../src/kernel/rules/judge-rules.ts";
import type { Judged } from "../../../src/kernel/rules/judged.ts";
import type { SuggestedRule } from "../../../src/model/coverage.ts";
import type { Check, DesiredState, GuardSettings, Policies } from "../../../src/model/desired.ts";
import { runs } from "../../support/property-runs.ts";

const ROLES = ["A", "B", "C", "role_manager"] as const;
const PEOPLE = ["ada@x.example", "bob@x.example", "cem@x.example"] as const;
const PERMISSIONS = ["payouts_edit", "look_view", "members_update", "roles_update", "roles_create"] as const;
const ORIGIN = { file: "shop.yaml", path: [] };
const NOW = Date.parse("2027-01-01T00:00:00Z");
const matches = (glob: string, text: string): boolean => glob === "*" || glob === text;

const someRoles = fc.uniqueArray(fc.constantFrom(...ROLES), { maxLength: 3 });
const entry = fc.constantFrom(...PEOPLE, ...ROLES.map((role) => `role:${role}`), "role:Nobody");
const reach = fc.constantFrom({}, {}, { reach: true as const });

const checks = fc.array(
  fc
    .tuple(
      fc.oneof(
        fc.record({
          kind: fc.constant("only" as const),
          can: fc.constantFrom(...PERMISSIONS),
          only: fc.uniqueArray(entry, { maxLength: 4 }),
        }),
        fc.record({
          kind: fc.constant("at-most" as const),
          can: fc.constantFrom(...PERMISSIONS),
          atMost: fc.nat({ max: 5 }),
        }),
        fc.record({
          kind: fc.constant("cannot" as const),
          member: fc.constantFrom(...PEOPLE, "new@x.example"),
          cannot: fc.uniqueArray(fc.constantFrom(...PERMISSIONS), { minLength: 1, maxLength: 2 }),
        }),
      ),
      reach,
    )
    .map(([check, reaching]): Check => ({ ...check, ...reaching, origin: ORIGIN })),
  { maxLength: 3 },
);

const policies: fc.Arbitrary<Policies> = fc.record({
  separate: fc.array(fc.uniqueArray(fc.constantFrom(...ROLES, "Nobody"), { minLength: 2, maxLength: 3 }), {
    maxLength: 1,
  }),
  maxHolders: fc.dictionary(fc.constantFrom(...ROLES, "Nobody"), fc.nat({ max: 4 }), { maxKeys: 2 }),
  requireUntil: fc.dictionary(fc.constantFrom(...ROLES, "Nobody"), fc.constant(null), { maxKeys: 1 }),
  requireMfa: fc.uniqueArray(fc.constantFrom(...ROLES), { maxLength: 1 }),
  forbidPermissions: fc.uniqueArray(fc.constantFrom(...PERMISSIONS), { maxLength: 1 }),
});

const guards: fc.Arbitrary<GuardSettings> = fc.record(
  {
    minHolders: fc.dictionary(fc.constantFrom(...ROLES, "role_owner", "Nobody"), fc.nat({ max: 3 }), {
      maxKeys: 2,
    }),
    protect: fc.record({
      roles: fc.uniqueArray(fc.constantFrom("A", "*"), { maxLength: 1 }),
      members: fc.uniqueArray(fc.constantFrom(PEOPLE[0]), { maxLength: 1 }),
    }),
  },
  { requiredKeys: ["protect"] },
);

const states: fc.Arbitrary<DesiredState> = fc
  .record({
    permissions: fc.array(fc.uniqueArray(fc.constantFrom(...PERMISSIONS), { maxLength: 3 }), {
      minLength: 3,
      maxLength: 3,
    }),
    held: fc.array(someRoles, { minLength: 3, maxLength: 3 }),
    ends: fc.boolean(),
    ending: fc.boolean(),
    checks,
    policies,
    guards,
  })
  .map(
    ({ permissions, held, ends, ending, ...rules }): DesiredState => ({
      merchant: "MC1",
      origin: ORIGIN,
      sync: { roles: "authoritative", members: "authoritative", reinvite: false, replaceRoles: false },
      ignore: { roles: [], members: [] },
      ...rules,
      roles: permissions.map((own, at) => ({ name: ROLES[at] ?? "", permissions: own, origin: ORIGIN })),
      members: held.map((own, at) => ({
        email: PEOPLE[at] ?? "",
        roles: own.map((role) => ({
          role,
          ...(ending && at === 2 && { until: { text: "2028-01-01", ends: NOW * 2 } }),
        })),
        ...(ends && at === 1 && { until: { text: "2028-01-01", ends: NOW * 2 } }),
        origin: ORIGIN,
      })),
    }),
  );

/** One change of an access. */
type Change =
  | { readonly what: "grant"; readonly person: string; readonly role: string; readonly given: boolean }
  | { readonly what: "edit"; readonly role: string; readonly permission: string; readonly given: boolean };

/** Applies a change to an access; a stranger becomes a member. */
function changed(access: Access, change: Change): Access {
  const toggle = (list: readonly string[], item: string): readonly string[] =>
    change.given ? [...list, item] : list.filter((one) => one !== item);
  if (change.what === "grant") {
    const isMember = access.people.some(({ name }) => name === change.person);
    const stranger: PersonAccess = {
      ...STRANGER,
      name: change.person,
      email: change.person.includes("@") ? change.person : null,
    };
    const people = isMember ? access.people : [...access.people, stranger];
    return {
      ...access,
      people: people.map((person) =>
        person.name === change.person ? { ...person, roles: toggle(person.roles, change.role) } : person,
      ),
    };
  }
  const roles = new Map(access.roles);
  const role = roles.get(change.role);
  if (role)
    roles.set(change.role, { ...role, permissions: toggle(role.permissions ?? [], change.permission) });
  return { ...access, roles };
}

/** Returns every single change, with somebody new by these names. */
function changesOf(
  access: Access,
  strangers: readonly string[],
  permissions: readonly string[],
): readonly Change[] {
  const roles = new Set([
    ...access.roles.keys(),
    ...access.people.flatMap((one) => one.roles),
    "role_owner",
    "role_admin",
  ]);
  const people = [
    ...access.people,
    ...strangers
      .filter((name) => access.people.every((one) => one.name !== name))
      .map((name) => ({ name, roles: [] as readonly string[] })),
  ];
  return [
    ...people.flatMap(({ name, roles: held }) =>
      [...roles].map((role): Change => ({ what: "grant", person: name, role, given: !held.includes(role) })),
    ),
    ...[...access.roles.values()].flatMap((role) =>
      permissions.map(
        (permission): Change => ({
          what: "edit",
          role: role.name,
          permission,
          given: !role.permissions?.includes(permission),
        }),
      ),
    ),
  ];
}

const judgedOf = (access: Access): Judged => ({ access, settled: access, find: (role) => role });

/** Judges an access and compares with the one before, as a plan does. */
function isNoticed(state: DesiredState, before: Access, after: Access, changes: readonly Change[]): boolean {
  const was = byKey(violationsIn(state, judgedOf(before)));
  const isWorse = violationsIn(state, judgedOf(after)).some((violation) => {
    const keys = byKey([violation]).keys();
    const old = [...keys].map((key) => was.get(key)).find((one) => one !== undefined);
    return old === undefined || !isNoWorse(violation, old);
  });
  if (isWorse) return true;
  const accepted = (access: Access): Access => ({
    ...access,
    people: access.people.map((person) => ({ ...person, id: person.name, status: "accepted" })),
  });
  const kept = withheldBy(state.guards, {
    before: accepted(before),
    after: accepted(after),
    changes: [],
    declared: new Map(),
    callerId: null,
  });
  if (kept.refusals.length + kept.deferred.length > 0) return true;
  const { protect } = state.guards;
  return changes.some((change) =>
    change.what === "grant"
      ? protect.members.includes(change.person)
      : protect.roles.some((glob) => matches(glob, change.role)),
  );
}

/** Returns whether a rule is broken less than before. */
function isMending(state: DesiredState, before: Access, after: Access): boolean {
  const still = byKey(violationsIn(state, judgedOf(after)));
  return [...byKey(violationsIn(state, judgedOf(before)))].some(
    ([key, { extent }]) => (still.get(key)?.extent.length ?? -1) < extent.length,
  );
}

const unnoticedChanges = (state: DesiredState): ReadonlySet<string> => {
  const { groups } = accessCoverage(openDeclared(state, NOW), state, { matches });
  return new Set(
    groups.flatMap(({ change, role, permission, subjects, toAnybody }) => {
      const name = role?.name ?? "";
      const given = change.endsWith("given");
      if (change.startsWith("role")) {
        const people = toAnybody ? [...subjects, STRANGER.name] : subjects;
        return people.map((person) => JSON.stringify({ what: "grant", person, role: name, given }));
      }
      return subjects.map((subject) =>
        JSON.stringify({
          what: "edit",
          role: given ? subject : name,
          permission: given ? permission : subject,
          given,
        }),
      );
    }),
  );
};

/** Returns what everybody can do, and through which roles of unknown permissions. */
function abilities({ roles, people }: Access): string {
  return JSON.stringify(
    people
      .filter(({ roles: held }) => held.length > 0)
      .map(({ name, roles: held }) => [
        name,
        ...new Set(held.flatMap((key) => roles.get(key)?.permissions ?? [`what ${key} grants`]).sort()),
      ])
      .filter((one) => one.length > 1),
  );
}

/** Returns the permissions that files and rules name. */
function permissionsOf({ roles = [], checks, policies }: DesiredState): readonly string[] {
  return [
    ...new Set([
      ...roles.flatMap(({ permissions = [] }) => permissions),
      ...checks.flatMap((check) => (check.kind === "cannot" ? check.cannot : [check.can])),
      ...policies.forbidPermissions,
      ...(checks.some(({ reach }) => reach)
        ? ["members_create", "members_update", "roles_update", "roles_create"]
        : []),
    ]),
  ];
}

describe("what rules notice", () => {
  test("agrees with a judge of the whole access after each change", () => {
    fc.assert(
      fc.property(states, (state) => {
        const { access } = openDeclared(state, NOW);
        const expected = changesOf(access, [STRANGER.name], permissionsOf(state)).filter((change) => {
          const after = changed(access, change);
          return (
            abilities(after) !== abilities(access) &&
            !isNoticed(state, access, after, [change]) &&
            !(isMending(state, access, after) && !change.given)
          );
        });
        expect([...unnoticedChanges(state)].sort()).toEqual(
          expected.map((one) => JSON.stringify(one)).sort(),
        );
      }),
      { numRuns: runs(300) },
    );
  });

  test("is complete for access once the suggested rules are pasted", () => {
    fc.assert(
      fc.property(states, (drawn) => {
        // Whose permissions are unknown, a check has to allow.
        const state: DesiredState = {
          ...drawn,
          members: (drawn.members ?? []).map((one) => ({
            ...one,
            roles: (one.roles ?? []).filter(({ role }) => role !== "role_manager"),
          })),
        };
        const judged = openDeclared(state, NOW);
        const { groups } = accessCoverage(judged, state, { matches });
        const better = groups.reduce((known, { suggestion }) => withRule(known, suggestion), state);
        const after = accessCoverage(judged, better, { matches });
        expect(after.groups).toEqual([]);
        expect(after.unnoticed).toBe(0);
      }),
      { numRuns: runs(100) },
    );
  });
});

function withRule(state: DesiredState, rule: SuggestedRule): DesiredState {
  const { policies, guards, checks } = state;
  switch (rule.kind) {
    case "only":
      return { ...state, checks: [...checks, { ...rule, origin: ORIGIN }] };
    case "max-holders":
      return {
        ...state,
        policies: { ...policies, maxHolders: { ...policies.maxHolders, [rule.role]: rule.max } },
      };
    case "min-holders":
      return { ...state, guards: { ...guards, minHolders: { ...guards.minHolders, [rule.role]: rule.min } } };
    case "protect":
      return {
        ...state,
        guards: { ...guards, protect: { ...guards.protect, roles: [...guards.protect.roles, rule.role] } },
      };
    default:
      return rule satisfies never;
  }
}
