import { expect, test } from "vitest";
import { renderPlans } from "../../src/render/plan-text.ts";
import { planView } from "../../src/render/plan-view.ts";
import { PLAIN } from "../../src/render/style.ts";
import { desired, invited, live, liveMember, liveRole, member, planOf, role } from "../support/build.ts";
import { richPlan } from "../support/rich-plan.ts";

test("a plan reads from changes to findings to sums, in 80 columns", async () => {
  const text = renderPlans([planView(richPlan())], PLAIN);
  await expect(text).toMatchFileSnapshot("golden/rich-plan.txt");
  expect(text.split("\n").filter((line) => line.length > 80)).toEqual([]);
});

test("several merchants end with the sum of all", () => {
  const view = planView(richPlan());
  expect(renderPlans([view, view], PLAIN).trimEnd().split("\n").at(-1)).toBe(
    "2 merchants: 6 to create, 6 to update, 4 to delete; 6 unchanged.",
  );
});

test("a merchant with nothing to change says so", () => {
  const plan = planOf(desired({ roles: [role("Cashier")] }), live([liveRole("role_1", "Cashier")]));
  expect(renderPlans([planView(plan)], PLAIN)).toBe(
    "MC1 · https://service.example\n\n  Plan: no changes; 1 unchanged.\n",
  );
});

test("colours dress the text and change none of it", () => {
  const mark = (name: string) => (text: string) => `<${name}>${text}</${name}>`;
  const dressed = {
    bold: mark("b"),
    dim: mark("d"),
    red: mark("r"),
    green: mark("g"),
    yellow: mark("y"),
    cyan: mark("c"),
    columns: 80,
  };
  const views = [planView(richPlan())];
  const text = renderPlans(views, dressed);
  expect(text).toContain("<g>+ create</g> Stock Keeper");
  expect(text).toContain("<r>- delete</r> leaver@example.com");
  expect(text.replaceAll(/<\/?[bdrgyc]>/g, "")).toBe(renderPlans(views, PLAIN));
});

test("names from the file and the service cannot write to the terminal", () => {
  const nasty = "A\u001b[2J\u202e\u0007\n::error::x";
  const plan = planOf(
    desired({ roles: [role(nasty, { permissions: [nasty], description: nasty })] }),
    live(),
  );
  const text = renderPlans([planView(plan)], PLAIN);
  expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\u202e]/u);
  expect(text).toContain("A\\u{1b}[2J\\u{202e}\\u{7}\\n::error::x");
  expect(text.split("\n").filter((line) => line.trimStart().startsWith("::"))).toEqual([]);
});

test("an override can be pasted into a shell, whatever the role is called", () => {
  const plan = planOf(
    desired({ roles: [], guards: { protect: { roles: ["*"], members: [] } } }),
    live([liveRole("role_1", "Shift Lead's")]),
  );
  const override = `'protect=Shift Lead'\\''s@${plan.fingerprint.slice(0, 12)}'`;
  expect(renderPlans([planView(plan)], PLAIN)).toContain(`→ If it is meant: apply --allow ${override}\n`);
});

test("after a long plan the last lines say that it would be refused, and for whom", () => {
  const guards = { protect: { roles: ["*"], members: [] } };
  const plan = planOf(desired({ roles: [], guards }), live([liveRole("role_1", "Cashier")]));
  expect(renderPlans([planView(plan)], PLAIN)).toMatch(
    /\n {2}An apply would be refused, for the reason above\.\n$/,
  );
  expect(renderPlans([planView(plan), planView(richPlan())], PLAIN)).toMatch(
    /\nAn apply would be refused for MC1\.\n$/,
  );
});

test("a removal that waits says for whom, apart from the changes", () => {
  const plan = planOf(
    desired({ members: [member("bob@example.com", { roles: ["role_owner"] })] }),
    live(
      [liveRole("role_owner", "Owner", { predefined: true })],
      [
        liveMember("mem_1", "ada@example.com", { roles: ["role_owner"] }),
        invited("mem_2", "bob@example.com", { roles: ["role_owner"] }),
      ],
    ),
  );
  expect(renderPlans([planView(plan)], PLAIN)).toBe(`MC1 · https://service.example

  Deferred
    - delete ada@example.com (not in the file)
             waits until bob@example.com has accepted: "Owner" would have too
             few holders

  Plan: no changes; 1 unchanged.
`);
});
