import { stripVTControlCharacters } from "node:util";
import xterm from "@xterm/headless";
import { describe, expect, test } from "vitest";
import { foldOf, foldText, WHOLE } from "../../../src/show/markdown/merchant-fold.ts";
import { PLAIN } from "../../../src/show/style.ts";
import { renderPlans } from "../../../src/show/text/plans-text.ts";
import { planView } from "../../../src/show/view/plan-view.ts";
import { desired, invited, live, liveMember, liveRole, member, planOf, role } from "../../support/build.ts";
import { HOSTILE } from "../../support/hostile.ts";
import { hostilePlan } from "../../support/hostile-plan.ts";
import { richPlan } from "../../support/rich-plan.ts";

// The package is CommonJS, and Node finds no names in it.
const { Terminal } = xterm;

test("a plan reads from changes to findings to sums, in 80 columns", async () => {
  const text = renderPlans([planView(richPlan())], PLAIN);
  await expect(text).toMatchFileSnapshot("../golden/rich-plan.txt");
  expect(text.split("\n").filter((line) => line.length > 80)).toEqual([]);
});

test("on a narrow terminal lines are broken between words, never inside one", async () => {
  const text = renderPlans([planView(richPlan())], { ...PLAIN, columns: 40 });
  await expect(text).toMatchFileSnapshot("../golden/rich-plan-40.txt");
  expect(text.split("\n").filter((line) => line.length > 40)).toEqual([]);
});

test("several merchants end with the sum of all", () => {
  const view = planView(richPlan());
  expect(renderPlans([view, view], PLAIN).trimEnd().split("\n").at(-1)).toBe(
    "An apply would be refused for MC1, MC1.",
  );
  expect(renderPlans([view, view], PLAIN)).toContain(
    "\n2 merchants: 6 to create, 10 to update, 2 to replace, 6 to delete; 6 unchanged.\n",
  );
});

test("an overridden refusal is shown as such, and not as a refusal", () => {
  const plan = richPlan();
  const [first, ...rest] = plan.refusals;
  if (first === undefined) throw new Error("nothing is refused");
  const one = renderPlans([planView(plan, undefined, [first])], PLAIN);
  expect(one).toContain(`  overridden: ${first.rule} ${first.code}: `);
  expect(one.match(/^ {4}(guard|policy|check) /gm)).toHaveLength(rest.length);
  const all = renderPlans([planView(plan, undefined, plan.refusals)], PLAIN);
  expect(all).not.toContain("refused");
  expect(all).not.toContain("To override:");
});

test("a merchant with nothing to change says so", () => {
  const plan = planOf(desired({ roles: [role("Cashier")] }), live([liveRole("role_1", "Cashier")]));
  expect(renderPlans([planView(plan)], PLAIN)).toBe(
    "MC1 · https://service.example\n\n  Plan: no changes; 1 unchanged.\n",
  );
});

test("colours dress the text and change none of it", () => {
  const paint = (code: number) => (text: string) => `\u001b[${code}m${text}\u001b[39m`;
  const dressed = {
    bold: paint(1),
    dim: paint(2),
    red: paint(31),
    green: paint(32),
    yellow: paint(33),
    cyan: paint(36),
    inverse: paint(7),
    onTerminal: false,
  };
  const views = [planView(richPlan())];
  for (const columns of [80, 40]) {
    const text = renderPlans(views, { ...dressed, columns });
    expect(text).toContain("\u001b[32m+ create\u001b[39m Stock Keeper");
    expect(text).toContain("\u001b[31m- delete\u001b[39m leaver@example.com");
    expect(stripVTControlCharacters(text)).toBe(renderPlans(views, { ...PLAIN, columns }));
  }
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
  expect(renderPlans([planView(plan)], PLAIN)).toContain(`→ To override: apply --allow ${override}\n`);
});

test("after a long plan the last lines say that it would be refused, and for whom", () => {
  const guards = { protect: { roles: ["*"], members: [] } };
  const plan = planOf(desired({ roles: [], guards }), live([liveRole("role_1", "Cashier")]));
  expect(renderPlans([planView(plan)], PLAIN)).toMatch(
    /\n {2}An apply would be refused, for the reason above\.\n$/,
  );
  const other = planOf(desired({ roles: [role("Cashier")] }), live());
  expect(renderPlans([planView(plan), planView({ ...other, merchant: "MC2" })], PLAIN)).toMatch(
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
  1 removal deferred.
`);
});

test("a deferred change of somebody who stays says what will change", () => {
  const plan = planOf(
    desired({
      members: [
        member("ada@example.com", { roles: ["role_employee"] }),
        member("bob@example.com", { roles: ["role_owner"] }),
      ],
    }),
    live(
      [
        liveRole("role_owner", "Owner", { predefined: true }),
        liveRole("role_employee", "Employee", { predefined: true }),
      ],
      [
        liveMember("mem_1", "ada@example.com", { roles: ["role_owner"] }),
        invited("mem_2", "bob@example.com", { roles: ["role_owner"] }),
      ],
    ),
  );
  expect(renderPlans([planView(plan)], PLAIN)).toContain(`  Deferred
    ~ update ada@example.com
             roles        - Owner (role_owner)
                          + Employee (role_employee)
             waits until bob@example.com has accepted`);
  expect(foldText(foldOf(planView(plan), "", false), WHOLE)).toContain(
    "\n-     roles: Owner (role_owner)\n+     roles: Employee (role_employee)\n",
  );
});

test("roles of one name are shown with their ids where a member moves between them", () => {
  const plan = planOf(
    desired({ members: [member("ada@example.com", { roles: ["role_2"] })] }),
    live(
      [liveRole("role_1", "Till"), liveRole("role_2", "Till")],
      [liveMember("mem_1", "ada@example.com", { roles: ["role_1"] })],
    ),
  );
  expect(renderPlans([planView(plan)], PLAIN)).toContain(
    "roles        - Till (role_1)\n                          + Till (role_2)",
  );
});

describe("how much is shown", () => {
  const roles = Array.from({ length: 60 }, (_, index) => liveRole(`role_${index}`, `Role ${index}`));
  const people = Array.from({ length: 60 }, (_, index) =>
    member(`person-${String(index).padStart(2, "0")}@example.com`, {
      roles: [index % 2 ? "Cashier" : "Till"],
    }),
  );
  const want = desired({
    roles: [role("Cashier", { permissions: ["sell"] }), role("Till", { permissions: ["members_create"] })],
    members: people,
  });
  const view = planView(planOf(want, live(roles)));

  test("a list of many is cut short and says so, and equal changes are one", () => {
    const text = renderPlans([view], PLAIN);
    expect(text).toContain("and 18 members more");
    expect(text).toContain("… and 56 more\n");
    expect(text.match(/--verbose/g)).toHaveLength(1);
    expect(text.trimEnd().split("\n").at(-1)).toBe("Lists are cut: --verbose shows all.");
    expect(text).toContain("    - delete 60 roles (not in the file)\n");
    expect(text.match(/^ {4}\+ 30 members: \+ (Cashier|Till) \(invitation\)\n/gm)).toHaveLength(2);
  });

  test("--verbose shows everything", () => {
    const text = renderPlans([view], PLAIN, "verbose");
    expect(text).not.toMatch(/ more\b|Lists are cut/);
    for (const { email } of people) expect(text.split(email).length).toBeGreaterThan(2);
  });

  test("--quiet shows the sum, errors and refusals only", () => {
    const plain = planView(planOf(want, live()));
    expect(renderPlans([plain], PLAIN, "quiet")).toBe(
      "MC1 · https://service.example\n  Plan: 62 to create; 0 unchanged.\n",
    );
    const empty = planView(planOf(desired(), live()));
    expect(renderPlans([empty], PLAIN, "quiet")).toBe("");
    expect(renderPlans([empty, plain, empty], PLAIN, "quiet")).toBe(
      "MC1 · https://service.example\n  Plan: 62 to create; 0 unchanged.\n\n3 merchants: 62 to create; 0 unchanged.\n",
    );
    const rich = renderPlans([planView(richPlan())], PLAIN, "quiet");
    expect(rich).toContain('error: The file grants "Cashir" to typo@example.com');
    expect(rich).toContain("guard protect");
    expect(rich).toContain("Plan: 3 to create");
    expect(rich).not.toMatch(/warning|Access|Risks|ada@example.com/);
  });
});

test("a description that stays much the same shows which words go and come", () => {
  const of = (before: string, after: string) =>
    renderPlans(
      [
        planView(
          planOf(
            desired({ roles: [role("Cashier", { description: after })] }),
            live([liveRole("role_1", "Cashier", { description: before })]),
          ),
        ),
      ],
      PLAIN,
    );
  expect(of("Opens the till at nine", "Opens the till at ten")).toContain(
    "description  Opens the till at [-nine-]{+ten+}\n",
  );
  expect(of("Opens", "Counts the stock")).toMatch(/description {2}- Opens\n +\+ Counts the stock\n/);
  expect(of("", "Counts")).toMatch(/description {2}\+ Counts\n/);
});

test("metadata show which of the values inside differ", () => {
  const before = { badge: { "a.b": 1, list: [1, { x: 1 }], same: { deep: true } }, empty: {} };
  const after = { badge: { "a.b": 2, list: [1, { x: 2 }], same: { deep: true } }, empty: {} };
  const text = renderPlans(
    [
      planView(
        planOf(
          desired({ members: [member("ada@example.com", { metadata: after })] }),
          live([], [liveMember("mem_1", "ada@example.com", { metadata: before })]),
        ),
      ),
    ],
    PLAIN,
  );
  const lines = text.split("\n").map((line) => line.trim());
  expect(lines).toContain('metadata     - badge."a.b": 1');
  expect(lines).toContain('+ badge."a.b": 2');
  expect(lines).toContain('- badge.list: [1,{"x":1}]');
  expect(text).not.toMatch(/same|empty/);
});

describe("a terminal shows a name as a name", () => {
  test.each(Object.entries(HOSTILE))("that %s", async (_, text) => {
    const output = renderPlans([planView(hostilePlan(text))], PLAIN, "verbose");
    // A line of the log that a CI system reads as a command.
    expect(output.split("\n").filter((line) => /^\s*(::|##\[)/.test(line))).toEqual([]);
    const { lines, asked, titles } = await onTerminal(output);
    expect(asked).toBe("");
    expect(titles).toEqual([]);
    const trimmed = output.split("\n").map((line) => line.trimEnd());
    expect(lines.join("\n").trimEnd()).toBe(trimmed.join("\n").trimEnd());
  });
});

/** What a terminal holds after a text was written to it: its lines, unwrapped; what it would send back; titles it was given. */
async function onTerminal(text: string) {
  const terminal = new Terminal({
    cols: 500,
    rows: 50,
    scrollback: 100_000,
    convertEol: true,
    allowProposedApi: true,
  });
  let asked = "";
  const titles: string[] = [];
  terminal.onData((data) => {
    asked += data;
  });
  terminal.onTitleChange((title) => titles.push(title));
  terminal.onBell(() => titles.push("bell"));
  for (const code of [0, 1, 2, 8, 9, 52, 777, 1337]) {
    terminal.parser.registerOscHandler(code, () => {
      titles.push(`OSC ${code}`);
      return false;
    });
  }
  await new Promise<void>((resolve) => terminal.write(text, resolve));
  const buffer = terminal.buffer.active;
  const lines: string[] = [];
  for (let row = 0; row <= buffer.baseY + buffer.cursorY; row += 1) {
    const line = buffer.getLine(row);
    const content = line?.translateToString(!buffer.getLine(row + 1)?.isWrapped) ?? "";
    if (line?.isWrapped) lines.push((lines.pop() ?? "") + content);
    else lines.push(content);
  }
  terminal.dispose();
  return { lines: lines.map((line) => line.trimEnd()), asked, titles };
}

test("prints a plan of any length without a call that takes all lines as arguments", () => {
  const plan = planOf(desired({ roles: [] }), live([liveRole("role_1", "Gone")]));
  const changes = Array.from({ length: 150_000 }, () => plan.changes).flat();
  const text = renderPlans([planView({ ...plan, changes })], PLAIN, "verbose");
  expect(text.split("\n").length).toBeGreaterThan(150_000);
});

test("the effect of a few changes stands beside each, and no totals repeat it", () => {
  const textOf = (roles: readonly (readonly string[])[]): string => {
    const want = desired({
      members: roles.map((names, index) => member(`p${index}@a.example`, { roles: names })),
    });
    const is = live(
      [
        liveRole("role_1", "Payer", { permissions: ["pay"] }),
        liveRole("role_2", "Viewer", { permissions: ["view"] }),
      ],
      roles.map((_, index) => liveMember(`mem_${index}`, `p${index}@a.example`)),
    );
    return renderPlans([planView(planOf(want, is))], PLAIN);
  };
  for (const roles of [[["Payer"]], [["Payer"], ["Payer"]]]) {
    expect(textOf(roles)).not.toMatch(/By permission|Holders by role|By member/);
    expect(textOf(roles)).toMatch(/gains +\+ pay\n/);
  }
  expect(textOf([["Payer"], ["Viewer"]])).toMatch(/p0.*gains +\+ pay\n.*p1.*gains +\+ view\n/s);
  const many = [["Payer"], ["Viewer"], ["Viewer"], ["Viewer"]];
  expect(textOf(many)).toMatch(/By permission.*Holders by role.*By member/s);
});
