import stringWidth from "string-width";
import { describe, expect, test } from "vitest";
import type { Plan, Refusal } from "../../../src/model/plan.ts";
import { dependenciesBetween } from "../../../src/plan/judge-selection.ts";
import { leftOutWith } from "../../../src/plan/select.ts";
import { PLAIN } from "../../../src/render/style.ts";
import type { Pressed } from "../../../src/render/tui/browse-keys.ts";
import { type BrowseState, INITIAL_BROWSE_STATE } from "../../../src/render/tui/browse-model.ts";
import { browseScreen } from "../../../src/render/tui/browser.tsx";
import { desired, live, liveMember, liveRole, member, planOf, role } from "../../support/build.ts";
import { richPlan } from "../../support/rich-plan.ts";

const SIZE = { columns: 80, rows: 40 };

const NO_KEY: Pressed["key"] = {
  upArrow: false,
  downArrow: false,
  leftArrow: false,
  rightArrow: false,
  pageUp: false,
  pageDown: false,
  home: false,
  end: false,
  return: false,
  escape: false,
  ctrl: false,
  backspace: false,
  delete: false,
};

const NAMED: Readonly<Record<string, Partial<Pressed["key"]>>> = {
  up: { upArrow: true },
  down: { downArrow: true },
  left: { leftArrow: true },
  right: { rightArrow: true },
  pgdn: { pageDown: true },
  pgup: { pageUp: true },
  home: { home: true },
  end: { end: true },
  enter: { return: true },
  esc: { escape: true },
  rub: { backspace: true },
};

/** Somebody with plans on the screen. */
function sit(plans: readonly Plan[], { selects = true, size = SIZE } = {}) {
  const dependencies = dependenciesBetween(plans);
  const screen = browseScreen({
    plans,
    leftOut: (chosen) => leftOutWith(dependencies, chosen),
    selects,
    style: PLAIN,
  });
  let state: BrowseState = INITIAL_BROWSE_STATE;
  const seen = () => screen.lines(state, size).map((text) => text.trimEnd());
  return {
    /** Named keys stand in angle brackets: `<down>`; the rest is text. */
    keys(text: string) {
      for (const [, name, letter] of text.matchAll(/<(\w+)>|(.)/gs)) {
        const pressed =
          name === undefined
            ? { input: String(letter), key: NO_KEY }
            : { input: "", key: { ...NO_KEY, ...NAMED[name] } };
        state = screen.press(state, pressed, size);
      }
      return seen().filter((text) => text !== "");
    },
    paste(text: string) {
      state = screen.press(state, { input: text, key: NO_KEY }, size);
      return seen();
    },
    seen,
    state: () => state,
    cursor: () =>
      seen()
        .find((text) => text.startsWith("❯"))
        ?.slice(2)
        .trim(),
  };
}

/** Two roles and their holders: one comes, one goes. */
function shop(merchant = "MC1"): Plan {
  const is = live(
    [liveRole("role_1", "Old", { permissions: ["refunds_create"] })],
    [liveMember("mem_1", "ada@example.com", { roles: ["role_1"] }), liveMember("mem_2", "cy@example.com")],
  );
  const want = desired({
    merchant,
    roles: [role("New", { permissions: ["catalog_view", "stock_edit"] })],
    members: [member("ada@example.com", { roles: ["New"] }), member("bo@example.com", { roles: ["New"] })],
  });
  return planOf(want, is);
}

describe("browsing a plan", () => {
  test("shows one merchant unfolded: what it means, roles, members", () => {
    expect(sit([shop()]).keys("")).toEqual([
      "5 changes at 1 merchant · 5 selected",
      "❯ ▾ MC1 · 2 to create, 1 to update, 2 to delete; 0 unchanged",
      "    ▾ Access: 2 members gain or lose permissions",
      "      ▸ ada@example.com  gains 2  loses refunds_create",
      "      ▸ bo@example.com  gains 2",
      "    ▾ Roles (2)",
      "      [x] ▸ + create  New  gains 2",
      "      [x] ▸ - delete  Old (not in the file)  loses refunds_create",
      "    ▾ Members (3)",
      "      [x] ▸ ~ update  ada@example.com  gains 2  loses refunds_create",
      "      [x] ▸ + create  bo@example.com (invitation)  gains 2",
      "      [x] ▸ - delete  cy@example.com (not in the file)",
      "space leaves out · a applies the selection · / search · ? keys · q quits",
    ]);
  });

  test("unfolds a change to its fields, and folds it again from anywhere inside", () => {
    const one = sit([shop()]);
    const shown = one.keys("/ada@<enter><end><right>");
    expect(shown.slice(3, 7)).toEqual([
      "❯     [x] ▾ ~ update  ada@example.com  gains 2  loses refunds_create",
      "        gains         + catalog_view, stock_edit",
      "        loses         - refunds_create",
      "        roles         - Old",
    ]);
    one.keys("<down><down><left>");
    expect(one.cursor()).toContain("▾ ~ update  ada@example.com");
    one.keys("<left>");
    expect(one.cursor()).toContain("▸ ~ update  ada@example.com");
    one.keys("<left>");
    expect(one.cursor()).toContain("Members");
  });

  test("several merchants begin folded, and can be unfolded all at once", () => {
    const many = sit([shop("MC1"), shop("MC2")]);
    expect(many.keys("").filter((text) => text.includes("▸"))).toHaveLength(2);
    expect(many.keys("e").filter((text) => text.includes("create  New"))).toHaveLength(2);
    expect(many.keys("c").filter((text) => text.includes("▸"))).toHaveLength(2);
  });

  test("searches while it is typed, and Escape shows everything again", () => {
    const one = sit([shop()]);
    expect(one.keys("/BO@")).toEqual([
      '5 changes at 1 merchant · 5 selected · 1 shown: "BO@"',
      "❯ ▾ MC1 · 2 to create, 1 to update, 2 to delete; 0 unchanged",
      "    ▾ Members (1 of 3)",
      "      [x] ▸ + create  bo@example.com (invitation)  gains 2",
      "Search: BO@▏  Enter keeps, Escape clears",
    ]);
    expect(one.keys("<rub><rub>").join("\n")).toContain("Search: B▏");
    expect(one.keys("<enter>").join("\n")).toContain('shown: "B"');
    expect(one.keys("<esc>")).toHaveLength(13);
    expect(one.keys("/nobody").join("\n")).toContain("No matches.");
  });

  test("filters by kind, and by what is gained and lost", () => {
    const one = sit([shop()]);
    expect(one.keys("f")[0]).toContain("2 shown: create");
    expect(one.keys("fff")[0]).toContain("2 shown: delete");
    expect(one.keys("f")[0]).not.toContain("shown");
    expect(one.keys("+stock<enter>")[0]).toContain("3 shown: gains stock");
    expect(one.keys("<esc>-refunds<enter>")[0]).toContain("2 shown: loses refunds");
  });

  test("leaves a change out, with what needs it, and says why", () => {
    const one = sit([shop()]);
    const shown = one.keys("/role new<enter><end> <esc>");
    expect(shown[0]).toContain("1 selected");
    expect(shown).toContain("      [·] ▸ + create  bo@example.com left out too: it needs the role New");
    expect(shown).toContain("      [·] ▸ - delete  Old left out too: ada@example.com still holds it");
    expect([...one.state().chosen]).toHaveLength(1);
  });

  test("takes a change in again together with what it needs", () => {
    const one = sit([shop()]);
    one.keys("/role new<enter><end> <esc>");
    expect(one.keys("/member bo@<enter><end> <esc>")[0]).toContain("5 selected");
  });

  test("selecting a heading selects everything visible below it", () => {
    const one = sit([shop()]);
    expect(one.keys(" ")[0]).toContain("0 selected");
    expect(one.keys("a").at(-1)).toBe("Nothing is selected.");
    expect(one.keys(" ")[0]).toContain("5 selected");
    expect(one.keys("fffff<home>f ")[0]).not.toContain("5 selected");
  });

  test("the same change at two merchants is selected separately", () => {
    const two = sit([shop("MC1"), shop("MC2")]);
    expect(two.keys(" ")[0]).toContain("10 changes at 2 merchants · 5 selected");
  });

  test("a applies, q and Ctrl-C leave", () => {
    const ends = (text: string) => {
      const one = sit([shop()]);
      one.keys(text);
      return one.state().end;
    };
    expect(ends("a")).toBe("apply");
    expect(ends("q")).toBe("leave");
    expect(ends("?")).toBeNull();
    const one = sit([shop()]);
    expect(one.keys("/a").at(-1)).toContain("Search: a");
    expect(one.state().end).toBeNull();
  });

  test("where there is nothing to select, space and a say where there is", () => {
    const one = sit([shop()], { selects: false });
    expect(one.keys("")[0]).toBe("5 changes at 1 merchant");
    expect(one.keys(" ").at(-1)).toBe("Read-only: use apply --interactive to leave changes out.");
    expect(one.keys("a").at(-1)).toBe("Read-only: use apply --interactive to apply.");
  });

  test("? tells every key, and any key goes back", () => {
    const one = sit([shop()]);
    expect(one.keys("?").join("\n")).toMatch(/Keys\n.*one line up or down/);
    expect(one.keys("x").join("\n")).toContain("MC1");
  });

  test("keys that come in one piece are pressed one after the other", () => {
    const one = sit([shop()]);
    one.paste("jjj");
    expect(one.cursor()).toContain("bo@example.com");
    one.paste("/cy");
    expect(one.seen().at(-1)).toContain("Search: cy▏");
  });

  test("refusals and warnings come first, and deferred removals last", () => {
    const refusal: Refusal = {
      rule: "policy",
      code: "separate",
      resource: null,
      name: null,
      check: null,
      message: "Two at once.",
      hint: "",
      override: null,
    };
    const plan = { ...richPlan(), refusals: [refusal] };
    const shown = sit([plan], { size: { columns: 80, rows: 200 } })
      .keys("e")
      .join("\n");
    const at = (text: string) => shown.indexOf(text);
    expect(at("An apply would be refused")).toBeGreaterThan(0);
    expect(at("Access:")).toBeGreaterThan(at("An apply would be refused"));
    expect(at("Members (")).toBeGreaterThan(at("Roles ("));
  });
});

const NASTY = [
  "\u001b[2J\u001b]0;x\u0007",
  "\u202egnp.exe",
  "a\nb",
  "商店の人",
  "e\u0301".repeat(50),
  "שלום",
  "x".repeat(10_000),
];

test.each([60, 80, 120, 200, 250])("fits %i columns and any height, whatever the names", (columns) => {
  const want = desired({
    roles: NASTY.map((name) => role(name, { description: name, metadata: { [name]: name } })),
    members: NASTY.map((name, index) => member(`${index}${name}@example.com`, { roles: [name] })),
  });
  for (const rows of [4, 24, 70]) {
    const one = sit([planOf(want, live())], { size: { columns, rows } });
    for (const keys of ["", "e", "<end>", "<pgup>", "?", "x/", "שלום", "<enter> "]) {
      one.keys(keys);
      const lines = one.seen();
      expect(lines).toHaveLength(rows - 1 < 3 ? 3 : rows - 1);
      for (const text of lines) {
        expect(stringWidth(text)).toBeLessThanOrEqual(columns);
        expect(text).not.toMatch(/[\p{Cc}\u202a-\u202e]/u);
      }
    }
  }
});

test("10,000 changes: the cursor goes everywhere, and the screen shows a window of them", () => {
  const want = desired({
    roles: [role("Till", { permissions: ["catalog_view"] })],
    members: Array.from({ length: 10_000 }, (_, index) =>
      member(`m${10_000 + index}@example.com`, { roles: ["Till"] }),
    ),
  });
  const one = sit([planOf(want, live())], { size: { columns: 80, rows: 24 } });
  expect(one.keys("").join("\n")).toContain(
    "    [x] ▸ + 10,000 members: + Till (invitation): m10000@example.com",
  );
  expect(one.keys("/member<enter><end>")).toHaveLength(23);
  expect(one.cursor()).toContain("m19999@example.com");
  one.keys("<pgup><pgup><up>");
  expect(one.cursor()).toMatch(/m199[56]\d@/);
  expect(one.keys("<esc><home>/m14242@")[0]).toContain("1 shown");
  expect(one.keys("<esc>e<end>").length).toBe(23);
  expect(one.keys("<home> ")[0]).toContain("0 selected");
});

describe("equal changes of many merchants", () => {
  const chain = Array.from({ length: 12 }, (_, index) => shop(`MC${index + 1}`));

  test("are one row for each, which unfolds to the merchants", () => {
    const one = sit(chain);
    expect(one.keys("")).toEqual([
      "60 changes at 12 merchants · 60 selected",
      "❯ ▾ Equal changes of several merchants (60)",
      "    [x] ▸ - role Old (not in the file) in all 12 merchants",
      "    [x] ▸ - cy@example.com (not in the file) in all 12 merchants",
      "    [x] ▸ + role New: + catalog_view, + stock_edit in all 12 merchants",
      "    [x] ▸ ~ ada@example.com: - Old, + New in all 12 merchants",
      "    [x] ▸ + bo@example.com: + New (invitation) in all 12 merchants",
      "  and 12 merchants with nothing besides",
      "space leaves out · a applies the selection · / search · ? keys · q quits",
    ]);
    expect(one.keys("<down><down><right>").slice(4, 7)).toEqual([
      "      [x] ▸ MC1  - delete  cy@example.com (not in the file)",
      "      [x] ▸ MC2  - delete  cy@example.com (not in the file)",
      "      [x] ▸ MC3  - delete  cy@example.com (not in the file)",
    ]);
  });

  test("are left out and taken as one, or merchant by merchant", () => {
    const one = sit(chain);
    expect(one.keys("<down><down> ").slice(0, 4)).toEqual([
      "60 changes at 12 merchants · 48 selected",
      "  ▾ Equal changes of several merchants (60) · 48 of 60 selected",
      "    [x] ▸ - role Old (not in the file) in all 12 merchants",
      "❯   [ ] ▸ - cy@example.com (not in the file) · 0 of 12 selected in all 12 merch…",
    ]);
    expect(one.state().chosen.size).toBe(12);
    one.keys(" ");
    expect(one.state().chosen.size).toBe(0);
    expect(one.keys("<right><down><down> ").slice(3, 6)).toEqual([
      "    [-] ▾ - cy@example.com (not in the file) · 11 of 12 selected in all 12 merc…",
      "      [x] ▸ MC1  - delete  cy@example.com (not in the file)",
      "❯     [ ] ▸ MC2  - delete  cy@example.com (not in the file)",
    ]);
  });

  test("are shown at each merchant in a search", () => {
    const lines = sit(chain).keys("/mc7 <enter>");
    expect(lines.filter((line) => line.includes("▸"))).toHaveLength(5);
    expect(lines[1]).toMatch(/^❯ ▾ MC7 /);
  });

  test("leave the others to their merchants", () => {
    const is = live([liveRole("role_1", "Old", { permissions: ["refunds_create"] })]);
    const other = planOf(desired({ merchant: "MC13", roles: [role("Own", { permissions: [] })] }), is);
    const lines = sit([...chain, other]).keys("");
    expect(lines).toContain("    [x] ▸ - role Old (not in the file) in all 13 merchants");
    expect(lines).toContain("  ▸ MC13 · 1 to create, 1 to delete; 0 unchanged");
    expect(lines).toContain("  and 12 merchants with nothing besides");
  });
});

test("a refusal of many merchants stands once above the changes", () => {
  const guards = { protect: { roles: ["Old"], members: [] } };
  const chain = Array.from({ length: 5 }, (_, index) =>
    planOf(desired({ merchant: `MC${index}`, roles: [], guards }), live([liveRole("role_1", "Old")])),
  );
  expect(sit(chain).keys("")).toEqual([
    "5 changes at 5 merchants · 5 selected",
    "❯ ▾ An apply would be refused (1)",
    '      guard protect In all 5 merchants: The role "Old" is protected, and',
    "                    this plan would delete it.",
    "  ▾ Equal changes of several merchants (5)",
    "    [x] ▸ - role Old (not in the file) in all 5 merchants",
    "  and 5 merchants with nothing besides",
    "space leaves out · a applies the selection · / search · ? keys · q quits",
  ]);
});
