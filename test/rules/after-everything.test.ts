import { describe, expect, test } from "vitest";
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
} from "../support/build.ts";

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
});
