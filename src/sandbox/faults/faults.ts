import { createInvitationLimiter, type InvitationLimiter } from "../rate-limit.ts";
import { editFits } from "./concurrent-edits.ts";
import type { FaultRule, FaultSettings } from "./fault-rules.ts";
import { isLaterPage } from "./pagination-drift.ts";

/** A rule that hits a request. */
export interface FaultHit {
  readonly rule: FaultRule;
  /** From 0 to below 1, for what the rule leaves open. */
  readonly chance: number;
  /** Counts for the rule, if it is a limit of invitations. */
  readonly invitations?: InvitationLimiter;
}

/** The faults that are set, with their counters. */
export interface Faults extends FaultSettings {
  /** The rules that hit a request; each call counts as one request. */
  draw(operation: string, query: URLSearchParams): readonly FaultHit[];
  /** Chances of the seed that belong to no rule. */
  random(): number;
}

/** Says whether a rule could do anything to a request. */
function matches(rule: FaultRule, operation: string, query: URLSearchParams): boolean {
  if (rule.operation !== undefined && rule.operation !== operation) return false;
  if (rule.kind === "expired-invitation" || rule.kind === "invitation-limit")
    return operation === "members.create";
  if (rule.kind === "predefined-role") return operation === "roles.retrieve";
  if (rule.kind === "replacing-put") return operation === "members.update";
  if (rule.kind === "shift") return isLaterPage(operation, query);
  if (rule.kind === "concurrent-edit" && rule.edit !== undefined) return editFits(rule.edit, operation);
  return true;
}

/** Decides for each matching request in turn whether a rule hits it. */
function aim(rule: FaultRule, random: () => number): () => FaultHit | null {
  let seen = 0;
  let hits = 0;
  const counted = rule.kind === "invitation-limit" && { invitations: createInvitationLimiter(rule) };
  return () => {
    seen += 1;
    if (rule.nth !== undefined && seen !== rule.nth) return null;
    if (rule.every !== undefined && seen % rule.every !== 0) return null;
    if (rule.times !== undefined && hits >= rule.times) return null;
    if (rule.probability !== undefined && random() >= rule.probability) return null;
    hits += 1;
    return { rule, chance: random(), ...counted };
  };
}

/** Sets faults; counters begin at zero and chances at the seed. */
export function createFaults({ seed, rules }: FaultSettings): Faults {
  // Each rule has chances of its own, so that one rule more changes nothing for the others.
  const aimed = rules.map((rule, at) => ({ rule, next: aim(rule, createRandom(seed, at + 1)) }));
  return {
    seed,
    rules,
    random: createRandom(seed),
    draw: (operation, query) =>
      aimed.flatMap(({ rule, next }) => (matches(rule, operation, query) ? (next() ?? []) : [])),
  };
}

/** A small seeded generator (mulberry32): the same seed and stream give the same numbers from 0 to below 1. */
function createRandom(seed: number, stream = 0): () => number {
  let state = (seed ^ Math.imul(stream, 0x9e3779b9)) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
