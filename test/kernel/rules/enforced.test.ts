import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { driftOf } from "../../../src/ask/report/detect-drift.ts";
import { judgeDeclared } from "../../../src/kernel/rules/judge-rules.ts";
import { looseningsOf } from "../../../src/kernel/rules/loosenings.ts";
import type { DesiredState, EnforcedRules } from "../../../src/model/desired.ts";
import type { LiveState } from "../../../src/model/live.ts";
import type { Plan } from "../../../src/model/plan.ts";
import { desiredStates, liveStates } from "../../support/arbitrary.ts";
import {
  ADA,
  briefRefusals,
  desired,
  invited,
  live,
  liveMember,
  liveRole,
  matches,
  member,
  NO_GUARDS,
  NO_POLICIES,
  OWNER,
  people,
  planOf,
  role,
} from "../../support/build.ts";
import { runs } from "../../support/property-runs.ts";
import { type RuleSet, ruleSets } from "../../support/rule-sets.ts";

const rules = (rest: Partial<EnforcedRules> = {}): EnforcedRules => ({
  guards: NO_GUARDS,
  policies: NO_POLICIES,
  checks: [],
  files: ["hq/policy.yaml"],
  ...rest,
});

const KEEPS_ADA = [member("ada@example.com", { roles: ["role_owner"] })];

function overridden(state: DesiredState, is: LiveState, what: (plan: Plan) => readonly string[]): Plan {
  const plan = planOf(state, is);
  const overrides = what(plan).map((one) => `${one}@${plan.fingerprint.slice(0, 12)}`);
  return planOf({ ...state, guards: { ...state.guards, overrides } }, is);
}

describe("the rules that a project enforces", () => {
  test("refuse beside the file's own, and say whose they are", () => {
    const state = desired({
      members: [member("joe@evil.example"), ...KEEPS_ADA],
      enforced: [rules({ policies: { ...NO_POLICIES, emailDomains: ["example.com"] } })],
    });
    expect(planOf(state, live([OWNER], [ADA])).refusals).toEqual([
      {
        rule: "policy",
        code: "email-domains",
        resource: "member",
        name: "joe@evil.example",
        check: null,
        message:
          "The address joe@evil.example is in none of the allowed domains: example.com. Enforced by hq/policy.yaml.",
        hint: "Use another address, or ask those who own hq/policy.yaml.",
        override: null,
        rules: "hq/policy.yaml",
      },
    ]);
  });

  test("are changed by those who own them, so no hint advises to change them", () => {
    const enforced = rules({
      guards: { protect: { roles: [], members: ["bo@example.com"] } },
      policies: {
        ...NO_POLICIES,
        emailDomains: ["example.com"],
        maxHolders: { role_owner: 0 },
        forbidPermissions: ["payouts_edit"],
      },
      checks: [
        {
          kind: "cannot",
          member: "ada@example.com",
          cannot: ["payouts_edit"],
          origin: { file: "hq", path: [] },
        },
      ],
    });
    const state = desired({
      roles: [role("Payer", { permissions: ["payouts_edit"] })],
      members: [
        member("ada@example.com", { roles: ["role_owner", "Payer"] }),
        member("joe@evil.example", { roles: ["role_owner"] }),
      ],
      enforced: [enforced],
    });
    const is = live([OWNER], [ADA, liveMember("mem_2", "bo@example.com")]);
    const plan = planOf(state, is);
    const hints = plan.refusals.map(({ code, hint }) => `${code}: ${hint}`);
    const asked = hints.filter((hint) => hint.includes(", or ask those who own hq/policy.yaml."));
    expect(asked.map((hint) => hint.split(":")[0])).toEqual([
      "protect",
      "email-domains",
      "forbid-permissions",
      "max-holders",
      "check-cannot",
    ]);
    expect(hints.join()).not.toMatch(/policies\.|guards\.|the check/);
    // The declarations are judged by themselves as well, by `validate`.
    const own = judgeDeclared({ ...state, ...enforced, enforcedBy: "hq/policy.yaml" }, 0) ?? [];
    const ofFiles = own.map(({ hint }) => hint);
    expect(ofFiles.length).toBeGreaterThan(3);
    expect(ofFiles.filter((hint) => !asked.some((one) => one.includes(hint)))).toEqual([]);
    expect(briefRefusals(planOf({ ...state, enforced: [], ...enforced }, is)).length).toBe(
      plan.refusals.length,
    );
  });

  test("refuse what leaves a role without holders once every removal has happened, as own rules do", () => {
    const roles = [liveRole("role_1", "Payer"), liveRole("role_2", "Seller")];
    const is = live(roles, [
      liveMember("mem_1", "ada@example.com", { roles: ["role_1", "role_2"] }),
      invited("mem_2", "new@example.com", { roles: ["role_2"] }),
    ]);
    const guards = { ...NO_GUARDS, minHolders: { Payer: 1, Seller: 1 } };
    const state = desired({ members: [member("new@example.com", { roles: ["Seller"] })] });
    for (const ruled of [
      { ...state, guards },
      { ...state, enforced: [rules({ guards })] },
    ]) {
      const plan = planOf(ruled, is);
      // Ada waits until somebody accepts "Seller".
      expect(plan.deferred.map(({ change }) => change.name)).toEqual(["ada@example.com"]);
      expect(briefRefusals(plan)).toEqual(["guard min-holders Payer"]);
    }
  });

  test("include the default guards, which the file cannot loosen; its own may be stricter", () => {
    const is = live([OWNER], [ADA, ...people(5)]);
    const own = (maxRemovals: { readonly count: number }) =>
      desired({ members: KEEPS_ADA, guards: { ...NO_GUARDS, maxRemovals }, enforced: [rules()] });
    expect(planOf(own({ count: 9 }), is).refusals.map((one) => one.rules)).toEqual(["hq/policy.yaml"]);
    const nobody = desired({
      members: [],
      guards: { ...NO_GUARDS, minHolders: {} },
      enforced: [rules()],
    });
    expect(briefRefusals(planOf(nobody, live([OWNER], [ADA])))).toEqual(["guard min-holders Owner"]);
    const looser = rules({ guards: { ...NO_GUARDS, maxRemovals: { count: 9 } } });
    expect(planOf({ ...own({ count: 4 }), enforced: [looser] }, is).refusals).toMatchObject([
      { code: "max-removals", override: "max-removals=5" },
    ]);
    expect(planOf({ ...own({ count: 5 }), enforced: [looser] }, is).refusals).toEqual([]);
    expect(planOf(desired({ members: KEEPS_ADA, enforced: [looser] }), is).refusals).toEqual([]);
  });

  test("are not overridden by the file, but by their own file, or together with one of the file's", () => {
    const is = live([OWNER], [ADA, ...people(5)]);
    const guards = { ...NO_GUARDS, maxRemovals: { count: 1 } };
    const state = desired({ members: KEEPS_ADA, guards, enforced: [rules({ guards })] });
    const plan = overridden(state, is, () => ["max-removals=5"]);
    expect(plan.refusals).toMatchObject([
      {
        code: "max-removals",
        hint: expect.stringMatching(/ In git, only overrides under guards in hq\/policy\.yaml count\.$/),
        rules: "hq/policy.yaml",
      },
    ]);
    const overrides = [`max-removals=5@${plan.fingerprint.slice(0, 12)}`];
    const byRules = planOf({ ...state, enforced: [rules({ guards: { ...guards, overrides } })] }, is);
    expect(byRules.refusals).toMatchObject([{ code: "max-removals" }]);
    expect(byRules.refusals[0]?.rules).toBeUndefined();
    const byBoth = planOf(
      { ...state, guards: { ...guards, overrides }, enforced: [rules({ guards: { ...guards, overrides } })] },
      is,
    );
    expect(byBoth.refusals).toEqual([]);
    expect(byBoth.overridden).toHaveLength(2);
    expect(byBoth.findings).toEqual([]);
  });

  test("defer a removal until others have accepted, as the file's own do", () => {
    const state = desired({
      members: [member("new@example.com", { roles: ["role_owner"] })],
      enforced: [rules()],
    });
    const is = live([OWNER], [ADA, invited("mem_2", "new@example.com", { roles: ["role_owner"] })]);
    const plan = planOf(state, is);
    expect(plan.deferred.map(({ change }) => change.name)).toEqual(["ada@example.com"]);
    expect(plan.refusals).toEqual([]);
  });

  test("mean a role that the file renames, and two files of rules each hold", () => {
    const state = desired({
      roles: [role("Cash desk", { previously: ["Payer"] })],
      members: [...KEEPS_ADA, member("bob@example.com", { roles: ["Cash desk"] })],
      enforced: [
        rules({ policies: { ...NO_POLICIES, maxHolders: { Payer: 0 } } }),
        rules({
          policies: { ...NO_POLICIES, requireUntil: { Payer: null } },
          files: ["hq/dates.yaml", "hq/more.yaml"],
        }),
      ],
    });
    const { refusals } = planOf(state, live([OWNER, liveRole("role_1", "Payer")], [ADA]));
    expect(refusals.map(({ code, name, rules: file }) => [code, name, file])).toEqual([
      ["max-holders", "Cash desk", "hq/policy.yaml"],
      ["require-until", "bob@example.com", "hq/dates.yaml"],
    ]);
  });

  test("are broken by live access that no plan makes worse, as a warning, and count as drift", () => {
    const state = desired({
      members: KEEPS_ADA,
      sync: { ...desired().sync, members: "additive" },
      ignore: { roles: [], members: ["joe@*"] },
      enforced: [rules({ policies: { ...NO_POLICIES, emailDomains: ["example.com"] } })],
    });
    const is = live([OWNER], [ADA, liveMember("mem_9", "joe@evil.example")]);
    const plan = planOf(state, is);
    expect(plan.refusals).toEqual([]);
    expect(plan.findings).toContainEqual(
      expect.objectContaining({
        message:
          "Existing violation: The address joe@evil.example is in none of the allowed domains: example.com. Enforced by hq/policy.yaml.",
        rules: "hq/policy.yaml",
      }),
    );
    const times = { file: () => null, live: () => null };
    expect(driftOf({ desired: state, live: is }, plan, times).violations).toMatchObject([
      { code: "email-domains", name: "joe@evil.example", rules: "hq/policy.yaml" },
    ]);
  });
});

describe("for all rules of a file, and all that are enforced on it", () => {
  const cases = fc.record({ want: desiredStates, is: liveStates, own: ruleSets, by: ruleSets });
  const enforced = ({ want, own, by }: { want: DesiredState; own: RuleSet; by: RuleSet }): DesiredState => ({
    ...want,
    ...own,
    enforced: [rules(by)],
  });
  const keysOf = (plan: Plan): readonly string[] => plan.deferred.map(({ change }) => change.fingerprint);

  test("no plan passes that the enforced rules alone would have refused, or made wait", () => {
    fc.assert(
      fc.property(cases, (one) => {
        const plan = planOf(enforced(one), one.is);
        const alone = planOf({ ...one.want, ...one.by }, one.is);
        const waits = new Set(keysOf(plan));
        if (plan.refusals.length > 0) return;
        expect(keysOf(alone).filter((key) => !waits.has(key))).toEqual([]);
        if (waits.size === alone.deferred.length) expect(alone.refusals).toEqual([]);
      }),
      { numRuns: runs(200) },
    );
  });

  test("nothing that the file says takes a refusal by the enforced rules away", () => {
    const written = ({ guards: { minHolders: _, ...guards }, ...rest }: RuleSet): RuleSet => ({
      ...rest,
      guards,
    });
    const refused = (plan: Plan) => plan.refusals.filter((one) => one.rules !== undefined);
    fc.assert(
      fc.property(cases, (one) => {
        const { want, is, by } = one;
        const state = enforced({ ...one, own: written(one.own) });
        const silent = { guards: NO_GUARDS, policies: NO_POLICIES, checks: [] };
        const alone = refused(planOf({ ...want, ...silent, enforced: [rules(by)] }, is));
        expect(refused(planOf(state, is))).toEqual(alone);
        const all = (plan: Plan) => plan.refusals.flatMap(({ override }) => override ?? []);
        expect(refused(overridden(state, is, all))).toEqual(alone);
      }),
      { numRuns: runs(200) },
    );
  });
});

test("what the project enforces less strictly, or allows, is listed as looser", () => {
  const strict = rules({
    guards: { protect: { roles: [], members: ["ada@example.com"] }, maxRemovals: { count: 1 } },
    policies: { ...NO_POLICIES, maxHolders: { Payer: 1 } },
    checks: [
      { kind: "at-most", can: "payouts_edit", atMost: 1, origin: { file: "hq/policy.yaml", path: [] } },
    ],
  });
  const other = rules({ files: ["hq/dates.yaml"] });
  const base = desired({ enforced: [strict, other], allowed: ["members"] });
  const renamed = { roles: [role("Cash desk", { previously: ["Payer"] })] };
  expect(looseningsOf(base, { ...base, ...renamed }, matches)).toEqual([]);
  const head = desired({ ...renamed, enforced: [rules()], allowed: ["members", "ignore", "sync"] });
  expect(looseningsOf(base, head, matches).map(({ topic, text }) => `${topic}: ${text}`)).toEqual([
    "enforced rules: at most 1 → 25% may be removed (hq/policy.yaml)",
    "enforced rules: the member ada@example.com is no longer protected (hq/policy.yaml)",
    'enforced rules: "Cash desk" may have 1 → any number of holders (hq/policy.yaml)',
    "enforced rules: the check that at most 1 can payouts_edit is gone (hq/policy.yaml)",
    "enforced rules: the rules of hq/dates.yaml are no longer enforced",
    "enforced rules: the file may also have ignore, sync",
  ]);
  expect(looseningsOf(base, desired({ enforced: [strict, other] }), matches)).toMatchObject([
    { text: "the file may have any section" },
  ]);
});
