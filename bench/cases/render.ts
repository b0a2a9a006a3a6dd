import { performance } from "node:perf_hooks";
import { renderPage } from "../../src/show/html/html-page.ts";
import { renderReview } from "../../src/show/markdown/render-review.ts";
import { PLAIN } from "../../src/show/style.ts";
import { renderPlans } from "../../src/show/text/plans-text.ts";
import { planView } from "../../src/show/view/plan-view.ts";
import { desired, live, liveMember, liveRole, member, NOW, planOf, role } from "../../test/support/build.ts";
import { reportOf } from "../../test/support/report.ts";

const CHANGES = 10_000;
/** Runs before the code is optimized. */
const WARM_UP = 3;

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

const formats = {
  text: () => renderPlans([planView(plan)], PLAIN),
  "text, --verbose": () => renderPlans([planView(plan)], PLAIN, "verbose"),
  Markdown: () => renderReview({ command: "plan", views: [planView(plan)], unplanned: [], fileErrors: 0 }),
  HTML: () => {
    const merchants = [{ report: reportOf(want, is, plan), view: planView(plan) }];
    return renderPage({ about: "plan", merchants, unplanned: [], fileErrors: 0, now: NOW });
  },
};

/** Returns the time to render each format, including its view, in ms. */
export function measure(
  runs: number,
): readonly { readonly name: string; readonly values: readonly number[] }[] {
  if (plan.changes.length < CHANGES) throw new Error(`The plan has only ${plan.changes.length} changes.`);
  return Object.entries(formats).map(([name, render]) => {
    const times = Array.from({ length: runs + WARM_UP }, () => time(render));
    return { name, values: times.slice(WARM_UP) };
  });
}

function time(render: () => string): number {
  const start = performance.now();
  render();
  return performance.now() - start;
}
