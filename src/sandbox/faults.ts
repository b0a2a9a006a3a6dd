import type { FaultRule } from "./fault-rules.ts";

/** The faults that are set, with their counters. */
export interface Faults {
  readonly seed: number;
  readonly rules: readonly FaultRule[];
  /** The rules that hit a request of an operation; each call counts as one request. */
  draw(operation: string): readonly FaultRule[];
}

/** A small seeded generator (mulberry32): the same seed gives the same chances. */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Decides for each request in turn whether a rule hits it. */
function aim(rule: FaultRule, random: () => number): (operation: string) => boolean {
  let seen = 0;
  let hits = 0;
  return (operation) => {
    if (rule.operation !== undefined && rule.operation !== operation) return false;
    seen += 1;
    if (rule.nth !== undefined && seen !== rule.nth) return false;
    if (rule.every !== undefined && seen % rule.every !== 0) return false;
    if (rule.times !== undefined && hits >= rule.times) return false;
    if (rule.probability !== undefined && random() >= rule.probability) return false;
    hits += 1;
    return true;
  };
}

/** Sets faults; counters begin at zero and chances at the seed. */
export function createFaults(seed: number, rules: readonly FaultRule[]): Faults {
  const random = seeded(seed);
  const aimed = rules.map((rule) => ({ rule, hits: aim(rule, random) }));
  return {
    seed,
    rules,
    draw: (operation) => aimed.filter(({ hits }) => hits(operation)).map(({ rule }) => rule),
  };
}
