import { readFile } from "node:fs/promises";
import axe from "axe-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { declaredReport } from "../../src/ask/report/build-access-report.ts";
import { liveRuleResults } from "../../src/ask/report/rule-results.ts";
import { renderPage } from "../../src/show/html/html-page.ts";
import { planView } from "../../src/show/view/plan-view.ts";
import { findBrowser, type OpenPage, openPage } from "../support/browser.ts";
import {
  desired,
  invited,
  live,
  liveMember,
  liveRole,
  matches,
  member,
  NO_POLICIES,
  NOW,
  planOf,
  until,
} from "../support/build.ts";
import { HOSTILE, HOSTILE_TEXTS } from "../support/hostile.ts";
import { hostileStates } from "../support/hostile-plan.ts";
import { pageOf, reportOf } from "../support/report.ts";
import { richPlan, richStates } from "../support/rich-plan.ts";

const browser = findBrowser();
const MEMBERS = 10_000;

if (browser === null) {
  test("NO BROWSER WAS FOUND: the page was not looked at in one", () => {
    console.warn(
      "No browser was found, so the page was not tested. Install chromium, or name one in CHROMIUM.",
    );
  });
} else {
  describe("the page in a browser", () => pageTests(browser));
}

function pageTests(path: string): void {
  let open: OpenPage;
  const rich = richStates();
  const planPage = pageOf(rich.want, rich.is, richPlan());
  const large = largeStates();

  beforeAll(async () => {
    open = await openPage(path, planPage, { viewport: { width: 1280, height: 900 } });
  });

  beforeEach(async () => {
    await open.page.emulateMedia({ media: "screen" });
    await open.page.setViewportSize({ width: 1280, height: 900 });
  });

  afterAll(async () => {
    expect(open.requests).toEqual([]);
    expect(open.complaints).toEqual([]);
    expect(open.dialogs).toEqual([]);
    await open.close();
  });

  test("shows a plan: what is against it, its risks, every change", async () => {
    await open.open(planPage);
    const text = await open.page.locator("body").innerText();
    for (const said of [
      "Access plan: MC1",
      "1 problem to fix",
      "An apply would be refused, for 2 reasons.",
      "Plan: 3 to create, 5 to update, 1 to replace, 3 to delete; 3 unchanged.",
      "1 member becomes an administrator",
      "same@example.com: Admin (role_admin)",
      "13 changes",
    ]) {
      expect(text).toContain(said);
    }
  });

  test("marks before and after, and shows either alone", async () => {
    await open.open(planPage);
    const { page } = open;
    await page.getByRole("tab", { name: "Members" }).click();
    const row = page.locator("tr", { hasText: "ada@example.com" });
    expect(await row.getByRole("img", { name: "gains Employee" }).count()).toBe(1);
    expect(await row.getByRole("img", { name: "loses Legacy" }).count()).toBe(1);
    await page.getByRole("combobox", { name: "Show" }).selectOption("after");
    expect(await row.getByRole("img", { name: "holds Employee" }).count()).toBe(1);
    expect(await row.getByRole("img", { name: "Legacy" }).count()).toBe(0);
    expect(await page.getByRole("button", { name: "leaver@example.com" }).count()).toBe(0);
    await page.getByRole("combobox", { name: "Show" }).selectOption("both");
    await page.getByLabel("Only changed members").check();
    expect(await page.getByRole("button", { name: "off@example.com" }).count()).toBe(0);
  });

  test("begins with a table of all merchants, whose cells lead to just those members", async () => {
    const { page } = open;
    await open.open(fleetPage());
    const table = page.getByRole("region", { name: "Merchants" });
    expect(await table.innerText()).toMatch(
      /MC2\s+High Street\s+1\s+4\s+2\s+3\s+3\s+1\s+1\s+MC10\s+0\s+1\s+0\s+0\s+1\s+0\s+0\s+All 2\s+1\s+4\s+2/,
    );
    // Ada is at both.
    expect(await page.locator("header").innerText()).toContain("4 people");
    const searched = page.getByLabel("Search merchants");
    await searched.fill("high");
    expect(await table.getByRole("rowheader").allInnerTexts()).toEqual(["MC2", "All 2"]);
    await searched.fill("");
    await table.getByRole("link", { name: "1", exact: true }).first().click();
    expect(page.url()).toMatch(/#merchant=MC2&tab=rules$/);
    await page.goBack();
    await page.getByRole("button", { name: "Members", exact: true }).click();
    expect(await table.getByRole("rowheader").allInnerTexts()).toEqual(["MC2", "MC10", "All 2"]);
    await table.getByRole("link", { name: "MC2, Administrators: 2" }).click();
    expect(page.url()).toMatch(/#merchant=MC2&tab=members&only=administrators$/);
    await page.getByRole("heading", { name: "MC2" }).waitFor();
    expect(await page.locator("#panel-members tbody th .open").allTextContents()).toEqual([
      "ada@example.com",
      "eve@example.com",
    ]);
    expect(await violations(open, {})).toEqual([]);
    await page.goBack();
    await table.waitFor();
    await page.getByRole("combobox", { name: "Merchant" }).selectOption("MC10");
    await page.getByRole("button", { name: "ada@example.com" }).waitFor();
    expect(await page.getByRole("button", { name: "eve@example.com" }).count()).toBe(0);
  });

  test("shows a person at all merchants, from a search and from wherever the name is", async () => {
    const { page } = open;
    await open.open(fleetPage());
    await page.getByRole("link", { name: "People" }).click();
    await page.getByLabel("Search people").fill("ADA");
    await page.getByRole("link", { name: "ada@example.com" }).click();
    expect(page.url()).toMatch(/#person=ada%40example.com$/);
    const memberships = page.getByRole("region", { name: "Memberships" });
    expect(await memberships.innerText()).toMatch(/MC2\s+accepted\s+Owner.*MC10\s+accepted/s);
    const permissions = page.getByRole("region", { name: "Permissions" });
    expect(await permissions.innerText()).toMatch(/payouts_edit\s+sensitive\s+MC2\s+Owner/);
    expect(await violations(open, {})).toEqual([]);
    await memberships.getByRole("link", { name: "MC10" }).click();
    await page.getByRole("button", { name: "ada@example.com", exact: true }).click();
    await page.getByRole("link", { name: "At all merchants" }).click();
    await memberships.waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
  });

  test("shows once what many merchants share, names them on demand, and axe finds nothing in it", async () => {
    await open.open(fleetPlanPage());
    const { page } = open;
    const shared = page.locator(".block.equal");
    expect(await shared.innerText()).toContain("leaver@example.com (not in the file) in all 12 merchants");
    await shared.getByText("12 merchants", { exact: true }).first().click();
    expect(await shared.innerText()).toContain(
      "MC1, MC2, MC3, MC4, MC5, MC6, MC7, MC8, MC9, MC10, MC11, MC12",
    );
    expect(await violations(open, {})).toEqual([]);
  });

  test("sums a fleet's plan up: who gains and loses what as bars, the changes and sums of each merchant", async () => {
    await open.open(fleetPlanPage());
    const { page } = open;
    const bars = page.locator(".fleet-bars tr", { hasText: "catalog_view" });
    expect((await bars.innerText()).replaceAll(/\s+/g, " ")).toMatch(/^catalog_view −\d+ \+\d+ 12$/);
    const widths = (await page.evaluate(
      `[...document.querySelectorAll(".fleet-bars rect")].map((one) => one.getBoundingClientRect().width)`,
    )) as readonly number[];
    expect(Math.min(...widths)).toBeGreaterThan(1);
    const table = page.getByRole("region", { name: "Merchants" });
    const plan = table.getByTitle("3 to create, 5 to update, 1 to replace, 3 to delete").first();
    expect(await plan.innerText()).toBe("+3 ~5 ±1 −3 …1");
    const fleet = `document.querySelector(".fleet")`;
    expect(await table.getByRole("columnheader").allInnerTexts()).toContain("Failed rules");
    expect(await page.evaluate(`${fleet}.scrollWidth - ${fleet}.clientWidth`)).toBe(0);
    const ends = (await page.evaluate(
      `[...${fleet}.querySelectorAll("tbody tr[data-index] td.heat a, tfoot td.heat")].map((cell) => {
        const range = document.createRange();
        range.selectNodeContents(cell);
        return range.getBoundingClientRect().right;
      })`,
    )) as readonly number[];
    // The sums stand below their numbers.
    expect(new Set(ends.map(Math.round)).size).toBe(5);
    const link = table.getByRole("link", { name: /^MC1, Members: / });
    const count = await link.innerText();
    await link.click();
    expect(await page.getByRole("tabpanel", { name: "Members" }).getByRole("status").innerText()).toBe(
      `${count} members`,
    );
    // One of nine alone in a second row looks as if it was forgotten.
    const tops = `[...document.querySelectorAll(".tiles div")].map((one) => one.getBoundingClientRect().top)`;
    expect(new Set((await page.evaluate(tops)) as readonly number[]).size).toBe(1);
  });

  test("opens whoever a risk or the result of a rule names", async () => {
    await open.open(planPage);
    const { page } = open;
    await page.locator(".block.risk").getByRole("button", { name: "same@example.com" }).first().click();
    await page.getByRole("dialog", { name: "same@example.com" }).waitFor();
    await page.keyboard.press("Escape");
    const is = live(
      [liveRole("role_admin", "Admin", { permissions: [] })],
      [liveMember("mem_1", "ada@example.com", { roles: ["role_admin"] })],
    );
    await open.open(pageOf(desired({ policies: { ...NO_POLICIES, emailDomains: ["shop.example"] } }), is));
    await page.getByRole("tab", { name: "Rules" }).click();
    await page.locator(".rules li").getByRole("button", { name: "ada@example.com" }).click();
    await page.getByRole("dialog", { name: "ada@example.com" }).waitFor();
  });

  test("tells where each permission of a member comes from", async () => {
    await open.open(planPage);
    const { page } = open;
    await page.getByRole("tab", { name: "Members" }).click();
    await page.getByRole("button", { name: "soon@example.com" }).click();
    const dialog = page.getByRole("dialog", { name: "soon@example.com" });
    const cells = await dialog.locator("tbody tr", { hasText: "catalog_view" }).innerText();
    expect(cells).toContain("Cashier, Stock Keeper");
    expect(
      await dialog
        .locator("tbody tr", { hasText: "orders_view" })
        .getByRole("img", { name: "gains" })
        .count(),
    ).toBe(1);
    await page.keyboard.press("Escape");
    expect(await page.getByRole("dialog").count()).toBe(0);
    expect(await focused(open)).toContain("soon@example.com");
  });

  test("searches and filters members by name, role, permission and status", async () => {
    await open.open(pageOf(large.want, large.is));
    const { page } = open;
    const status = page.getByRole("tabpanel", { name: "Members" }).getByRole("status");
    await expect.poll(() => status.innerText()).toBe("10,000 members");
    await page.getByLabel("Search members").fill("person-00042@");
    await expect.poll(() => status.innerText()).toBe("1 member");
    await page.getByLabel("Search members").fill("nobody like that");
    await expect.poll(() => status.innerText()).toBe("No member.");
    await page.getByLabel("Search members").fill("");
    await page.getByRole("combobox", { name: "Role" }).selectOption({ label: "Role 3" });
    await expect.poll(() => status.innerText()).toBe("500 members");
    await page.getByRole("combobox", { name: "Status" }).selectOption("pending");
    await expect.poll(() => status.innerText()).toBe("25 members");
    await page.getByRole("combobox", { name: "Role" }).selectOption({ label: "Any role" });
    await page.getByRole("combobox", { name: "Status" }).selectOption({ label: "Any status" });
    await page.getByRole("combobox", { name: "Permission" }).selectOption("payouts_edit");
    await expect.poll(() => status.innerText()).toBe("500 members");
  });

  test("keeps only the rows in sight of 10,000 members, wherever it is scrolled", async () => {
    await open.open(pageOf(large.want, large.is));
    const { page } = open;
    const rows = page.locator("#panel-members tbody tr[data-index]");
    expect(await page.locator("#panel-members table").getAttribute("aria-rowcount")).toBe("10001");
    for (const part of [0, 0.25, 0.5, 1]) {
      await page.evaluate(
        `(() => { const s = document.querySelector("#panel-members .scroll"); s.scrollTop = s.scrollHeight * ${part}; })()`,
      );
      const index = Math.min(MEMBERS - 1, Math.floor(MEMBERS * part));
      const name = `person-${String(index).padStart(5, "0")}@example.com`;
      await page.getByRole("button", { name }).waitFor();
      expect(await rows.count()).toBeLessThan(80);
      await page.getByRole("button", { name }).waitFor();
    }
  });

  test("sorts every table by each of its columns, numbers by their value, and says so", async () => {
    await open.open(pageOf(rich.want, rich.is));
    const { page } = open;
    const people = (): Promise<readonly string[]> =>
      page.locator("#panel-members tbody th .open").allTextContents();
    const before = await people();
    await page.getByRole("button", { name: "Member", exact: true }).click();
    expect(await people()).toEqual([...before].reverse());
    expect(await page.getByRole("columnheader", { name: "Member" }).getAttribute("aria-sort")).toBe(
      "descending",
    );
    await page.getByRole("button", { name: "Cashier" }).click();
    expect(await page.locator("[aria-sort]").count()).toBe(1);
    const rows = page.locator("#panel-members tbody tr[data-index]");
    expect(await rows.first().getByRole("img", { name: "holds Cashier" }).count()).toBe(1);
    expect(await rows.last().getByRole("img", { name: "holds Cashier" }).count()).toBe(0);
  });

  test("a link opens the same tab, search, filters and order again", async () => {
    await open.open(pageOf(large.want, large.is));
    const { page } = open;
    await page.getByRole("combobox", { name: "Role" }).selectOption({ label: "Role 3" });
    await page.getByLabel("Search members").fill("person-000 @example");
    await page.getByRole("button", { name: "Member", exact: true }).click();
    const link = page.url();
    expect(link).toMatch(/#tab=members&role=Role\+3&search=person-000\+%40example&members-sort=-name$/);
    await page.getByRole("tab", { name: "End dates" }).click();
    expect(page.url()).toMatch(/#tab=ends$/);
    await page.goto("about:blank");
    await page.goto(link);
    expect(await page.getByLabel("Search members").inputValue()).toBe("person-000 @example");
    expect(await page.getByRole("tabpanel", { name: "Members" }).getByRole("status").innerText()).toBe(
      "5 members",
    );
    expect(await page.locator("#panel-members tbody th .open").allTextContents()).toEqual(
      [83, 63, 43, 23, 3].map((index) => `person-000${String(index).padStart(2, "0")}@example.com`),
    );
  });

  test("saves what a table shows as CSV, of which no cell is a formula", async () => {
    const people = [10, 9].map((index) => liveMember(`mem_${index}`, `=till-${index}@example.com`));
    await open.open(pageOf(desired(), live([], people)));
    const { page } = open;
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Members, as CSV" }).click();
    const file = await download;
    expect(file.suggestedFilename()).toBe("MC1-members.csv");
    expect(await readFile(await file.path(), "utf8")).toBe(
      "\ufeffMember,Status,MFA,Sensitive,Roles\n'=till-9@example.com,accepted,no,none,\n'=till-10@example.com,accepted,no,none,\n",
    );
  });

  test("cuts a long name in its middle, and has it whole for readers and on paper", async () => {
    const address = `${"a-long-name-".repeat(9)}42@example.com`;
    await open.open(pageOf(desired(), live([], [liveMember("mem_1", address)])));
    const { page } = open;
    const opener = page.getByRole("button", { name: address, exact: true });
    expect(await opener.locator("bdi").getAttribute("title")).toBe(address);
    expect(await opener.innerText()).toBe(address);
    const shown = `[...document.querySelectorAll(".cut")].map((one) => ["::before", "::after"].map((part) => getComputedStyle(one, part).content.split(" / ")[0]))`;
    expect(await page.evaluate(shown)).toEqual([[`"${address.slice(0, -10)}"`, '"xample.com"']]);
    await page.emulateMedia({ media: "print" });
    expect((await page.locator("#paper .cut .whole").boundingBox())?.width).toBeGreaterThan(300);
    await page.emulateMedia({ media: "screen" });
  });

  test("is used with the keyboard alone", async () => {
    await open.open(pageOf(large.want, large.is));
    const { page } = open;
    await page.keyboard.press("Tab");
    expect(await focused(open)).toBe("Skip to the content");
    await page.getByRole("tab", { name: "Members" }).focus();
    await page.keyboard.press("ArrowRight");
    expect(await focused(open)).toBe("Roles");
    await page.getByRole("tabpanel", { name: "Roles" }).waitFor();
    await page.keyboard.press("Home");
    await page.getByRole("button", { name: "person-00000@example.com" }).focus();
    await page.keyboard.press("ArrowDown");
    expect(await focused(open)).toBe("person-00001@example.com");
    await page.keyboard.press("End");
    expect(await focused(open)).toBe("person-09999@example.com");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "person-09999@example.com" }).waitFor();
    await page.keyboard.press("Escape");
    expect(await focused(open)).toBe("person-09999@example.com");
  });

  test("shows end dates in their order, and who has not accepted", async () => {
    await open.open(pageOf(large.want, large.is));
    const { page } = open;
    await page.getByRole("tab", { name: "End dates" }).click();
    await page.getByRole("combobox", { name: "What" }).selectOption("Access");
    const first = page.locator("#panel-ends tbody tr[data-index]").first();
    expect(await first.innerText()).toMatch(/2026-06-30\s+in 15 days\s+person-00000@example.com\s+Role 0/);
    await page.getByRole("tab", { name: "Invitations" }).click();
    const invitation = page.locator("#panel-invitations tbody tr[data-index]").first();
    expect(await invitation.innerText()).toMatch(/expired/);
  });

  test("shows each rule with its result, its place, and who fails it", async () => {
    const want = desired({
      guards: {
        protect: { roles: [], members: [] },
        minHolders: { role_admin: 1 },
        maxRemovals: { count: 9 },
      },
      policies: { ...NO_POLICIES, maxHolders: { Cashier: 1 }, forbidPermissions: ["owner_transfer"] },
      checks: [
        {
          kind: "at-most",
          can: "catalog_view",
          atMost: 9,
          origin: { file: "access/MC1.yaml", path: ["checks", 0] },
        },
      ],
    });
    await open.open(pageOf(want, rich.is));
    const { page } = open;
    await page.getByRole("tab", { name: "Rules" }).click();
    const panel = page.getByRole("tabpanel", { name: "Rules" });
    const rows = (await panel.locator("tbody tr[data-index]").allInnerTexts()).map((text) =>
      text.replaceAll(/\s+/g, " "),
    );
    expect(rows).toEqual([
      expect.stringMatching(/^failed policies max_holders Cashier: 1 The role "Cashier" has 5 holders .*:7$/),
      expect.stringMatching(/^failed guards min_holders role_admin: 1 "Admin" has 0 accepted holders/),
      expect.stringMatching(/^passed checks can catalog_view: at most 9 access\/MC1.yaml:7$/),
      expect.stringMatching(/^passed policies forbid_permissions/),
      expect.stringMatching(/^passed guards min_holders role_owner: 1/),
      expect.stringMatching(/^judges plans guards max_removals: 9/),
    ]);
    expect(await panel.locator(".sums").innerText()).toMatch(/2 failed\s+3 passed\s+1 judges plans/);
  });

  test("maps how many people have each permission through each role, and names them", async () => {
    await open.open(planPage);
    const { page } = open;
    await page.getByRole("tab", { name: "Roles" }).click();
    const panel = page.getByRole("tabpanel", { name: "Roles" });
    const first = panel.locator("tbody tr[data-index]").first();
    expect(await first.innerText()).toMatch(/^members_create\s+sensitive\s+3 \+1/);
    const row = panel.locator("tr", { hasText: "catalog_view" });
    expect(await row.locator("td.number").innerText()).toMatch(/^\d+ [+−]\d+$/);
    expect(await row.getByRole("button", { name: /^3 people through Cashier/ }).innerText()).toBe("3");
    expect(await row.getByRole("button", { name: "1 person (gained) through Stock Keeper" }).count()).toBe(0);
    await row.getByRole("button", { name: /\(gained\) through Stock Keeper/ }).click();
    const dialog = page.getByRole("dialog", { name: "catalog_view" });
    expect(await dialog.innerText()).toMatch(/Will have it through Stock Keeper[\s\S]*new@example.com/);
    await dialog.getByRole("button", { name: "new@example.com" }).click();
    expect(await page.getByRole("dialog", { name: "new@example.com" }).count()).toBe(1);
    await page.keyboard.press("Escape");
    await row.getByRole("button", { name: "catalog_view" }).focus();
    await page.keyboard.press("ArrowRight");
    expect(await focused(open)).toMatch(/^[+−]?\d+$/);
    await page.keyboard.press("ArrowLeft");
    expect(await focused(open)).toBe("catalog_view");
    const totals = panel.locator("tfoot");
    await totals.getByRole("button", { name: /^About Auditor/ }).click();
    expect(await page.getByRole("dialog", { name: "Auditor" }).innerText()).toContain(
      "Looks at what was sold, and at what was paid back",
    );
  });

  test("has a bar for each permission that people gain or lose, with their names", async () => {
    await open.open(planPage);
    const { page } = open;
    const bars = page.locator(".impact");
    expect((await bars.locator("tbody tr").first().innerText()).replaceAll(/\s+/g, " ")).toMatch(
      /^\S+ sensitive (−\d+ )?\+\d+$/,
    );
    const row = bars.locator("tr", { hasText: "inventory_count" });
    expect((await row.locator(".part.gained").boundingBox())?.width).toBeGreaterThan(20);
    const gain = row.getByRole("button", { name: /^\+/ });
    expect(await gain.getAttribute("title")).toBe("new@example.com, soon@example.com");
    await gain.click();
    expect(await page.getByRole("dialog", { name: "inventory_count" }).innerText()).toMatch(
      /2 people would gain it\.[\s\S]*new@example.com[\s\S]*soon@example.com/,
    );
  });

  test("tells who logs in without MFA, who may do what is sensitive, and what is not known", async () => {
    await open.open(planPage);
    const { page } = open;
    await page.getByRole("tab", { name: "Members" }).click();
    const row = (name: string) => page.locator("#panel-members tr", { hasText: name });
    const cells = async (name: string) => (await row(name).locator("td").allInnerTexts()).slice(0, 2);
    expect(await cells("same@example.com")).toEqual(["no", "administrator"]);
    expect(await cells("soon@example.com")).toEqual(["?", "none"]);
    expect(await row("soon@example.com").getByRole("img", { name: "not known" }).count()).toBe(1);
    expect(await cells("ada@example.com")).toEqual(["no", "at least 1"]);
  });

  test("draws what ends on an axis with a line for today: what has ended is before it", async () => {
    const is = live(
      [liveRole("role_1", "Cashier", { permissions: ["sell"] })],
      [
        liveMember("mem_1", "ada@example.com", { roles: ["role_1"] }),
        liveMember("mem_2", "bob@example.com", { roles: ["role_1"] }),
        invited("mem_3", "new@example.com", {
          invite: { email: "new@example.com", expiresAt: "2026-07-01T00:00:00Z" },
        }),
      ],
    );
    const want = desired({
      members: [
        member("ada@example.com", { roles: [{ role: "Cashier", until: until("2026-05-31") }] }),
        member("bob@example.com", { roles: ["Cashier"], until: until("2026-09-30") }),
      ],
    });
    await open.open(pageOf(want, is));
    const { page } = open;
    await page.getByRole("tab", { name: "End dates" }).click();
    const panel = page.getByRole("tabpanel", { name: "End dates" });
    expect(await panel.locator(".sums").innerText()).toMatch(/1 ended\s+1 within 30 days\s+1 later/);
    const rows = (await panel.locator("tbody tr[data-index]").allInnerTexts()).map((text) =>
      text.trim().replaceAll(/\s+/g, " "),
    );
    expect(rows).toEqual([
      "2026-05-31 15 days ago ada@example.com Cashier",
      "2026-07-01 in 15 days new@example.com Invitation",
      "2026-09-30 in 107 days bob@example.com Whole membership",
    ]);
    const places = (await page.evaluate(
      `[...document.querySelectorAll("#panel-ends tbody tr[data-index]")].map((row) => [".today", ".bar"].map((one) => row.querySelector(one).getBoundingClientRect()).flatMap(({ left, right }) => [left, right]))`,
    )) as readonly (readonly [number, number, number, number])[];
    const [ended, soon, later] = places.map(([today, , left, right]) => [
      left < today - 1,
      right > today + 3,
    ]);
    expect([ended, soon, later]).toEqual([
      [true, false],
      [false, true],
      [false, true],
    ]);
    expect(await panel.locator("thead").innerText()).toContain("today");
  });

  test("says what files do not tell, and counts administrators from them", async () => {
    const want = desired({ members: [member("ada@example.com", { roles: ["role_owner"] })] });
    const merchants = [{ report: declaredReport(want, NOW), view: null, rules: [] }];
    await open.open(renderPage({ about: "declared", merchants, unplanned: [], fileErrors: 0, now: NOW }));
    const { page } = open;
    expect((await page.locator(".tiles").innerText()).replaceAll(/\s+/g, " ")).toContain(
      "Administrators 1 Hold sensitive permissions 1 Without MFA not known from the files Open invitations not known from the files Expired invitations not known from the files Ending within 30 days 0",
    );
    expect(await page.getByRole("img", { name: "not known from the files" }).count()).toBe(1);
    await page.getByRole("tab", { name: "Invitations" }).click();
    expect(await page.getByRole("tabpanel", { name: "Invitations" }).innerText()).toContain(
      "only the service knows",
    );
    await page.getByRole("tab", { name: "Rules" }).click();
    expect(await page.getByRole("tabpanel", { name: "Rules" }).innerText()).toContain(
      "no guards, policies or checks",
    );
  });

  test("says that there could be more where the permissions of a role are not known", async () => {
    const want = desired({
      members: [
        member("ada@example.com", { roles: ["role_owner"] }),
        member("bob@example.com", { roles: ["role_accountant"] }),
      ],
    });
    const merchants = ["MC1", "MC2"].map((code) => ({
      report: { ...declaredReport(want, NOW), merchant: code },
      view: null,
    }));
    await open.open(renderPage({ about: "declared", merchants, unplanned: [], fileErrors: 0, now: NOW }));
    const { page } = open;
    const link = page.getByRole("link", { name: "MC1, Hold sensitive permissions: at least 1" });
    expect(await page.locator("tfoot").innerText()).toMatch(/All 2\s+2\s+1\s+at least 1\s/);
    await link.click();
    expect((await page.locator(".tiles").innerText()).replaceAll(/\s+/g, " ")).toContain(
      "Administrators 1 Hold sensitive permissions at least 1 Without",
    );
  });

  test("shows what has ended and is in the files still, and counts nobody for it", async () => {
    const past = until("2026-01-31");
    const members = [
      member("ada@example.com", { roles: ["role_owner", { role: "Cashier", until: past }] }),
      member("bob@example.com", { roles: [{ role: "Cashier", until: past }] }),
    ];
    const merchants = [{ report: declaredReport(desired({ members }), NOW), view: null }];
    await open.open(renderPage({ about: "declared", merchants, unplanned: [], fileErrors: 0, now: NOW }));
    const { page } = open;
    expect(await page.getByRole("tabpanel", { name: "Members" }).getByRole("status").innerText()).toBe(
      "1 member",
    );
    await page.getByRole("tab", { name: "End dates" }).click();
    const panel = page.getByRole("tabpanel", { name: "End dates" });
    expect(await panel.locator(".sums").innerText()).toBe("2 ended");
    await panel.getByRole("button", { name: "bob@example.com" }).click();
    expect(await page.getByRole("dialog").innerText()).toMatch(/ended[\s\S]*Cashier: 2026-01-31/);
  });

  test("puts every part and every row on paper", async () => {
    const page = open.page;
    await open.open(planPage);
    await page.emulateMedia({ media: "print" });
    await expect.poll(() => page.locator("#paper table[aria-label=Members] tbody tr").count()).toBe(11);
    for (const title of ["Plan", "Members", "Roles", "Rules", "End dates", "Invitations"]) {
      await page.locator("#paper h3", { hasText: title }).first().waitFor();
    }
    const results = await page.locator("#paper .rules tbody td:first-child").allInnerTexts();
    expect(results.findLastIndex((text) => text.endsWith("failed"))).toBeLessThan(results.indexOf("passed"));
    expect(await page.getByRole("tablist").isVisible()).toBe(false);
    await page.emulateMedia({ media: "screen" });
    await expect.poll(() => page.locator("#paper").count()).toBe(0);
  });

  test("prints only the merchant that is selected, and says first if all of them take minutes", async () => {
    const page = open.page;
    const printed = async (): Promise<readonly string[]> => {
      await page.emulateMedia({ media: "print" });
      await page.locator("#paper").waitFor();
      const titles = await page.locator("#paper > section > h2").allInnerTexts();
      await page.emulateMedia({ media: "screen" });
      await expect.poll(() => page.locator("#paper").count()).toBe(0);
      return titles;
    };
    await open.open(fleetPlanPage());
    expect((await printed()).slice(0, 2)).toEqual(["Merchants", "MC1"]);
    expect(await page.getByText("takes minutes").count()).toBe(0);
    await page.locator("#picker select").selectOption("MC2");
    await page.locator("h2.view", { hasText: "MC2" }).waitFor();
    expect(await printed()).toEqual(["MC2"]);
    const { want, is } = largeStates();
    const merchants = ["MC1", "MC2"].map((merchant) => ({
      report: { ...reportOf(want, is, planOf(want, is)), merchant },
      view: null,
      rules: [],
    }));
    await open.open(renderPage({ about: "live", merchants, unplanned: [], fileErrors: 0, now: NOW }));
    await page.getByText("Printing all merchants takes minutes").waitFor();
  });

  test("fits a narrow screen without scrolling sideways", async () => {
    await open.page.setViewportSize({ width: 360, height: 740 });
    await open.open(planPage);
    for (const tab of ["Plan", "Members", "Roles", "Rules", "End dates", "Invitations"]) {
      await open.page.getByRole("tab", { name: tab }).click();
      expect(await open.page.evaluate("document.documentElement.scrollWidth")).toBe(360);
    }
    await open.page.setViewportSize({ width: 1280, height: 900 });
  });

  test("has nothing that keeps people from using it, on wide and narrow screens and on paper", async () => {
    // Only here the policy is bypassed: the checker is a script of its own.
    const own = await openPage(path, planPage, { bypassCSP: true, viewport: { width: 1280, height: 900 } });
    const tabs = ["Plan", "Members", "Roles", "Rules", "End dates", "Invitations"];
    try {
      for (const colorScheme of ["light", "dark"] as const) {
        // The colours alone differ in the dark.
        const rules = colorScheme === "light" ? {} : { runOnly: ["color-contrast"] };
        await own.page.emulateMedia({ colorScheme });
        const ground = await own.page.evaluate("getComputedStyle(document.body).backgroundColor");
        expect(ground).toBe(colorScheme === "light" ? "rgb(246, 247, 249)" : "rgb(16, 19, 25)");
        for (const tab of tabs) {
          await own.page.getByRole("tab", { name: tab }).click();
          expect([tab, await violations(own, rules)]).toEqual([tab, []]);
        }
        await own.page.getByRole("tab", { name: "Members" }).click();
        await own.page.getByRole("button", { name: "ada@example.com" }).click();
        expect(await violations(own, rules)).toEqual([]);
        await own.page.keyboard.press("Escape");
      }
      await own.page.emulateMedia({ colorScheme: "light" });
      await own.open(pageOf(large.want, large.is));
      expect(await violations(own, {})).toEqual([]);
      const fleet = fleetPlanPage();
      await own.page.setViewportSize({ width: 390, height: 844 });
      await own.open(fleet);
      const views = ["people=yes", "", "person=ada@example.com", "merchant=MC2&tab=plan"];
      const parts = ["members", "roles", "rules", "ends", "invitations"].map(
        (tab) => `merchant=MC2&tab=${tab}`,
      );
      for (const view of [...views, ...parts]) {
        await own.page.evaluate(`location.hash = "${view}"`);
        await own.page.waitForFunction("document.querySelector('.view') === document.activeElement");
        // The colours of a tab are those of the wide screen.
        const rules = parts.includes(view) ? { rules: { "color-contrast": { enabled: false } } } : {};
        expect([view, await violations(own, rules)]).toEqual([view, []]);
        expect([view, await own.page.evaluate("document.documentElement.scrollWidth")]).toEqual([view, 390]);
      }
      for (const page of [planPage, fleet]) {
        await own.page.emulateMedia({ media: "screen" });
        await own.open(page);
        await own.page.emulateMedia({ media: "print" });
        await own.page.locator("#paper").waitFor();
        expect(await violations(own, {})).toEqual([]);
      }
    } finally {
      await own.close();
    }
  });

  describe("a name is shown as text", () => {
    test.each(Object.entries(HOSTILE))("that %s", async (_, text) => {
      const { want, is } = hostileStates(text);
      await open.open(pageOf(want, is, planOf(want, is)));
      await expectHarmless(open);
      await open.page.getByRole("tab", { name: "Members" }).click();
      await open.page.locator("#panel-members button.open").first().click();
      await expectHarmless(open);
    });

    test("all of them together", async () => {
      const texts = HOSTILE_TEXTS.map((text, index) => `${text}${index}`);
      const roles = texts.map((text, index) => liveRole(`role_${index}`, text, { permissions: [text] }));
      const people = texts.map((text, index) =>
        liveMember(`mem_${index}`, `${text}@example.com`, { roles: [`role_${index}`] }),
      );
      await open.open(pageOf(desired(), live(roles, people)));
      await expectHarmless(open);
      const count = await open.page.locator("#panel-members tbody tr[data-index]").count();
      expect(count).toBeGreaterThan(20);
    });
  });
}

/** No script of anybody else has run, and there is no element that the page does not make itself. */
async function expectHarmless({ page }: OpenPage): Promise<void> {
  const found = await page.evaluate(`({
    owned: "owned" in window,
    scripts: document.scripts.length,
    strange: [...document.querySelectorAll("img, svg, iframe, object, embed, form, a:not([href^='#']), h1 ~ h1, [onerror], [onload], [onmouseover], [onfocus]")].map((one) => one.outerHTML),
    handlers: [...document.querySelectorAll("*")].flatMap((one) => one.getAttributeNames()).filter((name) => name.startsWith("on")),
    comments: document.documentElement.innerHTML.split("<!--").length - 1,
    controls: /[\\u0000-\\u0008\\u000b\\u001b\\u202a-\\u202e\\u2066-\\u2069]/.test(document.body.innerText),
  })`);
  expect(found).toEqual({
    owned: false,
    scripts: 2,
    strange: [],
    handlers: [],
    comments: 0,
    controls: false,
  });
}

async function focused({ page }: OpenPage): Promise<string> {
  return String(await page.evaluate("document.activeElement.textContent"));
}

async function violations({ page }: OpenPage, options: object): Promise<readonly string[]> {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe.source);
  const found = (await page.evaluate(
    `axe.run(document, { resultTypes: ["violations"], ...${JSON.stringify(options)} }).then(({ violations }) => violations.map(({ id, nodes }) => id + ": " + nodes.slice(0, 3).map(({ html }) => html.slice(0, 200)).join(" | ")))`,
  )) as readonly string[];
  return found;
}

/** A page of two merchants, given in the order of their code units. */
function fleetPage(): string {
  const owner = liveRole("role_owner", "Owner", { permissions: ["payouts_edit"] });
  const payer = liveRole("role_2", "Payer", { permissions: ["payouts_edit", "reports_view"] });
  const people = [
    liveMember("mem_1", "ada@example.com", { roles: ["role_owner"] }),
    liveMember("mem_2", "bob@example.com", { roles: ["role_2"] }),
    invited("mem_3", "dan@example.com", { roles: ["role_2"], status: "expired" }),
    liveMember("mem_4", "eve@example.com", { roles: ["role_owner"] }),
  ];
  const ending = member("bob@example.com", { roles: [{ role: "Payer", until: until("2026-06-30") }] });
  const states = [
    [desired(), { ...live([], [liveMember("mem_1", "ada@example.com")]), merchant: "MC10" }],
    [
      desired({
        members: [ending],
        guards: { protect: { roles: [], members: [] }, minHolders: { role_owner: 3 } },
      }),
      { ...live([owner, payer], people), merchant: "MC2", merchantName: "High Street" },
    ],
  ] as const;
  const merchants = states.map(([want, is]) => ({
    report: reportOf(want, is),
    view: null,
    rules: liveRuleResults({ live: is, desired: want, plan: null, now: NOW, matches }).map((one) => ({
      ...one,
      place: "access/shop.yaml:7",
    })),
  }));
  return renderPage({ about: "live", merchants, unplanned: [], fileErrors: 0, now: NOW });
}

/** A page of the same plan for each of twelve merchants. */
function fleetPlanPage(): string {
  const { want, is } = richStates();
  const plan = richPlan();
  const rules = liveRuleResults({ live: is, desired: want, plan, now: NOW, matches }).map((one) => ({
    ...one,
    place: "access/shop.yaml:7",
  }));
  const merchants = Array.from({ length: 12 }, (_, index) => {
    const view = planView({ ...plan, merchant: `MC${index + 1}` });
    return { report: { ...reportOf(want, is, plan), merchant: view.merchant }, view, rules };
  });
  return renderPage({ about: "plan", merchants, unplanned: [], fileErrors: 0, now: NOW });
}

function largeStates() {
  const roles = Array.from({ length: 20 }, (_, index) =>
    liveRole(`role_${index}`, `Role ${index}`, {
      permissions: [index === 7 ? "payouts_edit" : `permission_${index}`],
    }),
  );
  const name = (index: number): string => `person-${String(index).padStart(5, "0")}@example.com`;
  const people = Array.from({ length: MEMBERS }, (_, index) => {
    const held = { roles: [`role_${index % 20}`] };
    if (index % 400 === 3) return invited(`mem_${index}`, name(index), held);
    if (index % 400 === 4) return invited(`mem_${index}`, name(index), { ...held, status: "expired" });
    return liveMember(`mem_${index}`, name(index), held);
  });
  const members = people.flatMap((_, index) =>
    index % 100 === 0
      ? [member(name(index), { roles: [{ role: "Role 0", until: until("2026-06-30") }] })]
      : [],
  );
  return { want: desired({ members }), is: live(roles, people) };
}
