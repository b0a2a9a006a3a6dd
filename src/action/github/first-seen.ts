import type { Drift } from "../../model/drift.ts";

/** When each difference was first seen, in milliseconds since the epoch, by `merchant:fingerprint`. */
export type FirstSeen = ReadonlyMap<string, number>;

/** What an issue's text can hold of it. */
const MOST = 600;
const HEAD = "<!-- rolecall:first-seen:";
const SHOWN = 16;

/** The differences of drifts as an issue remembers them. */
export function differencesOf(drifts: readonly Drift[]): readonly string[] {
  return drifts.flatMap(({ plan, changes, violations }) =>
    [...changes, ...violations].map(({ fingerprint }) => `${plan.merchant}:${fingerprint.slice(0, SHOWN)}`),
  );
}

/** Now, for each difference that was not there before. */
export function seenBy(differences: readonly string[], before: FirstSeen, now: number): FirstSeen {
  return new Map(differences.map((one) => [one, before.get(one) ?? now]));
}

/** The hidden line that remembers; with very many differences the oldest of them only. */
export function rememberLine(seen: FirstSeen): string {
  const oldest = [...seen].sort(([, a], [, b]) => a - b).slice(0, MOST);
  const data = oldest.map(([one, time]) => `${one}=${Math.floor(time / 1000).toString(36)}`);
  return `${HEAD}${seen.size} ${data.join(" ")} -->`;
}

/** What an issue remembers; nothing where its text was changed by hand. */
export function rememberedIn(body: string): FirstSeen {
  const line = body.split("\n").find((one) => one.startsWith(HEAD)) ?? "";
  return new Map(
    [...line.matchAll(/([\w-]{1,64}:[0-9a-f]{16})=([0-9a-z]{1,8})(?= )/g)].map(([, one = "", time = ""]) => [
      one,
      Number.parseInt(time, 36) * 1000,
    ]),
  );
}

/** Whether an issue's text tells of just these differences. */
export function isSame(body: string, seen: FirstSeen): boolean {
  const before = rememberedIn(body);
  const count = Number(/<!-- rolecall:first-seen:(\d+) /.exec(body)?.[1]);
  return count === seen.size && [...before.keys()].every((one) => seen.has(one));
}
