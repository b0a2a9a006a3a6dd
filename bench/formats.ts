import { performance } from "node:perf_hooks";
import { renderPage } from "../src/render/html/page.ts";
import { renderReview } from "../src/render/plan-markdown.ts";
import { renderPlans } from "../src/render/plan-text.ts";
import { planView } from "../src/render/plan-view.ts";
import { PLAIN } from "../src/render/style.ts";
import { desired, live, liveMember, liveRole, member, NOW, planOf, role } from "../test/support/build.ts";
import { reportOf } from "../test/support/report.ts";

/** How long it takes to render a plan of 10,000 changes in each format; in milliseconds: the best of several runs, and their median. */
const CHANGES = 10_000;
const RUNS = 7;

const roles = Array.from({ length: 40 }, (_, index) => `Role ${index}`);
const granted = (index: number): readonly string[] =>
  Array.from({ length: 12 }, (_, step) => `permission_${(index * 7 + step * 3) % 90}`);
const address = (index: number): string => `person-${String(index).padStart(5, "0")}@example.com`;
const is = live(
  roles.map((name, index) => liveRole(`role_${index}`, name, { permissions: granted(index) })),
  Array.from({ length: CHANGES }, (_, index) =>
    liveMember(`mem_${index}`, address(index), { roles: [`role_${index % 40}`], metadata: { badge: index } }),
  ).slice(0, CHANGES * 0.8),
);
const want = desired({
  roles: roles.map((name, index) => role(name, { permissions: granted(index) })),
  members: Array.from({ length: CHANGES }, (_, index) =>
    member(address(index), { roles: [roles[(index + 1) % 40] ?? ""], metadata: { badge: -index } }),
  ).filter((_, index) => index % 10 !== 0 || index >= CHANGES * 0.8),
});
const plan = planOf(want, is);
const view = planView(plan);
const report = reportOf(want, is, plan);

const formats = {
  view: () => planView(plan).merchant,
  text: () => renderPlans([view], PLAIN),
  "text, verbose": () => renderPlans([view], PLAIN, "verbose"),
  markdown: () => renderReview({ command: "plan", views: [view], unplanned: [], fileErrors: 0 }),
  "markdown, whole": () =>
    renderReview({ command: "plan", views: [view], unplanned: [], fileErrors: 0 }, 100_000_000),
  html: () =>
    renderPage({ about: "plan", merchants: [{ report, view }], unplanned: [], fileErrors: 0, now: NOW }),
};

console.log(`${plan.changes.length} changes`);
for (const [name, render] of Object.entries(formats)) {
  const first = time(render);
  const times = Array.from({ length: RUNS }, () => time(render)).sort((a, b) => a - b);
  const [best = 0, median = 0] = [times[0], times[Math.floor(RUNS / 2)]];
  const size = render().length.toLocaleString("en-US");
  const took = `${best.toFixed(0).padStart(5)} ms best, ${median.toFixed(0)} ms median, ${first.toFixed(0)} ms first`;
  console.log(`${name.padEnd(16)} ${took}; ${size} characters`);
}

function time(render: () => string): number {
  const start = performance.now();
  render();
  return performance.now() - start;
}
