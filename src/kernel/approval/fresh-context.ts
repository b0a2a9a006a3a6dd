import { memoized } from "../../lib/memoized.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { LiveState } from "../../model/live.ts";
import type { Plan } from "../../model/plan.ts";
import { addressOf } from "../diff/scope.ts";
import { nameOfNewRole } from "../plan/reviewed-state.ts";
import { type EndState, endState, freshRows, liveEndState } from "./end-state.ts";
import { type Identities, identitiesIn, membershipsOf } from "./identities.ts";
import type { Review } from "./merged-reviews.ts";
import { type ReviewedDates, reviewedDates } from "./reviewed-dates.ts";
import type { Item, RowSubject } from "./rows.ts";
import { type Seal, UNSEALED } from "./seal.ts";
import type { NamedItem } from "./words.ts";

/** A fresh plan, and functions that make other plans of the same states. */
export interface FreshPlan {
  readonly desired: DesiredState;
  readonly live: LiveState;
  readonly plan: Plan;
  /** Plans the same states at another time, in ms since the epoch. */
  planAt(now: number): Plan;
  /** Plans the same states without the changes with these fingerprints. */
  planWithout(leaveOut: ReadonlySet<string>): Plan;
}

/** A fresh plan, with lookups in it. */
export interface Fresh {
  readonly fresh: FreshPlan;
  readonly seal: Seal;
  readonly identities: Identities;
  /** Returns the identities for a review that knows the roles with these ids. */
  identitiesFor(knownRoles: ReadonlySet<string>): Identities;
  readonly live: EndState;
  readonly dates: ReviewedDates;
  /** Returns the state that results from the fresh plan's files at another time. */
  endAt(time: number): EndState;
  /** Returns the context at a future time, assuming that everything before it has been done. */
  asOf(time: number): Fresh;
  /** Returns the state that results from a plan. */
  endOf(plan: Plan): EndState;
  /** The reviews, in the order of their merges. */
  readonly reviews: readonly Review[];
  /** Returns an item with readable names. */
  named(subject: RowSubject, item: Item): NamedItem;
  /** Returns the name behind a sealed name; `null` if no live or listed person has it. */
  nameOf(sealed: string): string | null;
}

/** Prepares the lookups of a comparison. */
export function freshContext(fresh: FreshPlan, reviews: readonly Review[], seal: Seal): Fresh {
  const { plan, live, desired } = fresh;
  const memberships = membershipsOf(live, seal);
  const identitiesFor = identitiesIn(live, plan, memberships, seal);
  const identities = identitiesFor(new Set());
  const names = new Map([
    ...namesIn(fresh).map((name) => [seal(name.toLowerCase()), name] as const),
    ...[...memberships.byKey].map(([key, member]) => [key, addressOf(member) ?? member.id] as const),
  ]);
  const nameOf = (sealed: string): string | null => names.get(sealed) ?? null;
  const isNow = liveEndState(live, desired, { seal, identities, memberships, nameOf });
  const endOf = (of: Plan): EndState => endState(freshRows(of, { seal, identities }), isNow);
  const roleNames = new Map(live.roles.map(({ id, name }) => [id, name]));
  const roleName = (key: string): string => roleNames.get(key) ?? nameOfNewRole(key) ?? key;
  const endAt = memoized((time: number): EndState => endOf(fresh.planAt(time)));
  const states = reviews.map(({ state }) => state);
  const datesAt = (time: number): ReviewedDates => reviewedDates(states, desired, plan.reviewed, time, seal);
  const context: Fresh = {
    fresh,
    seal,
    identities,
    identitiesFor,
    live: isNow,
    nameOf,
    reviews,
    named: ({ kind, key }, item) => ({
      kind,
      name: kind === "role" ? roleName(key) : (nameOf(key) ?? (seal === UNSEALED ? key : null)),
      item,
      role: roleName(item.element ?? ""),
    }),
    endOf,
    endAt,
    asOf: memoized((time) => ({ ...context, live: endAt(time - 1), dates: datesAt(time) })),
    dates: datesAt(plan.reviewed.at),
  };
  return context;
}

function namesIn({ plan, live, desired }: FreshPlan): readonly string[] {
  const { members = [], leavers = [] } = desired;
  return [
    ...leavers.map(({ email }) => email),
    ...members.map(({ email }) => email),
    ...live.members.flatMap(({ id, user, invite }) => [id, user?.email ?? [], invite?.email ?? []].flat()),
    ...plan.changes.map(({ name }) => name),
  ];
}
