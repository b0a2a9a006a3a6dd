import { describe, expect, test } from "vitest";
import type { Change } from "../../../src/model/plan.ts";
import {
  brief,
  briefRefusals,
  desired,
  invited,
  live,
  liveMember,
  liveRole,
  member,
  NO_POLICIES,
  planOf,
  role,
  SYNC,
  until,
} from "../../support/build.ts";

const OWNER = liveRole("role_owner", "Owner", { predefined: true, permissions: ["all"] });
const PAYER = liveRole("role_1", "Payer");

describe("the state after everything has happened", () => {
  test("is what require_mfa judges, also where the change waits", () => {
    const want = desired({
      members: [
        member("ada@example.com", { roles: ["Payer"] }),
        member("new@example.com", { roles: ["role_owner"] }),
      ],
      policies: { ...NO_POLICIES, requireMfa: ["Payer"] },
    });
    const is = live([OWNER, PAYER], [liveMember("mem_1", "ada@example.com", { roles: ["role_owner"] })]);
    const plan = planOf(want, is);
    expect(plan.deferred.map(({ change }) => change.name)).toEqual(["ada@example.com"]);
    expect(briefRefusals(plan)).toEqual(["policy require-mfa ada@example.com"]);
  });

  test.each(["mem_1", "mem_2"])(
    "lets the user of the key wait, if one of two owners has to (%s)",
    (callerId) => {
      const want = desired({
        members: [member("new@example.com", { roles: ["role_owner"] })],
      });
      const owners = ["ada", "bob"].map((name, at) =>
        liveMember(`mem_${at + 1}`, `${name}@example.com`, { roles: ["role_owner"] }),
      );
      const invitation = invited("mem_3", "new@example.com", { roles: ["role_owner"] });
      const plan = planOf(want, { ...live([OWNER], [...owners, invitation]), callerId });
      expect(plan.deferred.map(({ change }) => change.id)).toEqual([callerId]);
      expect(plan.changes.map(({ id }) => id)).toEqual([callerId === "mem_1" ? "mem_2" : "mem_1"]);
      expect(briefRefusals(plan)).toEqual([]);
    },
  );

  test("has no expired invitations beside memberships, which no guard counts or protects", () => {
    const old = Array.from({ length: 5 }, (_, at) =>
      invited(`mem_9${at}`, "ada@example.com", { status: "expired", roles: ["role_1"] }),
    );
    const want = desired({
      members: [member("ada@example.com", { roles: ["Payer"] })],
      guards: { maxRemovals: { count: 0 }, protect: { roles: [], members: ["ada@example.com"] } },
    });
    const ada = liveMember("mem_1", "ada@example.com", { roles: ["role_1"] });
    const plan = planOf(want, live([PAYER], [ada, ...old]));
    expect(brief(plan)).toEqual(old.map(() => "delete member ada@example.com"));
    expect(briefRefusals(plan)).toEqual([]);
  });

  test.each([true, false])(
    "keeps a role whose holder waits, with those who move to its successor (accepted: %s)",
    (isAccepted) => {
      const want = desired({
        roles: [role("Payer", { metadata: { owner: "y" } })],
        members: [
          member("cy@example.com", { roles: ["Payer"] }),
          member("new@example.com", { roles: ["role_owner"] }),
        ],
        sync: { ...SYNC, replaceRoles: true },
      });
      const old = [
        liveMember("mem_1", "ada@example.com", { roles: ["role_owner", "role_1"] }),
        liveMember("mem_2", "cy@example.com", { roles: ["role_1"] }),
      ];
      const next = (isAccepted ? liveMember : invited)("mem_3", "new@example.com", { roles: ["role_owner"] });
      const plan = planOf(want, live([OWNER, liveRole("role_1", "Payer")], [...old, next]));
      const everything = ["delete ada@example.com", "replace Payer", "update cy@example.com"];
      const names = (changes: readonly Change[]) => changes.map(({ kind, name }) => `${kind} ${name}`).sort();
      expect(names(plan.changes)).toEqual(isAccepted ? everything : []);
      expect(names(plan.deferred.map(({ change }) => change))).toEqual(isAccepted ? [] : everything);
      expect(plan.deferred.every(({ waitsFor }) => waitsFor.join() === "new@example.com")).toBe(true);
      expect(briefRefusals(plan)).toEqual([]);
    },
  );

  test("cannot be reached where somebody new needs the successor of a role whose holder waits", () => {
    const want = desired({
      roles: [role("Payer", { metadata: { owner: "y" } })],
      members: [member("new@example.com", { roles: ["role_owner", "Payer"] })],
      sync: { ...SYNC, replaceRoles: true },
    });
    const ada = liveMember("mem_1", "ada@example.com", { roles: ["role_owner", "role_1"] });
    const plan = planOf(want, live([OWNER, liveRole("role_1", "Payer")], [ada]));
    expect(plan.refusals.map(({ message, hint }) => [message, hint])).toEqual([
      [
        'The role "Payer" would be removed, but is still held by ada@example.com.',
        "They lose the role once new@example.com has accepted: leave the role as it is in this plan, and change it in a later one.",
      ],
    ]);
  });

  test("compares somebody new with all memberships of the address, and finds nothing worse", () => {
    const gone = { until: until("2026-01-01") };
    const want = desired({
      members: [
        member("ada@example.com", { roles: ["role_0", "role_1", "role_2"] }),
        member("x@example.com", { id: "mem_1", ...gone }),
        member("y@example.com", { id: "mem_2", ...gone }),
      ],
      policies: { ...NO_POLICIES, separate: [["A", "B", "C"]] },
    });
    const roles = ["A", "B", "C"].map((name, at) => liveRole(`role_${at}`, name));
    const old = [1, 2].map((at) =>
      invited(`mem_${at}`, "ada@example.com", { status: "expired", roles: [`role_${at - 1}`, `role_${at}`] }),
    );
    for (const some of [old, old.toReversed()]) {
      expect(briefRefusals(planOf(want, live(roles, some)))).toEqual([]);
    }
  });
});
