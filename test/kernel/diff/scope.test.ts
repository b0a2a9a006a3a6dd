import { expect, test } from "vitest";
import { desired, live, liveMember, liveRole, member, planOf } from "../../support/build.ts";

test("an ignored role that is named like the id of a predefined one does not hide that one", () => {
  const is = live(
    [liveRole("role_c1", "role_owner"), liveRole("role_owner", "Owner", { predefined: true })],
    [liveMember("mem_1", "ada@example.com", { roles: ["role_owner"] })],
  );
  const want = desired({
    ignore: { roles: ["role_c1"], members: [] },
    roles: [],
    members: [member("ada@example.com", { roles: ["role_owner"] })],
  });
  const { changes, findings } = planOf(want, is);
  expect(changes).toEqual([]);
  expect(findings.filter(({ severity }) => severity === "error")).toEqual([]);
});
