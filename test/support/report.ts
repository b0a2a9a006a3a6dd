import { liveReport } from "../../src/ask/report/build-access-report.ts";
import { liveRuleResults } from "../../src/ask/report/rule-results.ts";
import type { DesiredState } from "../../src/model/desired.ts";
import type { LiveState } from "../../src/model/live.ts";
import type { Plan } from "../../src/model/plan.ts";
import type { AccessReport } from "../../src/model/reports.ts";
import { type PageInput, renderPage } from "../../src/show/html/html-page.ts";
import { planView } from "../../src/show/view/plan-view.ts";
import { matches, NOW } from "./build.ts";

/** The report of a live state, with a plan or without. */
export function reportOf(desired: DesiredState, live: LiveState, plan: Plan | null = null): AccessReport {
  const environment = desired.environment ?? null;
  return { ...liveReport({ live, desired, service: "https://service.example", environment, plan }) };
}

/** The page of a live state, with a plan or without; as the browser gets it unless assets are given. */
export function pageOf(
  desired: DesiredState,
  live: LiveState,
  plan: Plan | null = null,
  ...assets: Parameters<typeof renderPage> extends [unknown, ...infer Rest] ? Rest : never
): string {
  const input: PageInput = {
    about: plan === null ? "live" : "plan",
    merchants: [
      {
        report: reportOf(desired, live, plan),
        view: plan && planView(plan),
        rules: liveRuleResults({ live, desired, plan, now: NOW, matches }).map((one) => ({
          ...one,
          place: `${one.rule.origin?.file ?? "access/shop.yaml"}:7`,
        })),
      },
    ],
    unplanned: [],
    fileErrors: 0,
    now: NOW,
  };
  return renderPage(input, ...assets);
}
