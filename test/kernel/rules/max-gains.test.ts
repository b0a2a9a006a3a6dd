import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { applyOverrides, parseOverride } from "../../../src/kernel/rules/overrides.ts";
import { combinedGuards } from "../../../src/kernel/rules/settings/every-setting.ts";
import { sensitiveIn } from "../../../src/kernel/rules/settings/sensitive.ts";
import type {
  Amount,
  DesiredMember,
  DesiredRole,
  DesiredState,
  GuardSettings,
  RunLimits,
} from "../../../src/model/desired.ts";
import type { LiveState } from "../../../src/model/live.ts";
import type { Plan } from "../../../src/model/plan.ts";
import {
  desired,
  invited,
  judgedRun,
  live,
  liveMember,
  liveRole,
  member,
  NO_GUARDS,
  planOf,
  role,
} from "../../support/build.ts";
import { runs } from "../../support/property-runs.ts";

const SHARED = { origin: { file: "shared.yaml", path: ["roles", 0] } };
const email = (index: number): string => `m${index}@example.com`;
const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index);

/** Cashiers at a merchant, whose role is in a shared file. */
function shop(cashiers: number, added: readonly string[], rest: Partial<DesiredState> = {}) {
  const permissions = ["orders_view"];
  const is = live(
    [liveRole("role_1", "Cashier", { permissions })],
    numbers(cashiers).map((index) => liveMember(`mem_${index}`, email(index), { roles: ["role_1"] })),
  );
  const state = desired({
    roles: [role("Cashier", { permissions: [...permissions, ...added], ...SHARED })],
    members: numbers(cashiers).map((index) => member(email(index), { roles: ["Cashier"] })),
    ...rest,
  });
  return { is, state };
}

const codes = ({ refusals }: Plan): readonly string[] => refusals.map(({ code }) => code);
const planned = ({ is, state }: { readonly is: LiveState; readonly state: DesiredState }): Plan =>
  planOf(state, is);

describe("gains at a merchant", () => {
  test("a line in a shared role gives ten people a sensitive permission, and no more", () => {
    expect(codes(planned(shop(10, ["payouts_edit"])))).toEqual([]);
    const plan = planned(shop(11, ["api_keys_create", "payouts_edit"]));
    expect(codes(plan)).toEqual(["max-gains"]);
    expect(plan.refusals[0]?.message).toBe(
      "11 members would newly hold sensitive permissions (api_keys_create, payouts_edit); the limit is 10: m0@example.com, m10@example.com, m1@example.com, m2@example.com, m3@example.com and 6 more.",
    );
    const guards = { ...NO_GUARDS, maxGains: { sensitive: { count: 4 } } };
    expect(planned(shop(5, ["payouts_edit"], { guards })).refusals[0]?.message).toMatch(
      /: m0@example\.com, m1@example\.com, m2@example\.com, m3@example\.com, m4@example\.com\.$/,
    );
    expect(codes(planned(shop(40, ["orders_edit"])))).toEqual([]);
    expect(codes(planned(shop(300, ["payouts_edit"], { members: [] })))).toEqual(["max-removals"]);
  });

  test("what only the base branch counts as sensitive is refused as a rule that the branch loosens", () => {
    const refusedBy = (own: readonly string[]) =>
      planned(
        shop(11, ["payouts_edit", "orders_refund"], {
          projects: [{ sensitive: own, run: { maxRemovals: { percent: 100 } } }, { by: "base" }],
        }),
      ).refusals.map(({ by }) => by ?? "own");
    expect(refusedBy(["members_*"])).toEqual(["base"]);
    expect(refusedBy(["orders_*"])).toEqual(["own"]);
  });

  test("new entries of the merchant's own file count for administrators only, those of a shared file do", () => {
    const hires = (origin: object) => ({
      is: live([liveRole("role_1", "Cashier", { permissions: ["payouts_edit"] })], []),
      state: desired({
        roles: [role("Cashier", { permissions: ["payouts_edit"], ...SHARED })],
        members: numbers(25).map((index) => member(email(index), { roles: ["Cashier"], ...origin })),
      }),
    });
    expect(codes(planned(hires({})))).toEqual([]);
    expect(codes(planned(hires({ origin: { file: "shared.yaml", path: ["members", 0] } })))).toEqual([
      "max-gains",
    ]);
    const admins = (count: number) => ({
      is: live([liveRole("role_admin", "Admin", { predefined: true })], []),
      state: desired({
        members: numbers(count).map((index) => member(email(index), { roles: ["role_admin"] })),
      }),
    });
    expect(codes(planned(admins(2)))).toEqual([]);
    expect(codes(planned(admins(3)))).toEqual(["max-gains"]);
  });

  test("a file limits permissions, patterns and roles, or turns the defaults off", () => {
    const limited = (maxGains: NonNullable<GuardSettings["maxGains"]>) =>
      codes(planned(shop(11, ["orders_edit", "payouts_edit"], { guards: { ...NO_GUARDS, maxGains } })));
    expect(limited({})).toEqual([]);
    expect(limited({ sensitive: { count: 11 } })).toEqual([]);
    expect(limited({ sensitive: { percent: 0 } })).toEqual(["max-gains"]);
    expect(limited({ sensitive: { percent: 100 }, "orders_*": { count: 3 } })).toEqual(["max-gains"]);
    expect(limited({ sensitive: { percent: 100 }, "catalog_*": { count: 0 } })).toEqual([]);
  });

  test("a limit may name a role, under its former name too, and whichever role has it", () => {
    const roles = [liveRole("role_1", "Boss", { metadata: { owner: "it" } })];
    const is = live(roles, [
      liveMember("mem_0", email(0), { roles: ["role_1"] }),
      liveMember("mem_1", email(1), { roles: [] }),
    ]);
    const limits = combinedGuards([{ max_gains: { Boss: 0, "Team Lead": 2 } }], (name) =>
      name === "Team Lead" ? "Boss" : name,
    );
    expect(limits.maxGains).toEqual({ Boss: { count: 0 } });
    const held = (people: readonly DesiredMember[], metadata: DesiredRole["metadata"] = { owner: "it" }) =>
      planOf(
        desired({
          sync: { ...desired().sync, replaceRoles: true },
          roles: [role("Boss", { metadata })],
          members: people,
          guards: { ...limits, protect: NO_GUARDS.protect },
        }),
        is,
      ).refusals.map(({ message }) => message);
    const boss = (index: number, rest: object = {}) => member(email(index), { roles: ["Boss"], ...rest });
    const nobody = member(email(1), { roles: [] });
    expect(held([boss(0), boss(1)])).toEqual([
      "1 member would newly hold Boss; the limit is 0: m1@example.com.",
    ]);
    expect(held([boss(0), nobody], { owner: "hq" })).toEqual([]);
    const bos = { ...NO_GUARDS, maxGains: { Bos: { count: 0 } } };
    const { findings } = planOf(desired({ members: [nobody, member(email(0))], guards: bos }), is);
    expect(findings).toMatchObject([{ severity: "error", code: "rule-role-unknown", name: "Bos" }]);
    expect(held([member("new@example.com", { roles: ["Boss"], previously: [email(0)] }), nobody])).toEqual(
      [],
    );
  });

  test("merchants without managed members are exempt", () => {
    const { is, state } = shop(30, ["payouts_edit"]);
    const { members: _, ...roles } = state;
    expect(codes(planOf(roles, is))).toEqual([]);
  });

  test("an override is for these people and what they gain, whatever else the plan changes", () => {
    const plan = planned(shop(11, ["payouts_edit"]));
    const override = parseOverride(`${plan.refusals[0]?.override}@${plan.fingerprint}`);
    const left = (other: Plan): readonly string[] =>
      applyOverrides(other, override === null ? [] : [override]).refusals.map(({ code }) => code);
    expect(left(plan)).toEqual([]);
    const others = [member("new@example.com")];
    const { is, state } = shop(11, ["payouts_edit"]);
    expect(left(planOf({ ...state, members: [...(state.members ?? []), ...others] }, is))).toEqual([]);
    expect(left(planned(shop(12, ["payouts_edit"])))).toEqual(["max-gains"]);
    expect(left(planned(shop(11, ["api_keys_create", "payouts_edit"])))).toEqual(["max-gains"]);
    // The same people at another merchant have not been reviewed.
    expect(left(planOf({ ...state, merchant: "MC2" }, { ...is, merchant: "MC2" }))).toEqual(["max-gains"]);
  });

  test("new members count for what their role gains in the same plan", () => {
    const { is, state } = shop(0, ["payouts_edit"]);
    const hired = (roles: readonly string[]) => ({
      ...state,
      roles: [...(state.roles ?? []), role("New", { permissions: ["payouts_edit"] })],
      members: numbers(11).map((index) => member(email(index), { roles })),
    });
    expect(codes(planOf(hired(["Cashier"]), is))).toEqual(["max-gains"]);
    expect(codes(planOf(hired(["New"]), is))).toEqual([]);
    expect(codes(planOf(hired(["Cashier", "New"]), is))).toEqual([]);
  });

  describe("a person with another address is no new member", () => {
    const move = (held: readonly string[], granted: readonly string[], rest: object = {}) => {
      const { is, state } = shop(11, []);
      const members = is.members.map((one) => ({ ...one, roles: held, ...rest }));
      const entries = numbers(11).map((index) =>
        member(`new.${email(index)}`, { roles: granted, previously: [email(index)] }),
      );
      const roles = [
        liveRole("role_2", "Payer", { permissions: ["payouts_edit"] }),
        liveRole("role_admin", "Admin", { predefined: true }),
      ];
      const payer = role("Payer", { permissions: ["payouts_edit"] });
      return {
        is: { ...is, roles: [...is.roles, ...roles], members },
        state: { ...state, roles: [...(state.roles ?? []), payer], members: entries },
      };
    };

    test("whose other gains count", () => {
      expect(codes(planned(move(["role_1"], ["Cashier", "Payer"])))).toEqual(["max-gains"]);
    });

    test("who keeps what the old membership holds, at the merchant and in a run", () => {
      const { is, state } = move(["role_1", "role_2", "role_admin"], ["Cashier", "Payer", "role_admin"]);
      const guards = { ...NO_GUARDS, maxGains: { sensitive: { count: 0 }, role_admin: { count: 0 } } };
      const plan = planOf({ ...state, guards }, is);
      expect(plan.changes.filter(({ kind }) => kind === "create")).toHaveLength(11);
      expect(codes(plan)).toEqual([]);
      const projects = [{ run: { maxGains: { sensitive: { count: 0 } } } }];
      const files = { guards: NO_GUARDS, members: [], projects };
      const run = [plan, { ...planOf(desired({ members: [] }), live()), merchant: "MC2" }];
      expect(judgedRun(run.map((one) => ({ plan: one, files }))).flatMap(codes)).toEqual([]);
    });

    test("who counts once beside the old membership, if a role of both is widened or loses a holder", () => {
      const moving = (count: number, added: readonly string[]) => {
        const { is, state } = shop(count, added);
        const next = (index: number): string => `New.${email(index)}`;
        const pending = numbers(count).map((index) =>
          invited(`mem_new_${index}`, next(index), { roles: ["role_1"] }),
        );
        const entries = numbers(count).map((index) =>
          member(next(index), { roles: ["Cashier"], previously: [email(index)] }),
        );
        return {
          is: { ...is, members: [...is.members, ...pending] },
          state: { ...state, members: entries },
        };
      };
      expect(codes(planned(moving(10, ["payouts_edit"])))).toEqual([]);
      const plan = planned(moving(11, ["payouts_edit"]));
      expect(plan.refusals.map(({ message }) => message)).toEqual([
        "11 members would newly hold sensitive permissions (payouts_edit); the limit is 10: New.m0@example.com, New.m10@example.com, New.m1@example.com, New.m2@example.com, New.m3@example.com and 6 more.",
      ]);
      const run = (count: number) => {
        const { is, state } = moving(count, ["payouts_edit"]);
        const plans = ["MC1", "MC2"].map((merchant) =>
          planOf({ ...state, merchant, guards: { ...NO_GUARDS, maxGains: {} } }, { ...is, merchant }),
        );
        const files = { guards: NO_GUARDS, members: state.members ?? [] };
        return judgedRun(plans.map((one) => ({ plan: one, files }))).flatMap(codes);
      };
      expect(run(20)).toEqual([]);
      expect(run(21)).toEqual(["run-gains", "run-gains"]);

      const losing = (count: number) => {
        const { is, state } = moving(8, []);
        const entries = (state.members ?? []).map((one, index) =>
          index < count ? { ...one, roles: [] } : one,
        );
        return planOf({ ...state, members: entries }, is);
      };
      expect(losing(4).changes).toHaveLength(8);
      expect(codes(losing(4))).toEqual([]);
      expect(losing(5).refusals.map(({ message }) => message)).toEqual([
        "5 of 16 members would be removed or lose something; the limit is 4.",
      ]);
    });

    test("who holds nothing by a membership that is disabled", () => {
      const disabled = move(["role_2"], ["Payer"], { status: "disabled" });
      expect(planned(disabled).changes.map(({ kind }) => kind)).not.toContain("create");
      // An older address of each of them is in use.
      const older = (index: number): string => `older.${email(index)}`;
      const members = (disabled.state.members ?? []).map((one, index) => ({
        ...one,
        previously: [...(one.previously ?? []), older(index)],
      }));
      const inUse = numbers(11).map((index) =>
        liveMember(`mem_older_${index}`, older(index), { roles: ["role_1"] }),
      );
      const plan = planOf(
        { ...disabled.state, members },
        { ...disabled.is, members: [...disabled.is.members, ...inUse] },
      );
      expect(plan.changes.filter(({ kind }) => kind === "create")).toHaveLength(11);
      expect(codes(plan)).toContain("max-gains");
    });
  });

  test("an expired invitation that is renewed as it was gives nobody anything", () => {
    const { is, state } = shop(11, []);
    const permissions = ["payouts_edit"];
    const expired = {
      ...is,
      roles: [liveRole("role_1", "Cashier", { permissions })],
      members: numbers(11).map((index) =>
        invited(`mem_${index}`, email(index), { roles: ["role_1"], status: "expired" }),
      ),
    };
    const renewed = (granted: readonly string[]) =>
      planOf({ ...state, roles: [role("Cashier", { permissions: granted, ...SHARED })] }, expired);
    expect(renewed(permissions).changes.map(({ kind }) => kind)).toEqual(numbers(11).map(() => "replace"));
    expect(codes(renewed(permissions))).toEqual([]);
    expect(codes(renewed([...permissions, "refunds_create"]))).toEqual(["max-gains"]);
  });
});

test("a limit with reach counts who could newly give themselves a permission", () => {
  const permissions = ["orders_view"];
  const is = live(
    [
      liveRole("role_1", "Cashier", { permissions }),
      liveRole("role_2", "Payer", { permissions: ["payouts_edit"] }),
    ],
    numbers(3).map((index) => liveMember(`mem_${index}`, email(index), { roles: ["role_1"] })),
  );
  const state = (maxGains: NonNullable<GuardSettings["maxGains"]>): DesiredState =>
    desired({
      roles: [
        role("Cashier", { permissions: [...permissions, "members_update"] }),
        role("Payer", { permissions: ["payouts_edit"] }),
      ],
      members: numbers(3).map((index) => member(email(index), { roles: ["Cashier"] })),
      guards: { ...NO_GUARDS, maxGains },
    });
  expect(codes(planOf(state({ payouts_edit: { count: 2 } }), is))).toEqual([]);
  const plan = planOf(state({ payouts_edit: { count: 2, reach: true } }), is);
  expect(plan.refusals.map(({ message }) => message)).toEqual([
    "3 members would newly hold or reach payouts_edit; the limit is 2: m0@example.com, m1@example.com, m2@example.com.",
  ]);
});

describe("gains and removals of a run", () => {
  const run = (plans: readonly Plan[], limits?: RunLimits) =>
    judgedRun(
      plans.map((plan) => ({
        plan,
        files: { guards: NO_GUARDS, members: [], ...(limits && { projects: [{ run: limits }] }) },
      })),
    );
  const merchants = (count: number, make: (merchant: number) => ReturnType<typeof shop>) =>
    numbers(count).map((index) => {
      const { is, state } = make(index);
      const merchant = `MC${index}`;
      return planOf({ ...state, merchant }, { ...is, merchant });
    });
  /** People with addresses of their own at each merchant. */
  const apart = (index: number, cashiers: number, added: readonly string[], kept = cashiers) => {
    const { is, state } = shop(cashiers, added);
    const own = (address: string | null | undefined): string => `${index}.${address}`;
    return {
      is: {
        ...is,
        members: is.members.map((one) => ({
          ...one,
          ...(one.user && { user: { ...one.user, email: own(one.user.email) } }),
        })),
      },
      state: {
        ...state,
        members: (state.members ?? []).slice(0, kept).map((one) => ({ ...one, email: own(one.email) })),
      },
    };
  };

  test("one line in a shared file that gives 360 people sensitive permissions (api_keys_create, members_update, payouts_edit) at 40 merchants is refused", () => {
    const plans = merchants(40, (index) =>
      apart(index, 9, ["payouts_edit", "members_update", "api_keys_create"]),
    );
    expect(plans.flatMap(codes)).toEqual([]);
    const judged = run(plans);
    expect(judged.map(codes)).toEqual(plans.map(() => ["run-gains"]));
    expect(judged[0]?.refusals[0]?.message).toBe(
      "This run would give 360 people new access to sensitive permissions (api_keys_create, members_update, payouts_edit) at 40 merchants; the limit for the run is 20.",
    );
    expect(run(plans, { maxGains: { sensitive: { count: 360 } } })).toEqual(plans);
    // Of the limits of a branch and its base, the stricter counts, which of a count and a share depends on the members.
    const reviewed = (own: Amount, base?: Amount) =>
      judgedRun(
        plans.map((plan) => {
          const projects = [
            { run: { maxGains: { sensitive: own } } },
            { by: "base", ...(base && { run: { maxGains: { sensitive: base } } }) } as const,
          ];
          return { plan, files: { guards: NO_GUARDS, members: [], projects } };
        }),
      ).flatMap(({ refusals }) => refusals.map(({ code, by }) => `${code} ${by ?? "own"}`));
    const refusedBy = (who: string) => plans.map(() => `run-gains ${who}`);
    expect(reviewed({ count: 360 })).toEqual(refusedBy("base"));
    expect(reviewed({ percent: 100 }, { count: 359 })).toEqual(refusedBy("base"));
    expect(reviewed({ count: 359 }, { percent: 100 })).toEqual(refusedBy("own"));
    // What the branch refuses as well is no rule that it loosens.
    expect(reviewed({ count: 359 }, { count: 20 })).toEqual(refusedBy("own"));
    expect(reviewed({ count: 360 }, { percent: 100 })).toEqual([]);
    // Merchants without managed members are exempt.
    expect(judgedRun(plans.map((plan) => ({ plan, files: { guards: NO_GUARDS } }))).flatMap(codes)).toEqual(
      [],
    );
    expect(run(judged)).toEqual(judged);
  });

  test("an override of the run is for these people, and also for the limit of each merchant", () => {
    const plans = merchants(3, (index) => apart(index, 12, ["payouts_edit"]));
    expect(plans.map(codes)).toEqual(plans.map(() => ["max-gains"]));
    const judged = run(plans);
    expect(judged.map(codes)).toEqual(plans.map(() => ["max-gains", "run-gains"]));
    const [what] =
      judged[0]?.refusals.flatMap(({ override }) => (override?.startsWith("run") ? override : [])) ?? [];
    const overrides = [`${what}@${"0".repeat(12)}`];
    const again = (some: readonly Plan[]) =>
      judgedRun(some.map((plan) => ({ plan, files: { guards: { ...NO_GUARDS, overrides }, members: [] } })));
    expect(again(plans).flatMap(codes)).toEqual([]);
    expect(again(plans).map(({ overridden = [] }) => overridden.map(({ code }) => code))).toEqual(
      plans.map(() => ["max-gains", "run-gains"]),
    );
    expect(again(plans.slice(1)).flatMap(codes)).toContain("run-gains");
  });

  test("three of ten members removed at each of 40 merchants are refused", () => {
    const plans = merchants(40, (index) => apart(index, 10, [], 7));
    expect(plans.flatMap(codes)).toEqual([]);
    const judged = run(plans);
    expect(judged.map(codes)).toEqual(plans.map(() => ["run-removals"]));
    expect(judged[0]?.refusals[0]?.message).toBe(
      "This run would remove 120 members, or take roles from them, at 40 merchants; the limit for the run is 20.",
    );
    expect(run(merchants(6, (index) => apart(index, 10, [], 7))).flatMap(codes)).toEqual([]);
    expect(run(plans.slice(0, 1)).flatMap(codes)).toEqual([]);
  });

  test("old addresses are not counted as removals, unless the new ones hold less", () => {
    const moved = (roles: readonly string[]) =>
      judgedRun(
        numbers(2).map((index) => {
          const address = (at: number, domain: string): string => `p${index}-${at}@${domain}.example`;
          const is = live(
            [liveRole("role_1", "Till"), liveRole("role_2", "Desk")],
            numbers(15).flatMap((at) =>
              ["old", "new"].map((domain) =>
                liveMember(`${domain}_${at}`, address(at, domain), {
                  roles:
                    domain === "old"
                      ? ["role_1", "role_2"]
                      : roles.map((name) => (name === "Till" ? "role_1" : "role_2")),
                }),
              ),
            ),
          );
          const members = numbers(15).map((at) =>
            member(address(at, "new"), { roles, previously: [address(at, "old")] }),
          );
          const files = desired({
            merchant: `MC${index}`,
            members,
            guards: { ...NO_GUARDS, maxRemovals: { percent: 100 } },
          });
          const plan = planOf(files, { ...is, merchant: `MC${index}` });
          expect(plan.changes.map(({ reason }) => reason)).toEqual(numbers(15).map(() => "address-changed"));
          return { plan, files };
        }),
      ).flatMap(codes);
    expect(moved(["Till", "Desk"])).toEqual([]);
    expect(moved(["Till"])).toEqual(["run-removals", "run-removals"]);
  });

  test.each([
    ["lose roles", [], "run-removals"],
    ["gain sensitive permissions", ["payouts_edit"], "run-gains"],
  ] as const)(
    "people who %s at two merchants count once, if one of these says that their addresses are the same",
    (_, becomes, code) => {
      const refused = (previously: boolean) =>
        judgedRun(
          ["old", "new"].map((domain) => {
            const merchant = `MC-${domain}`;
            const address = (at: number, of: string): string => `p${at}@${of}.example`;
            const is = {
              ...live(
                [liveRole("role_1", "Till"), liveRole("role_2", "Desk", { permissions: [...becomes] })],
                numbers(15).map((at) => liveMember(`mem_${at}`, address(at, domain), { roles: ["role_1"] })),
              ),
              merchant,
            };
            const members = numbers(15).map((at) =>
              member(address(at, domain), {
                roles: becomes.length === 0 ? [] : ["Till", "Desk"],
                ...(previously && domain === "new" && { previously: [address(at, "old")] }),
              }),
            );
            const guards = { ...NO_GUARDS, maxRemovals: { percent: 100 }, maxGains: {} };
            const files = desired({ merchant, members, guards });
            return { plan: planOf(files, is), files };
          }),
        ).flatMap(codes);
      expect(refused(false)).toEqual([code, code]);
      expect(refused(true)).toEqual([]);
    },
  );
});

const PERMISSIONS = ["orders_view", "orders_edit", "payouts_edit", "members_update", "api_keys_create"];
const ROLES = ["A", "B", "C"];

const permissionSets = fc.tuple(...ROLES.map(() => fc.subarray(PERMISSIONS)));
const people = fc.array(fc.subarray(ROLES), { minLength: 1, maxLength: 40 });
const sharedEntries = fc.array(fc.tuple(fc.nat(60), fc.subarray(ROLES, { minLength: 1 })), { maxLength: 12 });

type Sets = readonly (readonly string[])[];

/** A shared file's part of a merchant: other permissions of its roles, and entries of its own. */
interface Edited {
  readonly was: Sets;
  readonly is: Sets;
  readonly held: Sets;
  readonly entries: readonly (readonly [person: number, roles: readonly string[]])[];
}

/** Returns the plan of an edit, and the people who gain a sensitive permission, counted one by one. */
function edit({ was, is, held, entries }: Edited, merchant: string, guards: GuardSettings) {
  const asRoles = (sets: Sets): readonly DesiredRole[] =>
    ROLES.map((name, index) => role(name, { permissions: sets[index] ?? [], ...SHARED }));
  const own = held.map((names, index) => member(email(index), { roles: names }));
  const added = [...new Map(entries).entries()].map(([index, names]): DesiredMember => {
    const base = index < own.length ? (held[index] ?? []) : [];
    return member(email(index), {
      roles: [...new Set([...base, ...names])],
      origin: { file: "shared.yaml", path: ["members", index] },
    });
  });
  const after = [...own.filter((one) => !added.some((other) => other.email === one.email)), ...added];
  const state = live(
    ROLES.map((name, index) => liveRole(`role_${name}`, name, { permissions: was[index] ?? [] })),
    held.map((names, index) =>
      liveMember(`mem_${index}`, email(index), { roles: names.map((name) => `role_${name}`) }),
    ),
  );
  const files = desired({ merchant, roles: asRoles(is), members: after, guards });
  const has = (sets: Sets, names: readonly string[]): ReadonlySet<string> =>
    new Set(names.flatMap((name) => sets[ROLES.indexOf(name)] ?? []));
  const gaining = after.flatMap(({ email: address, roles: grants = [] }) => {
    const index = numbers(held.length).find((one) => email(one) === address);
    const old = has(was, index === undefined ? [] : (held[index] ?? []));
    const now = has(
      is,
      grants.map((grant) => grant.role),
    );
    const gains = [...now].some((permission) => sensitiveIn()(permission) && !old.has(permission));
    return gains ? [address] : [];
  });
  return { plan: planOf(files, { ...state, merchant }), files, gaining };
}

test("no edit of a shared file gives a sensitive permission to more people than the limit without a refusal", () => {
  const limit = fc.option(fc.nat(15), { nil: undefined });
  const property = fc.property(
    permissionSets,
    permissionSets,
    people,
    sharedEntries,
    limit,
    (was, is, held, entries, most) => {
      const guards = {
        ...NO_GUARDS,
        ...(most !== undefined && { maxGains: { sensitive: { count: most } } }),
      };
      const { plan, gaining } = edit({ was, is, held, entries }, "MC1", guards);
      const allowed = most ?? Math.max(10, Math.floor(held.length * 0.05));
      expect(codes(plan).includes("max-gains")).toBe(gaining.length > allowed);
    },
  );
  fc.assert(property, { numRuns: runs(300) });
});

test("no edit of a file that several merchants share gives more people a sensitive permission than the run may", () => {
  const shop = fc.record({ was: permissionSets, held: people, entries: sharedEntries });
  const shops = fc.array(shop, { minLength: 2, maxLength: 5 });
  const limit = fc.option(fc.nat(60), { nil: undefined });
  const property = fc.property(shops, permissionSets, limit, (chain, is, most) => {
    const guards = { ...NO_GUARDS, maxGains: {} };
    const made = chain.map((one, at) => edit({ ...one, is }, `MC${at}`, guards));
    const projects = most === undefined ? [] : [{ run: { maxGains: { sensitive: { count: most } } } }];
    const judged = judgedRun(made.map(({ plan, files }) => ({ plan, files: { ...files, projects } })));
    // The same address at two merchants is one person.
    const gaining = new Set(made.flatMap((one) => one.gaining));
    const members = chain.reduce((sum, { held }) => sum + held.length, 0);
    const isRefused = gaining.size > (most ?? Math.max(20, Math.floor(members * 0.05)));
    expect(judged.map((plan) => codes(plan).includes("run-gains"))).toEqual(
      made.map((one) => isRefused && one.gaining.length > 0),
    );
  });
  fc.assert(property, { numRuns: runs(100) });
});
