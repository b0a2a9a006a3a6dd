import type { RunEffect, RunPart } from "../../ask/evidence/access-history.ts";
import type { PastRun, PastWrite } from "../../model/apply.ts";
import { netEffects } from "../../runs/net-effects.ts";

/** Returns what a run has done at its merchant, by its journal. */
export function runEffects(past: PastRun): RunPart {
  const { run, writes, end, verified } = past;
  const { roles, members, replaced } = netEffects(past);
  const at = Date.parse(run.at);
  const about = (resource: "role" | "member", name: string, id: string | null) => {
    const its = writes.filter(
      ({ intent, outcome }) =>
        intent.resource === resource &&
        (intent.name === name || (id !== null && (outcome?.id ?? intent.id) === id)),
    );
    return { id, name, at: Math.max(at, ...its.map(lastTime)), isCertain: its.every(isCertain) };
  };
  const effects: RunEffect[] = [
    ...roles.map(({ id, name, before, after }): RunEffect => {
      return { resource: "role", ...about("role", name, id), before, after };
    }),
    ...replaced.flatMap(({ id, name, before, after, successor }): readonly RunEffect[] => {
      const isGone = writes.some(
        ({ intent, outcome }) =>
          intent.name === name &&
          (intent.part === "remove" || intent.part === "whole") &&
          outcome?.status === "done",
      );
      return [
        ...(after === null
          ? []
          : [{ resource: "role" as const, ...about("role", name, successor), before: null, after }]),
        ...(isGone ? [{ resource: "role" as const, ...about("role", name, id), before, after: null }] : []),
      ];
    }),
    ...members.map(({ id, name, before, after, lost }): RunEffect => {
      return { resource: "member", ...about("member", name, id), before, after: lost ? null : after };
    }),
  ];
  const ended = Math.max(
    at,
    ...[end, verified].flatMap((line) => (line === null ? [] : Date.parse(line.at))),
    ...writes.map(lastTime),
  );
  return { kind: "run", merchant: run.merchant, run: run.run, at, ended, effects };
}

function lastTime({ intent, outcome }: PastWrite): number {
  return Date.parse((outcome ?? intent).at);
}

function isCertain({ outcome }: PastWrite): boolean {
  return outcome !== null && outcome.status !== "unknown";
}
