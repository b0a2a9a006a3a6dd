import { createInvitationLimiter, type InvitationLimiter } from "../rate-limit.ts";
import { isLaterPage } from "./altered-answers.ts";
import { editFits } from "./concurrent-edits.ts";
import type { FaultRule, FaultSettings } from "./fault-rules.ts";

/** A rule that applies to a request. */
export interface FaultHit {
  readonly rule: FaultRule;
  /** Random number in [0, 1) for choices that the rule leaves open. */
  readonly chance: number;
  /** Counter of an `invitation-limit` rule. */
  readonly invitations?: InvitationLimiter;
}

/** The active fault rules with their counters. */
export interface Faults extends FaultSettings {
  /** Returns the rules that hit a request; each call counts as one request. */
  draw(operation: string, query: URLSearchParams): readonly FaultHit[];
  /** Returns a random number of the seed's own stream, which no rule uses. */
  random(): number;
}

/** Checks whether a rule can have an effect on a request. */
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

/** Creates a function that decides for each matching request in turn whether a rule hits it. */
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

/** Creates the faults of a list of rules; counters start at zero. */
export function createFaults({ seed, rules }: FaultSettings): Faults {
  // A stream for each rule, so that adding a rule does not change what the others draw.
  const aimed = rules.map((rule, at) => ({ rule, next: aim(rule, createRandom(seed, at + 1)) }));
  return {
    seed,
    rules,
    random: createRandom(seed),
    draw: (operation, query) =>
      aimed.flatMap(({ rule, next }) => (matches(rule, operation, query) ? (next() ?? []) : [])),
  };
}

/** Creates a seeded generator (mulberry32) of numbers in [0, 1). */
function createRandom(seed: number, stream = 0): () => number {
  let state = (seed ^ Math.imul(stream, 0x9e3779b9)) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
