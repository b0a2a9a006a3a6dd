import fc from "fast-check";
import { expect, test } from "vitest";
import { judgeRun } from "../../../src/kernel/rules/overrides.ts";
import type { Check, DesiredState, RulesAcross } from "../../../src/model/desired.ts";
import type { LiveState } from "../../../src/model/live.ts";
import type { Plan } from "../../../src/model/plan.ts";
import {
  ADDITIVE,
  desired,
  live,
  liveMember,
  liveRole,
  member,
  NO_POLICIES,
  NOW,
  planOf,
  role,
  SYNC,
  until,
} from "../../support/build.ts";
import { runs } from "../../support/property-runs.ts";

const ROLES = ["Approver", "Payer", "Auditor", "role_admin"] as const;
const PERMISSIONS = ["payouts_edit", "members_update", "roles_update", "roles_create", "catalog_view"];
const ADMIN = ["payouts_edit", "members_update"];
const FILE = "rolecall.yaml";

/** What a merchant declares, and has. */
interface Shop {
  readonly files: DesiredState;
  readonly live: LiveState;
  /** The service answers for it. */
  readonly isRead: boolean;
  /** Something else than a refusal keeps its plan from being applied. */
  readonly isHeldUp: boolean;
}

const subsetOf = <T>(items: readonly T[]) => fc.subarray([...items]);

/** One of three people, by the current or by the previous address. */
const person = fc.record({ number: fc.nat(2), old: fc.boolean() });
const addressOf = ({ number, old }: { readonly number: number; readonly old: boolean }): string =>
  `${old ? "old." : ""}p${number}@example.com`;

const entry = fc
  .record({ who: person, tells: fc.boolean(), roles: subsetOf(ROLES), past: fc.boolean() })
  .map(({ who, tells, roles, past }) =>
    member(addressOf(who), {
      roles: roles.map((name, index) =>
        past && index === 0 ? { role: name, until: until("2026-01-31") } : name,
      ),
      ...(tells && !who.old && { previously: [addressOf({ ...who, old: true })] }),
    }),
  );

const shop = fc
  .record({
    granted: fc.tuple(subsetOf(PERMISSIONS), subsetOf(PERMISSIONS), subsetOf(PERMISSIONS)),
    grants: fc.tuple(subsetOf(PERMISSIONS), subsetOf(PERMISSIONS), subsetOf(PERMISSIONS)),
    entries: fc.uniqueArray(entry, { maxLength: 4, selector: ({ email }) => email }),
    members: fc.uniqueArray(fc.record({ who: person, roles: subsetOf(ROLES) }), {
      maxLength: 4,
      selector: ({ who }) => addressOf(who),
    }),
    additive: fc.boolean(),
    isRead: fc.boolean(),
    isHeldUp: fc.nat(3).map((drawn) => drawn === 0),
  })
  .map(({ granted, grants, entries, members, additive, isRead, isHeldUp }): Shop => {
    const names = ROLES.slice(0, 3);
    // A previous address that is listed as well is an error of the files.
    const listed = new Set(entries.map(({ email }) => email));
    const valid = entries.map(({ previously = [], ...one }) =>
      previously.some((address) => listed.has(address))
        ? one
        : { ...one, ...(previously[0] && { previously }) },
    );
    return {
      isRead,
      isHeldUp,
      files: desired({
        sync: additive ? ADDITIVE : SYNC,
        guards: { protect: { roles: [], members: [] }, maxRemovals: { percent: 100 } },
        roles: names.map((name, index) => role(name, { permissions: grants[index] ?? [] })),
        members: valid,
      }),
      live: live(
        [
          ...names.map((name, index) =>
            liveRole(`role_${index}`, name, { permissions: granted[index] ?? [] }),
          ),
          liveRole("role_admin", "Administrator", { predefined: true, permissions: ADMIN }),
        ],
        members.map(({ who, roles }, index) =>
          liveMember(`mem_${index}`, addressOf(who), {
            roles: roles.map((name) => (name === "role_admin" ? name : `role_${ROLES.indexOf(name)}`)),
          }),
        ),
      ),
    };
  });

const across = fc
  .record({
    sets: fc.array(fc.subarray([...ROLES], { minLength: 2 }), { maxLength: 2 }),
    most: fc.dictionary(fc.constantFrom(...ROLES), fc.nat(3), { maxKeys: 2 }),
    checks: fc.array(
      fc.record({ can: fc.constantFrom(...PERMISSIONS), atMost: fc.nat(3), reach: fc.boolean() }),
      { maxLength: 2 },
    ),
  })
  .map(
    ({ sets, most, checks }): RulesAcross => ({
      origin: { file: FILE, path: ["across_merchants"] },
      policies: { ...NO_POLICIES, separate: sets, maxHolders: most },
      checks: checks.map(
        ({ can, atMost, reach }, index): Extract<Check, { readonly kind: "at-most" }> => ({
          kind: "at-most",
          can,
          atMost,
          ...(reach && { reach }),
          origin: { file: FILE, path: ["across_merchants", "checks", index] },
        }),
      ),
    }),
  );

/** Who holds which roles, by name, and what these grant. */
interface Holdings {
  readonly people: readonly { readonly address: string; readonly roles: readonly string[] }[];
  readonly grants: ReadonlyMap<string, readonly string[]>;
}

const nameOf = (id: string): string => (id === "role_admin" ? id : (ROLES[Number(id.slice(5))] ?? id));

function liveHoldings({ live: { roles, members } }: Shop): Holdings {
  return {
    grants: new Map(roles.map(({ id, permissions }) => [nameOf(id), permissions])),
    people: members.map(({ user, roles }) => ({ address: user?.email ?? "", roles: roles.map(nameOf) })),
  };
}

/** Makes the changes of a plan, one by one; `waiting` also those that are deferred. */
function changedHoldings(shop: Shop, plan: Plan, waiting: boolean): Holdings {
  const before = liveHoldings(shop);
  const grants = new Map(before.grants);
  const people = new Map(shop.live.members.map(({ id }, index) => [id, before.people[index]]));
  const changes = [...plan.changes, ...(waiting ? plan.deferred.map(({ change }) => change) : [])];
  for (const change of changes) {
    if (change.resource === "role") {
      if (change.after) grants.set(change.name, change.after.permissions);
      else grants.delete(change.name);
      continue;
    }
    const key = change.id ?? `new ${change.name}`;
    if (change.after === null) people.delete(key);
    else {
      const roles = change.after.roles.map(({ id, name }) => (id === "role_admin" ? id : name));
      people.set(key, { address: change.after.email ?? change.name, roles });
    }
  }
  return { grants, people: [...people.values()].flatMap((one) => one ?? []) };
}

function declaredHoldings({ files: { roles = [], members = [] } }: Shop): Holdings {
  return {
    grants: new Map([
      ["role_admin", ADMIN],
      ...roles.map(({ name, permissions = [] }) => [name, permissions] as const),
    ]),
    people: members.flatMap(({ email, roles: held = [] }) => {
      const current = held.filter((grant) => grant.until === undefined);
      // Somebody of whom every grant is past has left.
      return held.length > 0 && current.length === 0
        ? []
        : [{ address: email, roles: current.map((grant) => grant.role) }];
    }),
  };
}

/** Everything that somebody with some roles can have or give himself, by trying. */
function reached(
  roles: readonly string[],
  { grants }: Holdings,
  canEscalate: boolean,
): (can: string) => boolean {
  const has = new Set(roles.flatMap((name) => grants.get(name) ?? []));
  if (!canEscalate) return (can) => has.has(can);
  const held = new Set(roles);
  for (let round = 0; round < 10; round += 1) {
    if (has.has("members_update")) for (const name of grants.keys()) held.add(name);
    for (const name of held) for (const can of grants.get(name) ?? []) has.add(can);
    const isOwnRole = [...held].some((name) => name !== "role_admin" && grants.has(name));
    if (has.has("roles_update") && isOwnRole) return () => true;
    if (has.has("roles_create") && has.has("members_update")) return () => true;
  }
  return (can) => has.has(can);
}

/** Two addresses are one person if some entry says so, and no merchant lists both. */
function samePerson(a: string, b: string, shops: readonly Shop[]): boolean {
  const isTold = shops.some(({ files }) =>
    files.members?.some(({ email, previously = [] }) => email === b && previously.includes(a)),
  );
  const areTwo = shops.some(({ files }) =>
    [a, b].every((address) => files.members?.some(({ email }) => email === address)),
  );
  return a === b || (isTold && !areTwo);
}

const ADDRESSES = [0, 1, 2].flatMap((number) => [
  addressOf({ number, old: false }),
  addressOf({ number, old: true }),
]);

/** The people who hold something, with every address that they are known by. */
function peopleWhere(
  at: readonly Holdings[],
  shops: readonly Shop[],
  isCounted: (held: Holdings["people"][number], holdings: Holdings) => boolean,
): ReadonlySet<string> {
  const people = at.flatMap((holdings) => holdings.people.filter((one) => isCounted(one, holdings)));
  // The first address of each person stands for all: a previous one is known by the current one.
  return new Set(
    people.map(({ address }) => ADDRESSES.find((current) => samePerson(address, current, shops)) ?? address),
  );
}

interface Verdict {
  readonly code: string;
  readonly name: string | null;
  readonly check: string | null;
  readonly merchants: readonly string[];
}

test("rules across merchants refuse what a count of all people by hand refuses, where they gain it", () => {
  let refused = 0;
  let allowed = 0;
  fc.assert(
    fc.property(fc.array(shop, { minLength: 2, maxLength: 4 }), across, (drawn, rules) => {
      const shops = drawn.map(({ files, live: is, ...rest }, index) => {
        const merchant = `MC${index}`;
        return {
          ...rest,
          files: { ...files, merchant, projects: [{ across: rules }] },
          live: { ...is, merchant },
        };
      });
      const read = shops.filter(({ isRead }) => isRead);
      const planned = read.map(({ files, live: is, isHeldUp }) => ({
        files,
        live: is,
        plan: planOf(files, is),
        ...(isHeldUp && { isApplied: false as const }),
      }));
      const judged = judgeRun(
        planned,
        shops.map(({ files }) => files),
      );
      const said = judged.flatMap(({ merchant, refusals }) =>
        refusals
          .filter(({ code }) => code.startsWith("across-"))
          .map(({ code, name, check }) => JSON.stringify({ code, name, check, merchant })),
      );
      // The limits of the run refuse plans as well: those count as they are, and as they would be.
      const limited = judgeRun(planned.map((part) => ({ ...part, files: { ...part.files, projects: [] } })));
      const expected = expectedAtLast(shops, limited, rules).flatMap(({ merchants, ...rest }) =>
        merchants.map((merchant) => JSON.stringify({ ...rest, merchant })),
      );
      if (expected.length > 0) refused += 1;
      else allowed += 1;
      expect([...new Set(said)].sort()).toEqual([...new Set(expected)].sort());
    }),
    { numRuns: runs(300) },
  );
  expect(refused).toBeGreaterThan(30);
  expect(allowed).toBeGreaterThan(30);
});

/** Counts by hand, until all plans that are refused, by these rules as well, take nothing from anybody. */
function expectedAtLast(
  shops: readonly Shop[],
  plans: readonly Plan[],
  rules: RulesAcross,
): readonly Verdict[] {
  const isOut = (plan: Plan): boolean =>
    plan.refusals.length > 0 ||
    plan.findings.some(({ severity }) => severity === "error") ||
    shops.some(({ files, isHeldUp }) => isHeldUp && files.merchant === plan.merchant);
  const out = new Set(plans.filter(isOut).map(({ merchant }) => merchant));
  for (;;) {
    const verdicts = expectedRefusals(shops, plans, out, rules);
    const more = verdicts.flatMap(({ merchants }) => merchants.filter((merchant) => !out.has(merchant)));
    if (more.length === 0) return verdicts;
    for (const merchant of more) out.add(merchant);
  }
}

function expectedRefusals(
  shops: readonly Shop[],
  plans: readonly Plan[],
  out: ReadonlySet<string>,
  { policies: { separate, maxHolders }, checks }: RulesAcross,
): readonly Verdict[] {
  const planOfShop = new Map(plans.map((plan) => [plan.merchant, plan]));
  const at = shops.map((one) => {
    const plan = planOfShop.get(one.files.merchant);
    if (plan === undefined) {
      const same = [declaredHoldings(one)];
      return { merchant: null, before: same, after: same, settled: same };
    }
    const before = [liveHoldings(one)];
    const kept = out.has(plan.merchant) ? before : [];
    return {
      merchant: one.files.merchant,
      before,
      after: [...kept, changedHoldings(one, plan, false)],
      settled: [...kept, changedHoldings(one, plan, true)],
    };
  });
  type Phase = "before" | "after" | "settled";
  type Counts = (held: Holdings["people"][number], holdings: Holdings) => boolean;
  const all = (phase: Phase, counts: Counts) =>
    peopleWhere(
      at.flatMap((one) => one[phase]),
      shops,
      counts,
    );
  const gaining = (people: ReadonlySet<string>, counts: readonly Counts[]): readonly string[] =>
    at.flatMap(({ merchant, ...one }) => {
      if (merchant === null) return [];
      const gains = counts.some((counted) => {
        const had = peopleWhere(one.before, shops, counted);
        const has = new Set(
          [...one.after, ...one.settled].flatMap((holdings) => [...peopleWhere([holdings], shops, counted)]),
        );
        return [...has].some((who) => people.has(who) && !had.has(who));
      });
      return gains ? [merchant] : [];
    });
  const isWorse = (before: readonly string[], after: readonly string[]): boolean =>
    after.length >= before.length && after.some((one) => !before.includes(one));
  const holding =
    (name: string): Counts =>
    ({ roles }) =>
      roles.includes(name);
  const limited = (most: number, counts: Counts, verdict: Omit<Verdict, "merchants">): readonly Verdict[] => {
    const [before, settled] = [all("before", counts), all("settled", counts)];
    if (settled.size <= most) return [];
    if (before.size > most && !isWorse([...before], [...settled])) return [];
    return [{ ...verdict, merchants: gaining(settled, [counts]) }];
  };
  return [
    ...[...new Map(separate.map((set) => [JSON.stringify(set), set])).values()].flatMap((set) =>
      ADDRESSES.flatMap((who): readonly Verdict[] => {
        const held = (phase: Phase) => set.filter((name) => all(phase, holding(name)).has(who));
        const broken = (["after", "settled"] as const).map(held).filter((roles) => roles.length > 1);
        const now = [...new Set(broken.flat())];
        const before = held("before");
        if (now.length < 2 || (before.length > 1 && !isWorse(before, now))) return [];
        const merchants = gaining(new Set([who]), set.map(holding));
        return [{ code: "across-separate", name: who, check: null, merchants }];
      }),
    ),
    ...Object.entries(maxHolders).flatMap(([name, most]) =>
      limited(most, holding(name), { code: "across-max-holders", name, check: null }),
    ),
    ...checks.flatMap(({ can, atMost, reach }) =>
      limited(atMost, ({ roles }, holdings) => reached(roles, holdings, reach === true)(can), {
        code: "across-at-most",
        name: null,
        check: `can${reach ? " reach" : ""} ${can}: at most ${atMost}`,
      }),
    ),
  ];
}

test("the moment of the plans decides what merchants that were not read declare", () => {
  const rules = {
    origin: { file: FILE, path: ["across_merchants"] },
    policies: { ...NO_POLICIES, separate: [["Approver", "Payer"]] },
    checks: [],
  };
  const projects = [{ across: rules }];
  const files = desired({
    roles: [role("Approver")],
    members: [member("ada@example.com", { roles: ["Approver"] })],
    projects,
  });
  const other = desired({
    merchant: "MC2",
    members: [member("ada@example.com", { roles: [{ role: "Payer", until: until("2026-06-30") }] })],
    projects,
  });
  const codesAt = (now: number) =>
    judgeRun([{ files, live: live(), plan: planOf(files, live(), now) }], [files, other]).flatMap(
      ({ refusals }) => refusals.map(({ code }) => code),
    );
  expect(codesAt(NOW)).toEqual(["across-separate"]);
  expect(codesAt(Date.parse("2026-07-02T00:00:00Z"))).toEqual([]);
});

test("a rule means a role under its new, its previous and its live name", () => {
  const is = {
    ...live([liveRole("role_1", "Approve")], [liveMember("mem_1", "bo@example.com", { roles: ["role_1"] })]),
  };
  const codesOf = (name: string, previously: readonly string[]) => {
    const across = {
      origin: { file: FILE, path: ["across_merchants"] },
      policies: { ...NO_POLICIES, maxHolders: { [name]: 1 } },
      checks: [],
    };
    const shops = ["MC1", "MC2"].map((merchant) => {
      const files = desired({
        merchant,
        projects: [{ across }],
        roles: [role("Approver", { previously })],
        members: ["bo", `ada.${merchant}`].map((who) =>
          member(`${who}@example.com`, { roles: ["Approver"] }),
        ),
      });
      return { files, live: { ...is, merchant }, plan: planOf(files, { ...is, merchant }) };
    });
    return judgeRun(shops).map(({ refusals, findings }) =>
      [...refusals, ...findings].flatMap(({ code }) => (/^(?:across|rule)-/.test(code) ? code : [])),
    );
  };
  const refused = [["across-max-holders"], ["across-max-holders"]];
  expect(codesOf("Approver", ["Approve"])).toEqual(refused);
  expect(codesOf("Approve", ["Approve"])).toEqual(refused);
  // Without the renaming it is another role, which the plans remove.
  expect(codesOf("Approve", ["Other"])).toEqual([[], []]);
  expect(codesOf("Aprover", ["Approve"])).toEqual([["rule-role-unknown"], ["rule-role-unknown"]]);
});
