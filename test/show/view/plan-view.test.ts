import { expect, test } from "vitest";
import { joinSame, planView } from "../../../src/show/view/plan-view.ts";
import { desired, live, liveMember, liveRole, member, planOf, role } from "../../support/build.ts";

const bots = (count: number, type = "service_account") =>
  Array.from({ length: count }, (_, index) => {
    const email = `${type}-${String(index).padStart(4, "0")}@example.com`;
    const user = { id: email, email, type, mfaOnLogin: null, managed: false };
    return liveMember(`mem_${type}_${index}`, email, { user } as never);
  });

const warningsOf = (members: ReturnType<typeof bots>): readonly string[] =>
  joinSame(planView(planOf(desired({ members: [] }), live([], members))).untouched).map(
    ({ message }) => message,
  );

test("warnings about members whom the plan leaves as they are, are apart", () => {
  const want = (roles: readonly string[]) => desired({ members: [member("off@example.com", { roles })] });
  const is = live(
    [liveRole("role_1", "Payer")],
    [liveMember("mem_off", "off@example.com", { status: "disabled" })],
  );
  const codes = (roles: readonly string[]) => {
    const { warnings, untouched } = planView(planOf(want(roles), is));
    return [warnings, untouched].map((findings) => findings.map(({ code }) => code));
  };
  expect(codes([])).toEqual([[], ["member-disabled"]]);
  expect(codes(["Payer"])).toEqual([["member-disabled"], []]);
});

test("changes of roles with one name have their ids, whatever the kinds of change", () => {
  const twins = ["role_1", "role_2"].map((id) => liveRole(id, "Till", { permissions: ["catalog_view"] }));
  const want = desired({ roles: [role("Till", { id: "role_1", permissions: [] })] });
  const rows = planView(planOf(want, live(twins, []))).groups.flatMap((group) => group.rows);
  expect(rows.map(({ kind, remark }) => [kind, remark])).toEqual([
    ["update", "role_1"],
    ["delete", "role_2, not in the file"],
  ]);
});

test("three warnings that say the same of members are one, with a count and their names", () => {
  expect(warningsOf(bots(3))).toEqual([
    "service_account-0000@example.com is a service account that the file does not list; it is left alone. This also applies to 2 other members: service_account-0001@example.com, service_account-0002@example.com.",
  ]);
});

test("risks and warnings name people in natural order", () => {
  const names = ["till10", "till9", "till2"].map((name) => `${name}@example.com`);
  const is = live(
    [],
    names.map((name) => liveMember(`mem_${name}`, name, { status: "disabled" })),
  );
  const listed = desired({ members: names.map((name) => member(name)) });
  const [warning] = joinSame(planView(planOf(listed, is)).untouched);
  expect(warning?.message).toMatch(/^till2@.+ till9@.+ till10@/);
  const [removals] = planView(planOf(desired({ members: [] }), is)).risks;
  expect(removals?.items.map(({ name }) => name)).toEqual(names.toReversed());
});

test("of very many the first are named, and the others counted", () => {
  const [message = "", ...others] = warningsOf(bots(1_512));
  expect(others).toEqual([]);
  expect(message).toContain("This also applies to 1,511 other members: service_account-0001@example.com, ");
  expect(message).toMatch(/service_account-0010@example\.com and 1,501 more\.$/);
});

test("people whose addresses a new domain has changed share one warning", () => {
  const names = ["ada", "bob", "cy"];
  const want = desired({ members: names.map((name) => member(`${name}@new.example`, { roles: [] })) });
  const is = live(
    [],
    names.map((name) => liveMember(`mem_${name}`, `${name}@old.example`)),
  );
  expect(planView(planOf(want, is)).warnings.map(({ message }) => message)).toEqual([
    "ada@new.example would be invited, and ada@old.example would be removed: this is probably the same person, who would have no access until the invitation is accepted. This also applies to 2 other members: bob@new.example, cy@new.example.",
  ]);
});

test("two warnings, and warnings that differ in more than the name, are not merged", () => {
  expect(warningsOf(bots(2))).toHaveLength(2);
  expect(warningsOf([...bots(2), ...bots(2, "system_account")])).toHaveLength(4);
  expect(warningsOf([...bots(3), ...bots(4, "system_account")])).toHaveLength(2);
  const finding = { code: "x", severity: "warning", resource: "member", hint: null } as const;
  const says = ["one", "two", "three"].map((name, index) => ({
    ...finding,
    name,
    message: `${name} has ${index}`,
  }));
  expect(joinSame(says)).toEqual(says);
});

test("changes of one kind and one name have their ids", () => {
  const is = live(
    ["role_1", "role_2", "role_3"].map((id) => liveRole(id, id === "role_3" ? "Clerk" : "Till")),
  );
  const [roles] = planView(planOf(desired({ roles: [], members: [] }), is)).groups;
  expect(roles?.rows.map(({ name, remark }) => `${name}: ${remark}`)).toEqual([
    "Clerk: not in the file",
    "Till: role_1, not in the file",
    "Till: role_2, not in the file",
  ]);
});
