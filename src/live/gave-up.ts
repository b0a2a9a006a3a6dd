import type { RolecallError } from "../model/errors.ts";
import type { GiveUp } from "./retry.ts";
import { reworded } from "./reworded.ts";

/** The failure of a request that is not sent again: says why, and what to do about it. */
export function gaveUp(error: RolecallError, because: GiveUp): RolecallError {
  // It says itself when to try again, and no option makes that sooner.
  if (error.code === "invitation-limited") return error;
  const sentence = wordsOf(because);
  if (sentence === null) return error;
  // What it says of a refusal is of one after many tries.
  const hint = error.code === "rate-limited" && !error.request?.uncertain ? "" : (error.hint ?? "");
  return reworded(error, { hint: `${hint} ${sentence}`.trim() });
}

function wordsOf(because: GiveUp): string | null {
  switch (because.kind) {
    case "attempts":
      return null;
    case "time":
      return because.askedMs === null
        ? `It was tried for ${lasting(because.totalMs)}; --retry-for allows more.`
        : `The service asks to wait ${lasting(because.askedMs)}, but a request is tried for ${lasting(because.totalMs)} in all; --retry-for allows more.`;
    case "asked-too-much":
      return `The service asks to wait ${lasting(because.askedMs)}; one wait is never longer than ${lasting(because.maxMs)}, whatever --retry-for says. Run it again after that.`;
    default:
      return because satisfies never;
  }
}

function lasting(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}
