import { counted, grouped } from "../../lib/text.ts";
import { type Job, membersRead, type ProgressView } from "./progress.ts";
import { rateNumber } from "./wait-text.ts";

/** Returns the facts beside the bar, the most important ones first. */
export function boardFacts(view: ProgressView): readonly string[] {
  const { phase, merchants, changes, metrics, perSecond } = view;
  const { done, failed, unknown } = changes;
  const ended = [
    `${counted(done, "change")} done`,
    failed === 0 ? "" : `${grouped(failed)} failed`,
    unknown === 0 ? "" : `${grouped(unknown)} unknown`,
  ];
  const facts = {
    reading: [merchants.length === 1 ? "" : counted(membersRead(view), "member")],
    applying: [],
    verifying: ended,
  }[phase];
  return [
    ...facts,
    phase === "applying" ? `${rateNumber(perSecond)}/s` : `${rateNumber(metrics.perSecond)} requests/s`,
    metrics.pace === null ? "" : `limit ${rateNumber(metrics.pace)}/s`,
    metrics.waited === 0 ? "" : `${grouped(metrics.waited)} ${metrics.waited === 1 ? "wait" : "waits"}`,
  ].filter((fact) => fact !== "");
}

/** Returns the completed part of all jobs, and its unit. */
export function boardCount(view: ProgressView): readonly [count: string, unit: string] {
  const { phase, merchants, jobs, counts, changes } = view;
  if (phase === "applying") {
    return [fraction(changes.done + changes.failed + changes.unknown, changes.total), "changes"];
  }
  const [first, ...others] = jobs;
  return first && others.length === 0
    ? [jobCount(first), "members"]
    : [fraction(counts.done + counts.failed, merchants.length), "merchants"];
}

/** Returns what is in progress: "Applying 360 changes · 60 merchants". */
export function boardTitle({ phase, isStopping, merchants, changes }: ProgressView): string {
  if (isStopping) return `Stopping: ${counted(changes.inFlight, "change")} in flight`;
  const where = merchants.length === 1 ? merchants.join("") : counted(merchants.length, "merchant");
  return {
    reading: `Reading ${where}`,
    applying: `Applying ${counted(changes.total, "change")} · ${where}`,
    verifying: `Verifying ${where}`,
  }[phase];
}

/**
 * Returns the jobs that there is space for: those in progress, those waiting, and below them those that ended, the last
 * first.
 */
export function bodyRows(
  jobs: readonly Job[],
  room: number,
): { readonly jobs: readonly Job[]; readonly more: string } {
  const active = jobs.filter(({ state }) => state === "active");
  const onWire = active.filter(({ isOnWire }) => isOnWire);
  const waiting = active.filter(({ isOnWire, waits }) => !isOnWire && waits !== null);
  const next = active.filter(({ isOnWire, waits }) => !isOnWire && waits === null);
  const begun = [...onWire, ...waiting, ...next];
  const ended = lastEnded(jobs, "done", "incomplete", "unknown").toReversed();
  if (begun.length <= room || room < 2) return { jobs: [...begun, ...ended].slice(0, room), more: "" };
  const hiddenOnWire = Math.max(onWire.length - room + 1, 0);
  const hidden = begun.length - room + 1 - hiddenOnWire;
  const parts = [
    hiddenOnWire > 0 ? `${grouped(hiddenOnWire)} more under way` : "",
    hidden > 0 ? `${grouped(hidden)} more started` : "",
  ];
  return { jobs: begun.slice(0, room - 1), more: `and ${parts.filter((part) => part !== "").join(", ")}` };
}

/** Returns the jobs in these states, the one that ended last at the end. */
export function lastEnded(jobs: readonly Job[], ...states: readonly Job["state"][]): readonly Job[] {
  return jobs
    .filter(({ state }) => states.includes(state))
    .sort((first, other) => (first.endedAt ?? 0) - (other.endedAt ?? 0));
}

/** Returns the current step of a job, or why it failed. */
export function jobText(job: Job, { phase, merchants }: ProgressView): string {
  const { name, state, text } = job;
  if (phase === "applying" && merchants.length === 1) return text === "" ? name : `${name}: ${text}`;
  if (state === "done") return { reading: "members read", applying: "done", verifying: "verified" }[phase];
  return text === "" ? activity(job, phase) : text;
}

function activity({ done, total, isOnWire }: Job, phase: ProgressView["phase"]): string {
  if (phase === "applying") return isOnWire ? "rechecks" : "next";
  if (phase === "verifying") return "members";
  if (total === null) return "asking";
  return done < total ? "members" : "members, now roles";
}

/** Returns the time that a job has taken or waits; empty before its first request. */
export function jobTime({ state, since, endedAt, isOnWire, waits }: Job, { now }: ProgressView): string {
  if (waits !== null) return `waits ${briefTime(waits)}`;
  return since === null || (state === "active" && !isOnWire) ? "" : briefTime((endedAt ?? now) - since);
}

/** Returns how much of a job is done, as in "31/60"; empty if that is unknown. */
export function jobCount({ done, total }: Job): string {
  return total === null ? (done === 0 ? "" : grouped(done)) : fraction(done, total);
}

/** "31/60", with space for every further digit. */
export function fraction(part: number, of: number): string {
  return `${grouped(part).padStart(grouped(of).length)}/${grouped(of)}`;
}

/** Returns a time as on a clock: "01:12", "1:02:05". */
export function clock(ms: number): string {
  const seconds = Math.max(Math.round(ms / 1000), 0);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const two = (number: number): string => String(number).padStart(2, "0");
  return `${hours > 0 ? `${hours}:` : ""}${two(minutes)}:${two(seconds % 60)}`;
}

/** Returns a short time, as in "0.4 s", "12 s" or "1:05". */
function briefTime(ms: number): string {
  if (ms >= 60_000) return clock(ms).replace(/^0/, "");
  return ms < 9_950 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 1000)} s`;
}
