import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { liveReport } from "../../../src/ask/report/build-access-report.ts";
import { ASSETS } from "../../../src/show/html/assets.ts";
import { renderPage, scriptJson } from "../../../src/show/html/html-page.ts";
import { planView } from "../../../src/show/view/plan-view.ts";
import { anyCharacter } from "../../support/any-character.ts";
import { desired, live, liveRole, NOW, planOf, role } from "../../support/build.ts";
import { HOSTILE_TEXTS } from "../../support/hostile.ts";
import { hostilePlan, hostileStates } from "../../support/hostile-plan.ts";
import { pageOf } from "../../support/report.ts";
import { richPlan, richStates } from "../../support/rich-plan.ts";

const NO_ASSETS = {
  script: "/* script */",
  style: "/* style */",
  scriptHash: "sha256-1",
  styleHash: "sha256-2",
};

test("a plan as a page", async () => {
  const { want, is } = richStates();
  const html = pageOf(want, is, richPlan(), NO_ASSETS);
  // The data in a line for each entry, so that a change of one can be read.
  const readable = html.replaceAll(/(?<=[[,])(?=\{"(name|code|kind|title|message)")/g, "\n");
  await expect(readable).toMatchFileSnapshot("../golden/rich-plan.html");
});

test("lets in its own script and style only, by their hashes", () => {
  const html = pageOf(desired(), live());
  const policy = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(html)?.[1] ?? "";
  const hash = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
  expect(policy.split("; ")).toEqual([
    "default-src 'none'",
    `script-src ${hash(/<script>(.*?)<\/script>/s.exec(html)?.[1] ?? "")}`,
    `style-src ${hash(/<style>(.*?)<\/style>/s.exec(html)?.[1] ?? "")}`,
    "base-uri 'none'",
    "form-action 'none'",
  ]);
  expect(ASSETS.script.length).toBeGreaterThan(1000);
  expect(html).not.toMatch(/\s(src|href)="(?!#)/);
});

test("is under 300 KB besides its data", () => {
  const { want, is } = richStates();
  const html = pageOf(want, is, richPlan());
  const data = /id="data">(.*?)<\/script>/s.exec(html)?.[1] ?? "";
  expect(Buffer.byteLength(html) - Buffer.byteLength(data)).toBeLessThan(300 * 1024);
});

test("says who is missing, and that files have errors", () => {
  const unplanned = [
    { merchant: "MC<2>", failure: { code: "forbidden" as const, message: 'The key "<b>" may not.' } },
  ];
  const html = renderPage({ about: "live", merchants: [], unplanned, fileErrors: 2, now: NOW }, NO_ASSETS);
  expect(html).toContain("MC&lt;2&gt; could not be read: The key &quot;&lt;b&gt;&quot; may not.");
  expect(html).toContain("The files have 2 errors: rolecall validate lists them.");
});

test("whatever the data, nothing in them ends their element, and they come back as they were", () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), fc.constantFrom(...HOSTILE_TEXTS), (some, nasty) => {
      const value = { [some]: nasty, nasty: [some + nasty] };
      const json = scriptJson(value);
      expect(json).not.toMatch(/[<>\u2028\u2029]/);
      expect(JSON.parse(json)).toEqual(value);
    }),
  );
});

test.each(HOSTILE_TEXTS.map((text) => [text.slice(0, 40), text] as const))("holds %j as text", (_, text) => {
  const { want, is } = hostileStates(text);
  const html = pageOf(want, is, hostilePlan(text), NO_ASSETS);
  const tags = [...html.matchAll(/<\/?([a-z][a-z0-9]*)/gi)].map(([, tag]) => tag);
  const plain = hostileStates("plain");
  const expected = pageOf(plain.want, plain.is, hostilePlan("plain"), NO_ASSETS);
  expect(tags).toEqual([...expected.matchAll(/<\/?([a-z][a-z0-9]*)/gi)].map(([, tag]) => tag));
  expect(html.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\p{Cs}]/u);
});

test("a page of many merchants begins with what they share, whatever it is called", () => {
  const pageFor = (name: string): string => {
    const merchants = Array.from({ length: 12 }, (_, index) => {
      const is = live([liveRole("role_1", name, { permissions: ["sell"] })]);
      const want = desired({
        merchant: `MC${index}`,
        roles: [role(name, { permissions: ["sell", "payouts_edit"] })],
      });
      const plan = planOf(want, is);
      const report = liveReport({ live: is, desired: want, service: plan.service, environment: null, plan });
      return { report, view: planView(plan) };
    });
    return renderPage({ about: "plan", merchants, unplanned: [], fileErrors: 0, now: NOW }, NO_ASSETS);
  };
  const plain = pageFor("Cashier");
  expect(plain).toContain(
    "<strong>role Cashier: + payouts_edit</strong> in all 12 merchants; no member gains it<div><details><summary>12 merchants</summary>",
  );
  const tags = (html: string): readonly string[] => html.match(/<\/?[a-z][a-z0-9]*/gi) ?? [];
  for (const text of HOSTILE_TEXTS) {
    if (text.trim() !== "") expect(tags(pageFor(`x${text}`.slice(0, 100)))).toEqual(tags(plain));
  }
});
