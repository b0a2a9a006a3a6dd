import { listText } from "../../lib/text.ts";
import type { JsonValue } from "../../model/json.ts";
import type { Plan } from "../../model/plan.ts";
import type { FieldValues } from "../../model/reviewed.ts";
import { effectOfDate, whenText } from "../findings/date-words.ts";
import { EVERYTHING, fieldsOfDate, unknownPermissions } from "../plan/reviewed-state.ts";
import type { UpcomingDate } from "../plan/upcoming-dates.ts";
import { type EndState, type FreshRow, freshRows } from "./end-state.ts";
import type { Fresh } from "./fresh-context.ts";
import { isOtherKey } from "./identities.ts";
import type { MergedReviews } from "./merged-reviews.ts";
import type { DatedItem } from "./reviewed-dates.ts";
import {
  EXISTS,
  type Item,
  isSameValue,
  itemValue,
  type ReviewedRow,
  type RowSubject,
  subjectText,
  touchedItems,
} from "./rows.ts";
import {
  effectText,
  fieldText,
  newerMembershipText,
  type ReviewedEffect,
  reviewedChangeText,
  unseenText,
} from "./words.ts";

/**
 * Returns the changes of a plan, including deferred ones, that do what no review shows, by fingerprint, with a sentence
 * for each such effect.
 */
export function findUnseen(
  plan: Plan,
  reviews: MergedReviews,
  context: Fresh,
): ReadonlyMap<string, readonly string[]> {
  const rows = freshRows(plan, context);
  const unseen = new Map(unseenDeferred(plan, reviews, context));
  // A person who is added or removed gains or loses all permissions.
  const whole = new Set<string>();
  const removed = new Set<string>();
  const refuse = (fingerprint: string, reason: string): void => {
    const reasons = unseen.get(fingerprint) ?? [];
    unseen.set(fingerprint, reasons.includes(reason) ? reasons : [...reasons, reason]);
  };
  for (const row of rows) {
    if (row.fingerprint === null) continue;
    const { reasons, isWhole } = unseenItems(row, reviews, context);
    if (isWhole) whole.add(row.fingerprint);
    if (isRemoval(row) && !isWhole) removed.add(row.subject.key);
    for (const reason of reasons) refuse(row.fingerprint, reason);
  }
  const blame = blamer(plan, rows, context);
  const people = rows.filter(({ subject: { kind, key } }) => kind === "person" && !removed.has(key));
  for (const row of people) {
    const { key } = row.subject;
    for (const { effect, permissions } of unseenEffects(row, reviews, context)) {
      const blames = permissions.map((permission) => ({ permission, ...blame(key, effect, permission) }));
      for (const fingerprint of new Set(blames.flatMap(({ fingerprints }) => fingerprints))) {
        const blamed = blames.filter(({ fingerprints }) => fingerprints.includes(fingerprint));
        const roles = [...new Set(blamed.flatMap((blame) => blame.roles))];
        const of = blamed.map(({ permission }) => permission);
        if (!whole.has(fingerprint))
          refuse(fingerprint, unseenText(effectText(effect, context.nameOf(key), of, roles), null));
      }
    }
  }
  return unseen;
}

/** Returns the deferred changes that do what no review shows, by fingerprint, with a sentence for each such effect. */
function unseenDeferred(
  plan: Plan,
  reviews: MergedReviews,
  context: Fresh,
): readonly (readonly [fingerprint: string, reasons: readonly string[]])[] {
  return freshRows(plan, context, "deferred").flatMap((row) => {
    const { reasons } = unseenItems(row, reviews, context);
    return row.fingerprint === null || reasons.length === 0 ? [] : [[row.fingerprint, reasons] as const];
  });
}

function isRemoval({ subject, after }: FreshRow): boolean {
  return subject.kind === "member" && after === null;
}

/** Returns what a change would do to its subject that no review shows. */
function unseenItems(
  row: FreshRow,
  reviews: MergedReviews,
  context: Fresh,
): { readonly reasons: readonly string[]; readonly isWhole: boolean } {
  const { subject, after } = row;
  const items = touchedItems(row).filter((item) => {
    const value = itemValue(after, item);
    return !(
      isDecided(subject, item, value, reviews) ||
      hasEnded(subject, item, value, reviews, context) ||
      dateOf(subject, item, value, reviews, context) !== null
    );
  });
  // Adding or removing a membership adds or removes all its fields.
  const isWhole = items.includes(EXISTS);
  // A reviewed removal also removes all of them.
  const shown = isWhole ? [EXISTS] : after === null ? [] : items;
  const earlier = isRemoval(row)
    ? reviews.rows.findLast(
        ({ row: { subject: other, after: left } }) =>
          isOtherKey(other.key, subject.key) && left === null && context.live(other) === null,
      )
    : undefined;
  const reasons = shown.map((item) => {
    if (earlier !== undefined) return newerMembershipText(context.reviews[earlier.review]?.name ?? "");
    const decision = reviews.decide(subject, item);
    const by = decision?.isTouched ? context.reviews[decision.review]?.name : undefined;
    return unseenText(reviewedChangeText(context.named(subject, item), itemValue(after, item)), by ?? null);
  });
  return { reasons, isWhole };
}

function isDecided(
  subject: RowSubject,
  item: Item,
  value: JsonValue | undefined,
  reviews: MergedReviews,
): boolean {
  const decision = reviews.decide(subject, item);
  return decision?.values.some((decided) => isSameValue(decided, value)) ?? false;
}

/** Returns whether a change removes a membership whose reviewed end has passed, even if the files no longer list it. */
function hasEnded(
  subject: RowSubject,
  item: Item,
  value: JsonValue | undefined,
  reviews: MergedReviews,
  { dates }: Fresh,
): boolean {
  if (subject.kind !== "member" || item !== EXISTS || value === true) return false;
  const ended = dates.endedBy(subject.key);
  return ended >= 0 && ended >= (reviews.decide(subject, item)?.review ?? -1);
}

/**
 * Returns the time since which reviewed dates have made an item differ from the decision about it, or without one from
 * the live state; `null` if they have not.
 */
function dateOf(
  subject: RowSubject,
  item: Item,
  value: JsonValue | undefined,
  reviews: MergedReviews,
  { dates, endAt, live, reviews: all, named }: Fresh,
): number | null {
  if (subject.kind !== "member" && subject.kind !== "person") return null;
  const decision = reviews.decide(subject, item);
  const expected = decision === null ? itemValue(live(subject), item) : decision.value;
  const reviewed = decision === null ? [] : (all[decision.review]?.state.at ?? []);
  const about = aboutItem(item, value, named(subject, item).role);
  const times = [reviewed, dates.momentsBefore(subject.key)].flat();
  const since = times.find(
    (time) =>
      dates.areReviewed(subject.key, time, about) &&
      isSameValue(itemValue(endAt(time)(subject), item), expected),
  );
  return since ?? null;
}

/** Returns what dates would have to do to give an item a value; `undefined` if any date may contribute. */
function aboutItem(
  { field, element }: Item,
  value: JsonValue | undefined,
  role: string,
): DatedItem | undefined {
  if (field !== null && element === undefined) return undefined;
  const isRole = (name: string): boolean => name === role || name === element;
  return { isGain: value === true, ...(field === "roles" && { isRole }) };
}

interface UnseenEffect {
  readonly effect: ReviewedEffect;
  readonly permissions: readonly string[];
}

/** An effect of a future date that no review shows. */
export interface UnseenDate {
  readonly date: UpcomingDate;
  /** Such as "on 2026-12-31, ada@example.com joins". */
  readonly text: string;
}

/** Returns the effects of future dates that no review shows, the earliest first. */
export function unseenDates(reviews: MergedReviews, context: Fresh): readonly UnseenDate[] {
  const { dates, live, seal } = context;
  const keyOf = ({ email }: UpcomingDate): string => seal(email.toLowerCase());
  const unseen = dates.unseen
    // An address that is neither listed nor live has nothing to lose.
    .filter((date) => date.what !== "leaves-unlisted" || live({ kind: "member", key: keyOf(date) }) !== null)
    .map((date) => ({ date, text: effectOfDate(date, date.email, String) + fieldsText(date, context) }));
  const wider = dates.wider.flatMap((date) => {
    const subject = { kind: "person", key: keyOf(date) } as const;
    const ofDay = context.asOf(date.at);
    const row = { subject, before: ofDay.live(subject), after: context.endAt(date.at)(subject) };
    return unseenEffects(row, reviews, ofDay).map(({ effect, permissions }) => ({
      date,
      text: effectText(effect, date.email, permissions, []),
    }));
  });
  return [...unseen, ...wider]
    .sort((a, b) => a.date.at - b.date.at)
    .map(({ date, text }) => ({ date, text: `${whenText(date)}, ${text}` }));
}

/** Names the fields that a date sets, besides the roles that begin. */
function fieldsText(date: UpcomingDate, { fresh }: Fresh): string {
  const entry = fresh.desired.members?.find(({ email }) => email === date.email);
  const fields = fieldsOfDate(date, entry);
  if (fields === undefined) return "";
  const { roles = [], ...others } = JSON.parse(fields) as { readonly roles?: readonly string[] };
  const names = Object.keys(others).map(fieldText);
  if (date.what === "back") return roles.length === 0 ? "" : ` with ${listText(roles)}`;
  return `, and has ${listText(names)}`;
}

/** Returns the permissions that somebody gains, loses, or can reach after gaining some, and that no review shows. */
function unseenEffects(
  row: Pick<ReviewedRow, "subject" | "before" | "after">,
  reviews: MergedReviews,
  context: Fresh,
): readonly UnseenEffect[] {
  const { subject } = row;
  const [had, has] = [setOf(row.before, "held"), setOf(row.after, "held")];
  const [could, can] = [setOf(row.before, "reach"), setOf(row.after, "reach")];
  const isBrought = (item: Item, set: "held" | "reach"): boolean => {
    const since = dateOf(subject, item, true, reviews, context);
    if (since === null) return false;
    const brought = context.dates.brought(subject.key, since)[set];
    return brought.has(item.element ?? "") || brought.has(EVERYTHING);
  };
  const gained = has.filter((permission) => !had.includes(permission));
  const unseenGains = gained.filter((element) => {
    const item = { field: "held", element };
    return !isDecided(subject, item, true, reviews) && !isBrought(item, "held");
  });
  const lost = had.filter((permission) => !has.includes(permission));
  const unseenLosses = lost.filter((element) => {
    const item = { field: "held", element };
    return (
      !isDecided(subject, item, false, reviews) && dateOf(subject, item, false, reviews, context) === null
    );
  });
  const isReached = gained.length === 0 || could.includes(EVERYTHING);
  const reached = isReached
    ? []
    : can.filter((permission) => !could.includes(permission) && !has.includes(permission));
  const unseenReach = reached.filter((element) => {
    const item = { field: "reach", element };
    const everything = { field: "reach", element: EVERYTHING };
    return (
      !isDecided(subject, item, true, reviews) &&
      !isDecided(subject, everything, true, reviews) &&
      !isBrought(item, "reach")
    );
  });
  const effects: readonly UnseenEffect[] = [
    { effect: "gain", permissions: unseenGains },
    { effect: "loss", permissions: unseenLosses },
    { effect: "reach", permissions: unseenReach },
  ];
  return effects.filter(({ permissions }) => permissions.length > 0);
}

function setOf(values: FieldValues | null, field: string): readonly string[] {
  const value = values?.[field];
  return Array.isArray(value) ? (value as readonly string[]) : [];
}

/** Returns the permissions of a role in a state. */
export function permissionsOf(end: EndState, role: string): readonly string[] {
  const values = end({ kind: "role", key: role });
  return values === null ? [unknownPermissions(role)] : setOf(values, "permissions");
}

/** Returns the roles that a member has in a state. */
export function rolesOf(end: EndState, name: string): readonly string[] {
  return setOf(end({ kind: "member", key: name }), "roles");
}

/** The changes that have an effect. */
interface Blame {
  readonly fingerprints: readonly string[];
  /** The names of the roles through which somebody would get the permission. */
  readonly roles: readonly string[];
}

/**
 * Returns a function that finds the changes that affect somebody's permissions: changes of their own roles, or else
 * changes of the roles.
 */
function blamer(
  plan: Plan,
  rows: readonly FreshRow[],
  { live, endOf, named }: Fresh,
): (name: string, effect: ReviewedEffect, permission: string) => Blame {
  const after = endOf(plan);
  const changes = new Map(
    rows.flatMap((row) => (row.fingerprint === null ? [] : [[subjectText(row.subject), row.fingerprint]])),
  );
  const ofRole = (key: string): string | readonly string[] =>
    changes.get(subjectText({ kind: "role", key })) ?? [];
  return (name, effect, permission) => {
    const ownChange = changes.get(subjectText({ kind: "member", key: name }));
    const [had, has] = [rolesOf(live, name), rolesOf(after, name)];
    const [from, to, granting] = effect === "loss" ? [has, had, live] : [had, has, after];
    const other = effect === "loss" ? after : live;
    const grants = (end: EndState, role: string): boolean => permissionsOf(end, role).includes(permission);
    const moved = to.filter((role) => !from.includes(role) && grants(granting, role));
    const changed = to.filter(
      (role) => from.includes(role) && grants(granting, role) && !grants(other, role),
    );
    const unseen = [
      ...(ownChange !== undefined && effect === "reach" ? [ownChange] : []),
      ...changed.flatMap(ofRole),
    ];
    const held = [...new Set([...had, ...has])].flatMap(ofRole);
    const candidates = [
      unseen,
      ownChange === undefined ? held : [ownChange],
      plan.changes.map(({ fingerprint }) => fingerprint),
    ];
    return {
      fingerprints: candidates.find((some) => some.length > 0) ?? [],
      roles: [...moved, ...changed].map((role) => named({ kind: "role", key: role }, EXISTS).name ?? role),
    };
  };
}
