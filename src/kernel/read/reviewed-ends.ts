import type { DesiredState } from "../../model/desired.ts";

/** Returns a state with the dates of other files as the reviewed ones; unchanged if there are none. */
export function withReviewedEnds(state: DesiredState, reviewed: DesiredState | undefined): DesiredState {
  if (reviewed === undefined) return state;
  const { members, leavers } = reviewed;
  return { ...state, reviewedEnds: { ...(members && { members }), ...(leavers && { leavers }) } };
}
