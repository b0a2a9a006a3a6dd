import type { FreshPlan } from "../../src/kernel/approval/fresh-context.ts";
import type { Review } from "../../src/kernel/approval/merged-reviews.ts";
import type { DesiredState } from "../../src/model/desired.ts";
import type { LiveState } from "../../src/model/live.ts";
import { NOW, planOf } from "./build.ts";

/** The review of the plan for a desired and a live state. */
export function reviewOf(name: string, want: DesiredState, is: LiveState, now: number = NOW): Review {
  return { name, state: planOf(want, is, now).reviewed };
}

/** A plan that was made just now. */
export function freshOf(want: DesiredState, is: LiveState, now: number = NOW): FreshPlan {
  return {
    desired: want,
    live: is,
    plan: planOf(want, is, now),
    planAt: (time) => planOf(want, is, time),
    planWithout: (leaveOut) => planOf(want, is, now, leaveOut),
  };
}

/** Replaces the times of plans in JSON, which differ between two runs. */
export function withoutTimes(json: string): string {
  return json.replace(/"at": ?\d+/g, '"at": 0');
}
