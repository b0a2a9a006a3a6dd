import { stripVTControlCharacters } from "node:util";
import fc from "fast-check";
import { createElement } from "react";
import stringWidth from "string-width";
import { describe, expect, test } from "vitest";
import { planChanges, planParts } from "../../../../src/kernel/plan/build-plan.ts";
import { dependenciesBetween, leftOutWith, selectionJudge } from "../../../../src/kernel/plan/select.ts";
import type { DesiredState } from "../../../../src/model/desired.ts";
import type { LiveState } from "../../../../src/model/live.ts";
import type { Plan, Refusal, Selection } from "../../../../src/model/plan.ts";
import type { Pressed } from "../../../../src/show/screen/browse/browse-keys.ts";
import type { BrowseState } from "../../../../src/show/screen/browse/browse-state.ts";
import { browseScreen } from "../../../../src/show/screen/browse/browser.tsx";
import { BrowserView } from "../../../../src/show/screen/browse/browser-view.tsx";
import { PLAIN, type Style } from "../../../../src/show/style.ts";
import { risksOf } from "../../../../src/show/view/risk-view.ts";
import { desiredStates, liveStates } from "../../../support/arbitrary.ts";
import {
  desired,
  live,
  liveMember,
  liveRole,
  matches,
  member,
  NO_POLICIES,
  NOW,
  planOf,
  role,
} from "../../../support/build.ts";
import { linesOf } from "../../../support/lines-of.ts";
import { runs } from "../../../support/property-runs.ts";
import { richPlan } from "../../../support/rich-plan.ts";

const SIZE = { columns: 80, rows: 30 };

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
  tab: false,
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
  tab: { tab: true },
  suspend: { ctrl: true },
};

interface Seat {
  readonly plan: Plan;
  readonly planWithout: (leaveOut: ReadonlySet<string>) => Plan;
  readonly files: DesiredState;
  readonly live: LiveState;
}

/** A plan of which parts can be judged, as a session makes it. */
function seat(want: DesiredState, is: LiveState): Seat {
  const parts = planParts(
    { desired: want, live: is, service: "https://service.example", now: NOW, matches },
    planChanges,
  );
  return { plan: parts(), planWithout: parts, files: want, live: is };
}

/** A plan as it is; what is left out changes nothing of it. */
function fixed(plan: Plan): Seat {
  return { plan, planWithout: () => plan, files: desired(), live: live() };
}

/** Somebody with plans on the screen. */
function sit(
  seats: readonly Seat[],
  {
    selects = true,
    size = SIZE,
    objection = (_: Selection): string | null => null,
    style = PLAIN,
  }: Partial<{
    selects: boolean;
    size: typeof SIZE;
    objection: (one: Selection) => string | null;
    style: Style;
  }> = {},
) {
  const dependencies = dependenciesBetween(seats.map(({ plan }) => plan));
  const judge = selectionJudge(seats);
  const screen = browseScreen({
    plans: seats.map(({ plan }) => plan),
    judge,
    leftOut: (chosen) => leftOutWith(dependencies, chosen),
    objection,
    permissionsOf: (merchant, id) => {
      const found = seats
        .find(({ plan }) => plan.merchant === merchant)
        ?.live.roles.find((one) => one.id === id);
      return found?.permissions ?? null;
    },
    fileOf: ({ plan }) => `${plan.merchant.toLowerCase()}.yaml`,
    fileLineOf: ({ plan }) => ({ file: `${plan.merchant.toLowerCase()}.yaml`, line: 7 }),
    placeOf: (_, found) => ("rule" in found ? "shared/rules.yaml:3:5" : null),
    selects,
  });
  let state: BrowseState = screen.start(size);
  let window = size;
  const seen = () =>
    linesOf(createElement(BrowserView, { view: screen.view(state, window), size: window }), window, style);
  const at = (line: string): boolean => line.startsWith("❯");
  return {
    /** Named keys stand in angle brackets: `<down>`; the rest is text. */
    keys(text: string) {
      for (const [, name, letter] of text.matchAll(/<(\w+)>|(.)/gs)) {
        const pressed =
          name === undefined
            ? { input: String(letter), key: NO_KEY }
            : { input: name === "suspend" ? "z" : "", key: { ...NO_KEY, ...NAMED[name] } };
        state = screen.press(state, pressed, window);
      }
      return seen();
    },
    paste(text: string) {
      state = screen.press(state, { input: text, key: NO_KEY }, window);
      return seen();
    },
    resize(columns: number, rows: number) {
      window = { columns, rows };
      return seen();
    },
    seen,
    state: () => state,
    selection: () => judge(state.chosen),
    /** The list, without the detail. */
    list: () =>
      seen()
        .slice(2, -1)
        .map((text) => text.split(" │")[0]?.trimEnd() ?? "")
        .filter((text) => text !== ""),
    /** The detail, without the list. */
    detail: () =>
      seen()
        .slice(2, -1)
        .map((text) => text.split("│ ")[1]?.trimEnd() ?? ""),
    cursor: () => seen().find(at)?.split(" │")[0]?.slice(2).trim(),
  };
}

/** Two roles and their holders: one comes, one goes. */
function shop(merchant = "MC1", rest: Partial<DesiredState> = {}): Seat {
  const is = live(
    [liveRole("role_1", "Old", { permissions: ["refunds_create", "catalog_view"] })],
    [liveMember("mem_1", "ada@example.com", { roles: ["role_1"] }), liveMember("mem_2", "cy@example.com")],
  );
  const want = desired({
    merchant,
    roles: [role("New", { permissions: ["catalog_view", "payouts_edit"] })],
    members: [member("ada@example.com", { roles: ["New"] }), member("bo@example.com", { roles: ["New"] })],
    ...rest,
  });
  return seat(want, { ...is, merchant });
}

describe("the list", () => {
  test("is unfolded as far as fits, with what each change gives and takes, and its risks", () => {
    expect(sit([shop()]).list()).toEqual([
      "❯ ▾ MC1                  +2 ~1 -2 !",
      "    [x] + role New             +2",
      "    [x] - role Old             -2 !",
      "    [x] ~ ada@example.com   +1 -1 !",
      "    [x] + bo@example.com       +2 !",
      "    [x] - cy@example.com          !",
    ]);
  });

  test("of several merchants opens the first ones that fit, and all of them at a key", () => {
    const many = sit([shop("MC2"), shop("MC10"), shop("MC1")], { size: { columns: 80, rows: 17 } });
    const tops = many.list().filter((text) => /MC\d/.test(text));
    expect(tops.map((text) => text.replace("❯", " ").slice(2, 8).trim())).toEqual([
      "▾ MC1",
      "▾ MC2",
      "▸ MC10",
    ]);
    expect(many.keys("o").filter((text) => text.includes("▸"))).toEqual([]);
    expect(many.keys("c").filter((text) => text.includes("▸"))).toHaveLength(3);
  });

  test("stays unfolded as it was when the window changes", () => {
    const one = sit([shop()]);
    one.resize(80, 10);
    expect(one.resize(80, 30).filter((text) => text.includes("[x]"))).toHaveLength(5);
  });

  test("shows the position, and the highlighted row wherever the keys go", () => {
    const one = sit([shop()], { size: { columns: 80, rows: 10 } });
    expect(one.seen()[0]).toMatch(/^5 changes at 1 merchant · 5 selected +1\/6$/);
    expect(one.keys("jj")[0]).toMatch(/3\/6$/);
    expect(one.cursor()).toContain("role Old");
    expect(one.keys("G")[0]).toMatch(/6\/6$/);
    expect(one.cursor()).toContain("cy@example.com");
    expect(one.keys("<home><pgdn>")[0]).toMatch(/6\/6$/);
    expect(one.keys("gk")[0]).toMatch(/1\/6$/);
  });

  test("folds a merchant from anywhere below it", () => {
    const one = sit([shop()]);
    one.keys("jjj<left>");
    expect(one.cursor()).toMatch(/^▾ MC1/);
    one.keys("<left>");
    expect(one.list()).toHaveLength(1);
    one.keys("<right>");
    expect(one.list()).toHaveLength(6);
  });
});

describe("names with numbers", () => {
  const names = ["p10", "p9", "p100", "p1"].map((name) => `${name}@example.com`);
  const natural = ["p1", "p9", "p10", "p100"].map((name) => `${name}@example.com`);
  const namesIn = (lines: readonly string[]) =>
    lines.flatMap((text) => text.match(/p\d+@example\.com/) ?? []);

  test("are in natural order below a merchant, in its detail and in the list of risks", () => {
    const is = live(
      [],
      names.map((name, at) => liveMember(`mem_${at}`, name, { roles: ["role_view"] })),
    );
    const one = sit([seat(desired({ members: [] }), is)]);
    expect(namesIn(one.list())).toEqual(natural);
    expect(
      namesIn(
        one
          .keys("r")
          .slice(2)
          .map((text) => text.split("│")[0] ?? ""),
      ),
    ).toEqual(natural);
    one.keys("jj");
    expect(namesIn(one.detail())).toEqual(natural);
  });
});

describe("the detail", () => {
  test("of a member shows roles and access before and after, with the line of the file", () => {
    const one = sit([shop()], { size: { columns: 120, rows: 30 } });
    one.keys("jjj");
    expect(one.detail().join("\n").trimEnd().split("\n")).toEqual([
      "~ update member ada@example.com",
      "MC1 · mc1.yaml:7",
      "",
      "! ada@example.com",
      "Gains payouts_edit: control over access, keys, the account or",
      "money.",
      "",
      "Roles: 1 before, 1 after",
      "  - Old",
      "  + New",
      "",
      "Access: 2 permissions before, 2 after",
      "  - refunds_create",
      "  + payouts_edit !",
      "    catalog_view",
    ]);
  });

  test("of a role shows whom it concerns", () => {
    const is = live(
      [liveRole("role_1", "Till", { permissions: ["catalog_view"] })],
      [liveMember("mem_1", "ada@example.com", { roles: ["role_1"] })],
    );
    const one = sit([
      seat(desired({ roles: [role("Till", { permissions: ["catalog_view", "catalog_edit"] })] }), is),
    ]);
    one.keys("j");
    expect(one.detail().join("\n")).toMatch(/Grants: 1 permission before, 2 after\n {2}\+ catalog_edit\n/);
    expect(one.detail().join("\n")).toMatch(/catalog_edit +\+1\n\n {2}ada@example\.com \+catalog_edit/);
  });

  test("of a refusal says why, where the rule is, what to do and how to override it", () => {
    const one = sit([refused()]);
    one.keys("r<down>");
    const text = one.detail().join("\n");
    expect(text).toContain("✗ guard max-removals");
    expect(text).toContain("shared/rules.yaml:3:5");
    expect(text).toMatch(/→ To override:\n {2}apply --allow\n {2}max-removals=2@[0-9a-f]{12}/);
  });

  test("is scrolled from the list, and from within", () => {
    const permissions = Array.from({ length: 40 }, (_, index) => `area${10 + index}_view`);
    const one = sit([seat(desired({ roles: [role("Big", { permissions })] }), live())], {
      size: { columns: 80, rows: 20 },
    });
    one.keys("j");
    expect(one.detail()[0]).toBe("+ create role Big");
    one.keys("JJJ");
    expect(one.detail()[1]).toContain("area10_view");
    one.keys("<tab>G");
    expect(one.detail().at(-1)).toContain("area49_view");
    expect(one.cursor()).toContain("role Big");
    one.keys("<esc>k");
    expect(one.cursor()).toMatch(/^▾ MC1/);
  });

  test("takes the place of the list in a narrow window", () => {
    const one = sit([shop()], { size: { columns: 60, rows: 24 } });
    expect(one.seen().join("\n")).not.toContain("│");
    expect(one.keys("jjj<enter>")[2]).toBe("~ update member ada@example.com");
    expect(one.keys("<esc>")[2]).toMatch(/^ {2}▾ MC1/);
    expect(one.keys("<right>")[2]).toBe("~ update member ada@example.com");
  });
});

/** A plan that removes two people where none may be removed. */
function refused(rest: Partial<DesiredState["guards"]> = {}): Seat {
  const is = live([], [liveMember("mem_1", "ada@example.com"), liveMember("mem_2", "bo@example.com")]);
  const guards = { protect: { roles: [], members: [] }, maxRemovals: { count: 0 }, ...rest };
  return seat(desired({ members: [member("new@example.com")], guards }), is);
}

function withMerchant({ planWithout, ...one }: Seat, merchant: string): Seat {
  const named = (leaveOut: ReadonlySet<string>): Plan => ({ ...planWithout(leaveOut), merchant });
  return { ...one, plan: named(new Set()), planWithout: named };
}

describe("leaving a change out", () => {
  test("leaves out what needs it, says why, and updates every number at once", () => {
    const one = sit([shop()]);
    expect(one.seen().slice(0, 2)).toEqual([
      expect.stringContaining("5 changes at 1 merchant · 5 selected"),
      "+2 ~1 -2 · ! 4 risks · 2 gain, 1 lose",
    ]);
    one.keys("j ");
    expect(one.seen().slice(0, 2)).toEqual([
      expect.stringContaining("5 changes at 1 merchant · 1 selected"),
      "+0 ~0 -1 · ! 1 risk · nobody gains or loses",
    ]);
    expect(one.list()).toEqual([
      "  ▾ MC1                        -1 !",
      "❯   [ ] + role New",
      "    [·] - role Old",
      "    [·] ~ ada@example.com",
      "    [·] + bo@example.com",
      "    [x] - cy@example.com          !",
    ]);
    one.keys("jjj");
    expect(one.detail()).toContain("Left out too: it needs the role New.");
  });

  test("changes what the other changes give and take, in their rows and in the detail of equal ones", () => {
    const is = live(
      [liveRole("role_1", "Till", { permissions: ["catalog_view"] }), liveRole("role_2", "Desk")],
      [liveMember("mem_1", "ada@example.com", { roles: ["role_2"] })],
    );
    const want = desired({
      roles: [role("Till", { permissions: ["catalog_view", "catalog_edit"] }), role("Desk")],
      members: ["ada", "bo"].map((name) => member(`${name}@example.com`, { roles: ["Till"] })),
    });
    const one = sit([seat(want, is)]);
    expect(one.list().slice(1)).toEqual([
      "    [x] ~ role Till            +1",
      "    [x] ~ ada@example.com      +2",
      "    [x] + bo@example.com       +2",
    ]);
    one.keys("j ");
    expect(one.list().slice(1)).toEqual([
      "❯   [ ] ~ role Till",
      "    [x] ~ ada@example.com      +1",
      "    [x] + bo@example.com       +1",
    ]);

    const many = Array.from({ length: 20 }, (_, index) =>
      member(`m${index}@example.com`, { roles: ["Till"] }),
    );
    const crowd = sit([seat({ ...want, members: many }, is)], { size: { columns: 120, rows: 30 } });
    crowd.keys("jjj");
    expect(crowd.cursor()).toContain("20 members");
    expect(crowd.detail()).toContain("  [x] m2@example.com +2");
    const plan = sit([seat({ ...want, members: many }, is)], {
      size: { columns: 120, rows: 30 },
      selects: false,
    });
    plan.keys("jjj");
    expect(plan.detail()).toContain("  m2@example.com +2");
    crowd.keys("kk jj");
    expect(crowd.cursor()).toContain("20 members");
    expect(crowd.detail()).toContain("  [x] m2@example.com +catalog_view");
  });

  test("keeps the mark of a heading while a risk of it is left", () => {
    const one = sit([refused({ maxRemovals: { count: 9 } })]);
    const marked = () => one.list().map((text) => text.includes("!"));
    expect(marked()).toEqual([true, true, true, false]);
    one.keys("j ");
    expect(marked()).toEqual([true, false, true, false]);
    one.keys("j ");
    expect(marked()).toEqual([false, false, false, false]);
  });

  test("that are too many removals is shown at each of them, and the refusal leads to one", () => {
    const three = sit([refused(), { ...refused() }].map((one, at) => withMerchant(one, `MC${at}`)));
    expect(three.list().filter((text) => text.includes("✗"))).toHaveLength(6);
    three.keys("rj");
    expect(three.cursor()).toMatch(/guard max-removal.*2 merchants$/);
    three.keys("l");
    expect(three.cursor()).toContain("- ada@example.com");
    three.keys("r ");
    expect(three.seen()[0]).toContain("2 selected");
    expect(three.seen()[1]).not.toContain("✗");
  });

  test("takes a change in again together with what it needs", () => {
    const one = sit([shop()]);
    expect(one.keys("j jjj ")[0]).toContain("5 selected");
    expect(one.seen().at(-1)).toBe("With 3 other changes that belong together with it.");
  });

  test("takes refusals away, and brings them", () => {
    const one = sit([refused()]);
    expect(one.seen()[1]).toContain("✗ 1 refusal");
    expect(one.list()[0]).toMatch(/^❯ ▾ MC1 .*✗$/);
    expect(one.keys("j j ")[1]).not.toContain("✗");
    expect(one.keys(" ")[1]).toContain("✗ 1 refusal");
  });

  test("from the list of risks keeps the place", () => {
    const one = sit([refused()]);
    one.keys("r");
    expect(one.list().slice(0, 4)).toEqual([
      "❯ An apply would be refused (1)",
      "    ✗ guard max-removals 2 of 2 mem…",
      "  2 members are removed",
      "    ! ada@example.com not in the fi…",
    ]);
    one.keys("jjj ");
    expect(one.seen()[0]).toContain("2 selected");
    expect(one.cursor()).toContain("bo@example.com");
    one.keys("<right>");
    expect(one.cursor()).toContain("[x] - bo@example.com");
    expect(one.state().list).toBe("changes");
  });

  test("on a heading leaves out all below it", () => {
    const one = sit([shop()]);
    expect(one.keys(" ")[0]).toContain("0 selected");
    expect(one.keys("a").at(-1)).toBe("Nothing is selected.");
    expect(one.keys(" ")[0]).toContain("5 selected");
  });

  test("concerns one merchant, where several have the same to do", () => {
    const two = sit([shop("MC1"), shop("MC2")]);
    expect(two.keys(" ")[0]).toContain("10 changes at 2 merchants · 5 selected");
  });

  test("shows what waits for somebody when others are left out", () => {
    const is = live(
      [liveRole("role_1", "Key")],
      [liveMember("mem_1", "ada@example.com", { roles: ["role_1"] })],
    );
    const want = desired({
      members: [
        member("ada@example.com"),
        member("bo@example.com", { roles: ["Key"] }),
        member("cy@example.com"),
      ],
      guards: { protect: { roles: [], members: [] }, minHolders: { Key: 1 } },
    });
    const one = sit([seat(want, is)]);
    expect(one.list()).toContainEqual(expect.stringMatching(/^ {4}… ~ ada@example\.com +waits$/));
    one.keys("G");
    expect(one.detail().join(" ")).toContain("Waits until one of these has accepted: bo@example.com.");
  });

  test("counts the merchants that have changes", () => {
    const same = shop("MC2");
    const idle = { ...same, plan: { ...same.plan, changes: [] } };
    const two = sit([shop("MC1"), idle], { selects: false });
    expect(two.seen()[0]).toMatch(/^5 changes at 1 merchant /);
  });

  test("is not possible where there is nothing to select", () => {
    const one = sit([shop()], { selects: false });
    expect(one.seen()[0]).toMatch(/^5 changes at 1 merchant +1\/6$/);
    expect(one.keys(" ").at(-1)).toBe("Read-only: use apply --interactive to leave changes out.");
    expect(one.keys("a").at(-1)).toBe("Read-only: use apply --interactive to apply.");
  });
});

describe("a search", () => {
  test("goes to what it finds while it is typed, and on to the next", () => {
    const one = sit([shop()]);
    expect(one.keys("/New").at(-1)).toBe("/New▏  3 matches  Enter applies, Escape cancels");
    expect(one.cursor()).toContain("role New");
    expect(one.keys("<enter>")[0]).toContain('· 1/3 "New"');
    one.keys("n");
    expect(one.cursor()).toContain("ada@example.com");
    one.keys("nn");
    expect(one.cursor()).toContain("role New");
    expect(one.seen().at(-1)).toBe("From the beginning again.");
    one.keys("N");
    expect(one.cursor()).toContain("bo@example.com");
    expect(one.list().filter((text) => text.startsWith("›"))).toHaveLength(2);
  });

  test.each([
    ["payouts", ["role New", "ada@", "bo@"]],
    ["-refunds", ["role Old", "ada@"]],
    ["+refunds", []],
    ["delete", ["role Old", "cy@"]],
    ["Old", ["role Old", "ada@"]],
    ["mc1.yaml", ["role New", "role Old", "ada@", "bo@", "cy@"]],
  ])("finds %s in people, roles, permissions and files", (text, found) => {
    const one = sit([shop()]);
    one.keys(`/${text}<enter>&`);
    const rows = one.list().filter((row) => row.includes("[x]"));
    if (found.length === 0) {
      expect(one.state().search).toBe("");
      return;
    }
    expect(rows).toHaveLength(found.length);
    for (const [index, name] of found.entries()) expect(rows[index]).toContain(name);
  });

  test("finds a person whose roles are changed, by the change of the role", () => {
    const is = live(
      [liveRole("role_1", "Till", { permissions: ["a_view"] })],
      [liveMember("mem_1", "ada@example.com", { roles: ["role_1"] })],
    );
    const one = sit([seat(desired({ roles: [role("Till", { permissions: ["b_view"] })] }), is)]);
    one.keys("/ada@<enter>");
    expect(one.cursor()).toContain("role Till");
  });

  test("unfolds what is folded, and Escape ends it where it began", () => {
    const one = sit([shop("MC1"), shop("MC2")]);
    one.keys("cj/bo@");
    expect(one.cursor()).toContain("bo@example.com");
    one.keys("<esc>");
    expect(one.cursor()).toMatch(/MC2/);
    expect(one.state().search).toBe("");
  });

  test("that finds nothing says so", () => {
    const one = sit([shop()]);
    expect(one.keys("/nobody<enter>").at(-1)).toBe('Nothing has "nobody".');
    expect(one.keys("n").at(-1)).toBe("Search with / first.");
  });

  test("can be all that is shown, and all that is left out", () => {
    const one = sit([shop()]);
    one.keys("/cy@<enter>&");
    expect(one.list()).toHaveLength(2);
    one.keys("<home> ");
    expect(one.seen()[0]).toContain("4 selected");
    one.keys("<esc>");
    expect(one.list()).toHaveLength(6);
  });
});

describe("keys", () => {
  const pressed = (text: string, seats = [shop()]) => {
    const one = sit(seats);
    one.keys(text);
    return one.state();
  };

  test("a applies, q and Escape leave", () => {
    expect(pressed("a").end).toBe("apply");
    expect(pressed("q").end).toBe("leave");
    expect(pressed("<esc>").end).toBe("leave");
    expect(pressed("/a").end).toBeNull();
  });

  test("Escape goes back step by step, and does not forget a selection", () => {
    const one = sit([shop()]);
    one.keys("G r/cy<enter><tab><esc><esc><esc>");
    expect(one.state()).toMatchObject({ list: "changes", focus: "list", search: "", end: null });
    expect(one.keys("<esc>").at(-1)).toBe("Press q to quit and discard the selection.");
    expect(one.state().end).toBeNull();
  });

  test("Escape first shows everything again, then ends the search, and only then leaves", () => {
    const one = sit([shop()]);
    one.keys("/cy@<enter>&<esc>");
    expect(one.list()).toHaveLength(6);
    expect(one.seen()[0]).toContain('"cy@"');
    expect(one.keys("<esc>")[0]).not.toContain('"cy@"');
    expect(one.state().end).toBeNull();
    expect(one.keys("<esc>")).toBeDefined();
    expect(one.state().end).toBe("leave");
  });

  test("Ctrl-Z suspends from everywhere", () => {
    expect(pressed("<suspend>").end).toBe("suspend");
    expect(pressed("/cy<suspend>").end).toBe("suspend");
    expect(pressed("?<suspend>").end).toBe("suspend");
  });

  test("a refused selection stays as it is, and says why", () => {
    const objection = ({ plans }: Selection) =>
      plans.some(({ refusals }) => refusals.length > 0) ? "Refused, for 1 reason." : null;
    const one = sit([refused()], { objection });
    expect(one.keys("a").at(-1)).toBe("Refused, for 1 reason.");
    expect(one.state().end).toBeNull();
    one.keys("j j a");
    expect(one.state().end).toBe("apply");
  });

  test("e opens the file at the line of the change, and of an issue's", () => {
    expect(pressed("je").end).toEqual({ edit: { file: "mc1.yaml", line: 7 } });
    expect(pressed("rjje", [refused()]).end).toBeNull();
    expect(pressed("rjjje", [refused()]).end).toEqual({ edit: { file: "mc1.yaml", line: 7 } });
  });

  test("? tells every key, scrolls, and any other key returns", () => {
    const one = sit([shop()], { size: { columns: 40, rows: 10 } });
    const first = one.keys("?").join("\n");
    expect(first).toContain("one line up or down");
    expect(one.keys("G").join("\n")).toContain("✗ refused");
    expect(one.keys("x").join("\n")).toContain("MC1");
  });

  test("that come in one piece are pressed one after the other", () => {
    const one = sit([shop()]);
    one.paste("jjj");
    expect(one.cursor()).toContain("ada@example.com");
    one.paste("/cy");
    expect(one.seen().at(-1)).toContain("/cy▏");
  });
});

describe("equal changes", () => {
  const chain = Array.from({ length: 12 }, (_, index) => shop(`MC${index + 1}`));

  test("of many merchants are one row each, which unfolds to the merchants", () => {
    const one = sit(chain, { size: { columns: 160, rows: 40 } });
    expect(one.list()).toEqual([
      expect.stringMatching(/^❯ ▾ Equal at several merchants \(60\) +!$/),
      "    [x] ▸ - role Old (not in the file) in all 12 merchants -2 !",
      "    [x] ▸ + role New: + catalog_view, + payouts_edit in a… +2",
      "    [x] ▸ - cy@example.com (not in the file) in all 12 merc…  !",
      "    [x] ▸ ~ ada@example.com: - Old, + New in all 12 me… +1 -1 !",
      "    [x] ▸ + bo@example.com: + New (invitation) in all 12 … +2 !",
      "  ▸ 12 merchants with no other changes                        !",
    ]);
    one.keys("jjj<right>");
    expect(one.list().slice(4, 7)).toEqual([
      expect.stringMatching(/^ {6}\[x\] - MC1 cy@example\.com +!$/),
      expect.stringMatching(/^ {6}\[x\] - MC2 cy@example\.com +!$/),
      expect.stringMatching(/^ {6}\[x\] - MC3 cy@example\.com +!$/),
    ]);
  });

  test("are left out and taken as one, or merchant by merchant", () => {
    const one = sit(chain, { size: { columns: 160, rows: 40 } });
    expect(one.keys("jjj ")[0]).toContain("60 changes at 12 merchants · 48 selected");
    expect(one.list()[0]).toMatch(/\(60\) .*48\/60/);
    expect(one.state().chosen.size).toBe(12);
    one.keys(" ");
    expect(one.state().chosen.size).toBe(0);
    one.keys("<right>jj ");
    expect(one.list().slice(3, 6)).toEqual([
      expect.stringMatching(/^ {4}\[-\] ▾ - cy@example.com .* 11\/12 +!$/),
      expect.stringMatching(/^ {6}\[x\] - MC1 cy@example\.com +!$/),
      "❯     [ ] - MC2 cy@example.com",
    ]);
  });

  test("of many people are one row, with all of them in its detail", () => {
    const want = desired({
      roles: [role("Auditor", { permissions: ["reports_view"] })],
      members: Array.from({ length: 941 }, (_, index) =>
        member(`m${1000 + index}@example.com`, { roles: ["Auditor"] }),
      ),
    });
    const one = sit([seat(want, live())], { size: { columns: 120, rows: 30 } });
    expect(one.list()).toEqual([
      "❯ ▾ MC1                                        +942",
      "    [x] + role Auditor                           +1",
      "    [x] ▸ + 941 members: + Auditor (invitation)  +1",
    ]);
    one.keys("jj");
    expect(one.detail().slice(0, 4)).toEqual([
      "+ create 941 members: + Auditor (invitation)",
      "941 equal changes",
      "",
      "  [x] m1000@example.com +reports_view",
    ]);
    one.keys("<right>j ");
    expect(one.seen()[0]).toContain("941 selected");
    expect(one.seen()[1]).toBe("+941 ~0 -0 · 940 gain");
  });

  test("are left out at one merchant from its own row, with all that it has", () => {
    const one = sit(chain, { size: { columns: 80, rows: 40 } });
    one.keys("G<right>jj");
    expect(one.cursor()).toMatch(/^\[x\] MC2 +\+2 ~1 -2 !$/);
    expect(one.detail()[0]).toBe("MC2");
    expect(one.keys(" ")[0]).toContain("55 selected");
    expect(one.cursor()).toMatch(/^\[ \] MC2$/);
    expect(one.list()[0]).toContain("55/60");
    expect(one.keys(" <left> ")[0]).toContain("0 selected");
  });

  test("keep their roles where the list is narrow, and lose of the names", () => {
    const want = (at: number): DesiredState =>
      desired({
        merchant: `MC${at}`,
        roles: [role("Cashier", { permissions: ["catalog_view", "catalog_edit"] })],
        members: [
          member("somebody.with.a.long.name@example.com", { roles: ["Cashier"] }),
          ...Array.from({ length: 15 }, (_, index) =>
            member(`p${at}.${index}@example.com`, { roles: ["Cashier"] }),
          ),
        ],
      });
    const one = sit([1, 2, 3, 4, 5].map((at) => seat(want(at), { ...live(), merchant: `MC${at}` })));
    expect(one.list().join("\n")).toMatch(/\+ 75: \+ Cashier +\+2$/m);
    expect(one.list().join("\n")).toMatch(/\+ someb.*…: \+ Cashier +\+2$/m);
    expect(one.keys("/p2.3@<enter> ").join("\n")).toMatch(/\[-\] ▾ \+ 74\/75: \+ Cashier +\+2 /m);
  });

  test("leave the others to their merchants", () => {
    const is = live([liveRole("role_1", "Old", { permissions: ["refunds_create", "catalog_view"] })]);
    const other = seat(desired({ merchant: "MC13", roles: [role("Own", { permissions: [] })] }), is);
    const rows = sit([...chain, other], { size: { columns: 160, rows: 40 } }).list();
    expect(rows).toContain("    [x] ▸ - role Old (not in the file) in all 13 merchants -2 !");
    expect(rows.join("\n")).toMatch(/▾ MC13 .*\+1 -1/);
    expect(rows).toContain("    [x] + role Own");
    const own = sit([...chain, other], { size: { columns: 160, rows: 40 } });
    own.keys("/MC13<enter>N");
    expect(own.cursor()).toMatch(/^▾ MC13 .*\+1 -1/);
    expect(own.keys(" ")[0]).toContain("60 selected");
    expect(rows.join("\n")).toContain("▸ 12 merchants with no other changes");
  });

  test("and equal refusals stand once in the list of risks, with the merchants", () => {
    const guards = { protect: { roles: ["Old"], members: [] } };
    const is = live([liveRole("role_1", "Old")]);
    const five = Array.from({ length: 5 }, (_, index) =>
      seat(desired({ merchant: `MC${index}`, roles: [], guards }), is),
    );
    const one = sit(five, { size: { columns: 120, rows: 30 } });
    expect(one.seen()[1]).toContain("✗ 5 refusals at 5 merchants");
    one.keys("rj");
    expect(one.list().slice(0, 2)).toEqual([
      "  An apply would be refused (1)",
      expect.stringMatching(/^❯ {3}✗ guard protect .*5 merchants$/),
    ]);
    expect(one.detail().join("\n")).toContain("5 merchants\n  MC0\n  MC1");
    one.keys(" ");
    expect(one.seen()[0]).toContain("0 selected");
  });
});

const NASTY = [
  "\u001b[2J\u001b]0;x\u0007",
  "\u202egnp.exe",
  "a\nb",
  "商店の人",
  "👩‍👩‍👧‍👦👍🏽",
  "e\u0301".repeat(50),
  "שלום",
  "x".repeat(10_000),
];

test.each([40, 60, 80, 120, 200])("fits %i columns and any height, whatever the names", (columns) => {
  const want = desired({
    roles: NASTY.map((name) => role(name, { description: name, metadata: { [name]: name } })),
    members: NASTY.map((name, index) => member(`${index}${name}@example.com`, { roles: [name] })),
    policies: { ...NO_POLICIES, emailDomains: ["other.example"] },
  });
  for (const rows of [4, 10, 50]) {
    const one = sit([seat(want, live())], { size: { columns, rows } });
    for (const keys of [
      "",
      "o",
      "<end>",
      "<tab>",
      "<end>",
      "<tab>?",
      "x/",
      "שלום",
      "<enter> ",
      "r",
      "<end>",
      "<enter>",
    ]) {
      one.keys(keys);
      const lines = one.seen();
      expect(lines).toHaveLength(Math.max(rows - 1, 4));
      for (const text of lines) {
        expect(stringWidth(text)).toBeLessThanOrEqual(columns);
        expect(text).not.toMatch(/[\p{Cc}\u202a-\u202e]/u);
      }
    }
  }
});

describe.each([120, 80, 60, 40])("a screen of %i columns", (columns) => {
  test("looks like this", async () => {
    const refusal: Refusal = {
      rule: "policy",
      code: "separate",
      resource: "member",
      name: "same@example.com",
      check: null,
      message: "same@example.com would hold Refunds and Books.",
      hint: "Take one of the roles away.",
      override: null,
    };
    const one = sit([fixed({ ...richPlan(), refusals: [refusal] })], { size: { columns, rows: 26 } });
    const screens = [
      one.seen(),
      one.keys("/same@<enter>"),
      one.keys("<enter>"),
      one.keys("<esc><esc>r"),
      one.keys("r?"),
    ];
    const text = screens.map((lines) => `${lines.join("\n").trimEnd()}\n`).join(`${"=".repeat(columns)}\n`);
    await expect(text).toMatchFileSnapshot(`golden/browse-${columns}.txt`);
  });
});

test("for every selection the numbers are those of the plan that an apply makes of it", () => {
  const keys = fc.array(fc.constantFrom("j", "k", " ", "G", "o"), { minLength: 1, maxLength: 12 });
  let selections = 0;
  fc.assert(
    fc.property(desiredStates, liveStates, keys, (want, is, pressed) => {
      const whole = seat(want, is);
      fc.pre(whole.plan.changes.length > 0);
      const one = sit([whole], { size: { columns: 120, rows: 40 } });
      one.keys(`j${pressed.join("")}`);
      const plan = planOf(want, is, NOW, one.selection().leaveOut[0]);
      const of = (...kinds: readonly string[]): number =>
        plan.changes.filter(({ kind }) => kinds.includes(kind)).length;
      const gain = plan.impact.members.filter(
        (each) => each.gained.length + each.unknownGained.length > 0,
      ).length;
      const risks = risksOf(plan).reduce((sum, { items }) => sum + items.length, 0);
      const sums = one.seen()[1] ?? "";
      expect(sums).toContain(`+${of("create")} ~${of("update", "replace")} -${of("delete")}`);
      expect(/ (\d+) risks?/.exec(sums)?.[1] ?? "0").toBe(String(risks));
      expect(/ (\d+) gain/.exec(sums)?.[1] ?? "0").toBe(String(gain));
      expect(one.seen()[0]).toContain(`${plan.changes.length} selected`);
      const errors = plan.findings.filter(({ severity }) => severity === "error").length;
      expect(/✗ (\d+)/.exec(sums)?.[1] ?? "0").toBe(String(plan.refusals.length + errors));
      if (one.state().chosen.size > 0) selections += 1;
    }),
    { numRuns: runs(60) },
  );
  expect(selections).toBeGreaterThan(10);
});

test("the panes line up whatever the colours are", () => {
  const painted = (code: string) => (text: string) => `\u001b[${code}m${text}\u001b[0m`;
  const style = {
    ...PLAIN,
    dim: painted("38;5;243"),
    green: painted("38;5;28"),
    red: painted("31"),
    inverse: painted("7"),
  };
  const plain = sit([shop()]);
  const dressed = sit([shop()], { style });
  for (const keys of ["", "j ", "jjj", "<tab>", "<esc>?"]) {
    expect(dressed.keys(keys).map((text) => stripVTControlCharacters(text).trimEnd())).toEqual(
      plain.keys(keys),
    );
  }
});

test("10,000 changes: the cursor goes everywhere, and the screen shows a window of them", () => {
  const want = desired({
    roles: [role("Till", { permissions: ["catalog_view"] })],
    members: Array.from({ length: 10_000 }, (_, index) =>
      member(`m${10_000 + index}@example.com`, { roles: ["Till"] }),
    ),
  });
  const one = sit([seat(want, live())], { size: { columns: 80, rows: 24 } });
  expect(one.list().join("\n")).toContain("[x] ▸ + 10,000: + Till     +1");
  expect(one.keys("oG")).toHaveLength(23);
  expect(one.cursor()).toContain("m19999@example.com");
  one.keys("<pgup><pgup><up>");
  expect(one.cursor()).toMatch(/m199[56]\d@/);
  expect(one.keys("/m14242@<enter>")[0]).toContain('1/1 "m14242@"');
  expect(one.cursor()).toContain("m14242@example.com");
  expect(one.keys("<esc>c<home> ")[0]).toContain("0 selected");
});
