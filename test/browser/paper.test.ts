import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { renderPage } from "../../src/show/html/html-page.ts";
import { findBrowser, openPage } from "../support/browser.ts";
import { desired, live, liveMember, liveRole, NOW } from "../support/build.ts";
import { type FirefoxPage, findFirefox, openFirefox } from "../support/firefox.ts";
import { reportOf } from "../support/report.ts";

const CODES = Array.from({ length: 12 }, (_, index) => `SHOP${index + 1}X`);
const ORIGIN = {
  version: "1.2.3",
  time: NOW,
  user: "ada",
  host: "runner-7",
  commit: { id: "3f1c9e0a", clean: true },
  job: null,
};

if (findBrowser() === null || findFirefox() === null) {
  console.warn("The page was not printed everywhere. Install chromium, firefox-esr and poppler-utils.");
}

const chromium = findBrowser();
const firefox = findFirefox();
const scratch = mkdtempSync(join(tmpdir(), "rolecall-paper-"));

afterAll(() => rmSync(scratch, { recursive: true, force: true }));

describe("a report of 12 merchants on paper", () => {
  test.skipIf(chromium === null)("from Chromium", async () => {
    const open = await openPage(chromium ?? "", fleet(40));
    try {
      expectPaper(pagesOf(await open.page.pdf({ format: "A4" })));
      // What is on the screen is as it was.
      expect(await open.page.locator("#paper").count()).toBe(0);
    } finally {
      await open.close();
    }
  });
});

describe.skipIf(firefox === null)("in Firefox", () => {
  let page: FirefoxPage;

  beforeAll(async () => {
    page = await openFirefox(firefox ?? "");
  });

  afterAll(async () => {
    await page.close();
  });

  test("a report of 12 merchants on paper", async () => {
    await page.open(fleet(40));
    expectPaper(pagesOf(await page.pdf()));
    expect(await page.evaluate("document.querySelectorAll('#paper').length")).toBe(0);
  });

  test("a link opens a merchant, sorted and searched, and a person", async () => {
    await page.open(fleet(12), "#merchant=SHOP7X&tab=members&search=till-1&members-sort=-name");
    const names = `[...document.querySelectorAll("#panel-members tbody th .open")].map((one) => one.textContent).join()`;
    expect(await page.evaluate(names)).toBe(
      [11, 10, 1].map((index) => `till-${index}@shop7x.example`).join(),
    );
    await page.open(fleet(12), "#person=everywhere%40chain.example");
    expect(await page.evaluate("document.querySelector('h2').textContent")).toBe("everywhere@chain.example");
    expect(await page.evaluate("document.querySelector('.count').textContent")).toBe("12 merchants");
    expect(await page.evaluate("getComputedStyle(document.body).backgroundColor")).toBe("rgb(246, 247, 249)");
  });
});

/** Every merchant with all its members, its code on each of its pages, who made it from what, and lines to sign. */
function expectPaper(pages: readonly string[]): void {
  const text = pages.join("\n");
  for (const said of ["Made by: ada", "3f1c9e0a", "1.2.3", "SHA-256"]) {
    expect(pages[0]).toContain(said);
  }
  for (const code of CODES) {
    expect(text).toContain(`Access reviewed: ${code}`);
    expect(text).toContain(`till-39@${code.toLowerCase()}.example`);
  }
  expect(text.match(/Signature/g)).toHaveLength(CODES.length + 1);
  const without = pages.filter((page) => !/SHOP\d+X/.test(page));
  expect(without).toEqual([]);
}

function pagesOf(pdf: Buffer): readonly string[] {
  const file = join(scratch, "page.pdf");
  writeFileSync(file, pdf);
  const text = execFileSync("pdftotext", ["-layout", file, "-"], { encoding: "utf8", maxBuffer: 1e9 });
  return text.split("\f").slice(0, -1);
}

function fleet(members: number): string {
  const role = liveRole("role_1", "Cashier", { permissions: ["refunds_create"] });
  const merchants = CODES.map((code) => {
    const people = Array.from({ length: members }, (_, index) =>
      liveMember(`mem_${index}`, `till-${index}@${code.toLowerCase()}.example`, { roles: ["role_1"] }),
    );
    const everywhere = liveMember("mem_x", "everywhere@chain.example", { roles: ["role_1"] });
    const state = { ...live([role], [...people, everywhere]), merchant: code };
    return { report: reportOf(desired(), state), view: null };
  });
  return renderPage({ about: "live", merchants, unplanned: [], fileErrors: 0, now: NOW, origin: ORIGIN });
}
