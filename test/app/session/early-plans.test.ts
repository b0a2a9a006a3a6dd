import { expect, test } from "vitest";
import { startEarlyPlans } from "../../../src/app/session/early-plans.ts";
import {
  type OpenSession,
  plannedOnly,
  planSessions,
  type Session,
} from "../../../src/app/session/session.ts";
import type { DesiredState } from "../../../src/model/desired.ts";
import { RolecallError } from "../../../src/model/errors.ts";
import { desired, live, liveMember, member, NOW, planOf, role } from "../../support/build.ts";

const SHOP = { roles: [role("Cashier")], members: [member("ada@example.com")] };
const IS = live([], [liveMember("mem_1", "bob@example.com")]);
const shop = (merchant: string): DesiredState => desired({ merchant, ...SHOP });

/** A session whose plans wait for `turn`. */
function opener(turn: () => Promise<void> = async () => undefined) {
  const running = { now: 0, most: 0 };
  const open: OpenSession = (state) => ({
    state,
    environment: null,
    writer: {} as never,
    lookup: {} as never,
    keySource: "ROLECALL_API_KEY",
    findDenied: async () => [],
    plan: async () => {
      running.now += 1;
      running.most = Math.max(running.most, running.now);
      await turn();
      running.now -= 1;
      const plan = planOf(state, { ...IS, merchant: state.merchant });
      return { live: IS, plan, planAt: () => plan, planWithout: () => plan };
    },
  });
  return { open, running };
}

test("a merchant is planned from its whole state, of which nothing is kept but the plan", async () => {
  const ended: unknown[] = [];
  const early = startEarlyPlans(
    opener().open,
    () => true,
    NOW,
    (...args) => ended.push(args),
  );
  const kept = await early.plan(shop("MC1"));
  expect(kept).toEqual(desired({ merchant: "MC1" }));
  expect(early.has(kept)).toBe(true);
  expect(early.has({ ...kept })).toBe(false);
  const [one] = plannedOnly(await early.take([kept]));
  expect(one?.plan).toEqual(planOf(shop("MC1"), { ...IS, merchant: "MC1" }));
  expect(one?.live).toEqual({ merchant: "MC1", roles: [], members: [], callerId: null });
  expect(one?.session.state).toBe(kept);
  await expect(one?.session.plan()).rejects.toThrow("MC1 has been released");
  expect(ended).toEqual([["MC1", null]]);
});

test("a merchant that is not selected is released without a plan", async () => {
  const early = startEarlyPlans(
    opener().open,
    (code) => code === "MC1",
    NOW,
    () => undefined,
  );
  const other = await early.plan(shop("MC2"));
  expect(other).not.toHaveProperty("members");
  expect(early.has(other)).toBe(false);
  expect(await early.take([other])).toEqual([]);
});

test("a merchant without a key, or that cannot be read, has its failure, and a bug is thrown at the end", async () => {
  const error = new RolecallError("key-missing", "There is no API key.");
  const without = startEarlyPlans(
    ({ merchant }) => ({ status: "failed", merchant, error }),
    () => true,
    NOW,
    () => undefined,
  );
  expect(await without.take([await without.plan(shop("MC1"))])).toEqual([
    { status: "failed", merchant: "MC1", error },
  ]);
  const broken = startEarlyPlans(
    opener(() => Promise.reject(error)).open,
    () => true,
    NOW,
    () => undefined,
  );
  expect(await broken.take([await broken.plan(shop("MC1"))])).toMatchObject([{ status: "failed", error }]);
  const wrong = startEarlyPlans(
    opener(() => Promise.reject(new TypeError("a bug"))).open,
    () => true,
    NOW,
    () => undefined,
  );
  await expect(wrong.take([await wrong.plan(shop("MC1"))])).rejects.toThrow("a bug");
});

test("hundreds of merchants are planned, a bounded number at once", async () => {
  const { open, running } = opener(() => new Promise((resolve) => setImmediate(resolve)));
  const early = startEarlyPlans(
    open,
    () => true,
    NOW,
    () => undefined,
  );
  const states: DesiredState[] = [];
  for (let at = 0; at < 300; at += 1) states.push(await early.plan(shop(`MC${at}`)));
  const planned = await early.take(states);
  expect(plannedOnly(planned).map(({ plan }) => plan.merchant)).toEqual(
    states.map(({ merchant }) => merchant),
  );
  expect(running.most).toBe(24);
});

test("merchants are planned in natural order, and the plans sorted by code", async () => {
  const { open } = opener();
  const ended: string[] = [];
  const all = ["MC10", "MC156", "MC2"].map((code) => open(shop(code)) as Session);
  const planned = await planSessions({ all, failed: [] }, (merchant) => ended.push(merchant));
  expect(ended).toEqual(["MC2", "MC10", "MC156"]);
  expect(plannedOnly(planned).map(({ plan }) => plan.merchant)).toEqual(["MC10", "MC156", "MC2"]);
});
