import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { applyPlan } from "../../../src/kernel/apply/apply-plan.ts";
import { type OrderOptions, roundsOf } from "../../../src/kernel/apply/rounds.ts";
import type { DesiredState } from "../../../src/model/desired.ts";
import { RolecallError } from "../../../src/model/errors.ts";
import type { LiveState } from "../../../src/model/live.ts";
import type { MemberImage } from "../../../src/model/plan.ts";
import type { LiveWriter } from "../../../src/model/ports.ts";
import { applyPorts } from "../../support/apply-ports.ts";
import { desired, live, liveMember, liveRole, member, OWNER, planOf, role } from "../../support/build.ts";
import { beginning, modelService } from "../../support/model-service.ts";
import { runs } from "../../support/property-runs.ts";

const ADMIN = liveRole("role_admin", "Admin", { predefined: true });
const EMPLOYEE = liveRole("role_employee", "Employee", { predefined: true });
const CUSTOM = [liveRole("role_1", "Lead"), liveRole("role_2", "Cashier")];

type Held = Readonly<Record<string, readonly string[]>>;

/** The live members, by their names, with the ids of their roles. */
function holding(held: Held): LiveState {
  const members = Object.entries(held).map(([name, roles]) =>
    liveMember(`mem_${name}`, `${name}@example.com`, { roles }),
  );
  return live([OWNER, ADMIN, EMPLOYEE, ...CUSTOM], members);
}

function wanted(held: Held, rest: Partial<DesiredState> = {}): DesiredState {
  const members = Object.entries(held).map(([name, roles]) => member(`${name}@example.com`, { roles }));
  return desired({ members, ...rest });
}

/** Returns the rounds as texts, such as "update ada, create bob". */
function roundsBetween(is: LiveState, want: DesiredState, options: OrderOptions = {}): readonly string[] {
  return roundsOf(planOf(want, is).changes, options).map(({ steps }) =>
    steps
      .map(({ change: { kind, name }, part }) => `${part === "whole" ? kind : part} ${name.split("@")[0]}`)
      .join(", "),
  );
}

describe("a role is given before it is taken from others", () => {
  const IS = holding({ ann: ["role_owner"], bob: ["role_employee"], kim: ["role_1"] });
  const WANT = wanted({ ann: ["role_employee"], bob: ["role_owner"], kim: [] });

  test("while all other changes go side by side", () => {
    expect(roundsBetween(IS, WANT)).toEqual(["update bob, update kim", "update ann"]);
  });

  test("so that a role whose new holder is refused stays where it is", async () => {
    const service = modelService(IS);
    const writer: LiveWriter = beginning({
      ...service.writer,
      updateMember: async (id, patch) => {
        if (patch.roles?.includes("role_owner")) throw new RolecallError("forbidden", "Not through the API.");
        return service.writer.updateMember(id, patch);
      },
    });
    const ports = applyPorts({ ...service, writer }, { concurrency: 10 });
    const { status, outcomes } = await applyPlan(planOf(WANT, IS), ports);
    expect(status).toBe("stopped");
    expect(outcomes.map((outcome) => `${outcome.status} ${outcome.change.name}`)).toEqual([
      "not-started ann@example.com",
      "failed bob@example.com",
      "done kim@example.com",
    ]);
    expect(service.state().members.find(({ id }) => id === "mem_ann")?.roles).toEqual(["role_owner"]);
  });

  test("also if the new holder is created", () => {
    const is = holding({ ann: ["role_1", "role_2"] });
    expect(roundsBetween(is, wanted({ ann: ["role_2"], zoe: ["role_1"] }))).toEqual([
      "create zoe",
      "update ann",
    ]);
  });

  test("also if it is handed on from one to the next", () => {
    const is = holding({ ann: ["role_owner"], bob: ["role_1"], cas: ["role_2"] });
    const want = wanted({ ann: [], bob: ["role_owner"], cas: ["role_1"] });
    expect(roundsBetween(is, want)).toEqual(["update cas", "update bob", "update ann"]);
  });

  test("before owners, roles that must keep holders, and administrators, if people exchange roles", () => {
    const exchange = (one: string, other: string, keptRoles: readonly string[] = []) =>
      roundsBetween(holding({ ann: [one], bob: [other] }), wanted({ ann: [other], bob: [one] }), {
        keptRoles,
      });
    expect(exchange("role_owner", "role_admin")).toEqual(["update bob", "update ann"]);
    expect(exchange("role_admin", "role_owner")).toEqual(["update ann", "update bob"]);
    expect(exchange("role_1", "role_admin")).toEqual(["update ann", "update bob"]);
    expect(exchange("role_1", "role_admin", ["Lead"])).toEqual(["update bob", "update ann"]);
    expect(exchange("role_employee", "role_2", ["employee"])).toEqual(["update bob", "update ann"]);
    expect(exchange("role_2", "role_employee", ["role_2"])).toEqual(["update bob", "update ann"]);
  });

  test("whoever gets and loses what: a role that must keep its holders never has fewer than before and after", () => {
    const ids = ["role_1", "role_2", "role_admin", "role_employee"];
    const roles = fc.record({
      ann: fc.subarray(ids),
      bob: fc.subarray(ids),
      cas: fc.subarray(ids),
      dan: fc.subarray(ids),
      eve: fc.subarray(ids),
    });
    const kept = fc.constantFrom(...ids);
    fc.assert(
      fc.property(roles, roles, kept, (before, after, role) => {
        const { changes } = planOf(wanted(after), holding(before));
        const rounds = roundsOf(changes, { keptRoles: [role] });
        expect(rounds.flatMap(({ steps }) => steps.map(({ change }) => change.name)).sort()).toEqual(
          changes.map(({ name }) => name).sort(),
        );
        const holds = (image: MemberImage | null): boolean =>
          image?.roles.some(({ id }) => id === role) ?? false;
        const roundsWith = (had: boolean, has: boolean): readonly number[] =>
          rounds.flatMap(({ steps }, index) =>
            steps.some(
              ({ change }) =>
                change.resource === "member" && holds(change.before) === had && holds(change.after) === has,
            )
              ? [index]
              : [],
          );
        const lastGiven = Math.max(-1, ...roundsWith(false, true));
        expect(Math.min(rounds.length, ...roundsWith(true, false))).toBeGreaterThan(lastGiven);
      }),
      { numRuns: runs(60) },
    );
  });
});

describe("the access of the key's own user is reduced last of all", () => {
  const caller = { id: "mem_ann", roles: ["role_owner"] };

  test("after the removals of others and of roles", () => {
    const is = holding({ ann: ["role_owner"], bob: ["role_owner"], zoe: ["role_employee"] });
    const demoted = wanted({ ann: ["role_employee"], zoe: ["role_owner"] }, { roles: [role("Lead")] });
    expect(roundsBetween(is, demoted, { caller })).toEqual([
      "update zoe",
      "delete bob",
      "delete Cashier",
      "update ann",
    ]);
    const removed = wanted({ zoe: ["role_owner"] }, { roles: [role("Lead")] });
    expect(roundsBetween(is, removed, { caller })).toEqual([
      "update zoe",
      "delete bob",
      "delete Cashier",
      "delete ann",
    ]);
  });

  test("if its role loses permissions", () => {
    const boss = liveRole("role_9", "Boss", { permissions: ["members_delete", "members_update"] });
    const is = live(
      [boss],
      [
        liveMember("mem_ann", "ann@example.com", { roles: ["role_9"] }),
        liveMember("mem_bob", "bob@example.com"),
      ],
    );
    const narrowed = { roles: [role("Boss", { permissions: ["members_update"] })] };
    const own = { caller: { id: "mem_ann", roles: ["role_9"] } };
    expect(roundsBetween(is, wanted({ ann: ["Boss"] }, narrowed), own)).toEqual([
      "delete bob",
      "update Boss",
    ]);
    expect(roundsBetween(is, wanted({ ann: ["Boss"] }, narrowed), { caller })).toEqual([
      "update Boss",
      "delete bob",
    ]);
    // Nobody else gets more than the plan shows.
    expect(roundsBetween(is, wanted({ ann: ["Boss"], bob: ["Boss"] }, narrowed), own)).toEqual([
      "update Boss",
      "update bob",
    ]);
  });

  test("and what waits for it follows: the deletion of its role, and a role that it would see grow", () => {
    const is = live(
      [liveRole("role_8", "Old"), liveRole("role_9", "Boss")],
      [
        liveMember("mem_ann", "ann@example.com", { roles: ["role_8", "role_9"] }),
        liveMember("mem_bob", "bob@example.com"),
      ],
    );
    const want = wanted({ ann: [] }, { roles: [role("Boss", { permissions: ["refunds_create"] })] });
    const own = { caller: { id: "mem_ann", roles: ["role_8", "role_9"] } };
    expect(roundsBetween(is, want, own)).toEqual(["delete bob", "update ann", "widen Boss, delete Old"]);
  });

  test("unless somebody else is to lose a role that it gets", () => {
    const is = holding({ ann: ["role_admin"], bob: ["role_owner"], kim: [] });
    const want = wanted({ ann: ["role_owner"], bob: [] });
    expect(roundsBetween(is, want, { caller: { id: "mem_ann", roles: ["role_admin"] } })).toEqual([
      "update ann",
      "update bob",
      "delete kim",
    ]);
  });
});
