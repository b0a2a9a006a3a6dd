import type { AccountEntry, RefusedChange, RowPlace, Verdict } from "../../model/approval-account.ts";
import type { DesiredState, Origin } from "../../model/desired.ts";
import type { Plan } from "../../model/plan.ts";
import { type EndState, endState, freshRows } from "./end-state.ts";
import { permissionsOf, rolesOf } from "./find-unseen.ts";
import type { Fresh } from "./fresh-context.ts";
import type { MergedReviews, MergedRow, Review } from "./merged-reviews.ts";
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
import { deviationText, notListedText } from "./words.ts";

/** The inputs of an account, other than the reviews. */
interface AccountContext extends Fresh {
  readonly covered: Plan;
  readonly refused: readonly RefusedChange[];
  /** Why reviews do not count at all. */
  readonly elsewhere: readonly string[];
}

/** A row that later applies need, unless all changes with the fingerprints in `until` are made. */
export interface OpenRow {
  /** The index of the review. */
  readonly index: number;
  readonly row: RowPlace;
  /** `null` if it is needed in any case. */
  readonly until: readonly string[] | null;
  /** Set if its change is lost. */
  readonly isLost?: true;
}

/** Accounts for each change that the reviews showed, and returns the rows that later applies may need. */
export function accountFor(
  reviews: readonly Review[],
  merged: MergedReviews,
  context: AccountContext,
): { readonly account: readonly AccountEntry[]; readonly open: readonly OpenRow[] } {
  const { elsewhere } = context;
  if (elsewhere.length > 0) {
    return {
      account: reviews.flatMap((review, index) => elsewhereEntries(review, index, elsewhere)),
      open: [],
    };
  }
  const judge = itemJudge(merged, context);
  const fingerprintsOf = changeFinder(context);
  const ofRoles = context.fresh.plan.changes.flatMap(({ resource, fingerprint }) =>
    resource === "role" ? fingerprint : [],
  );
  const judgedGroups = groupedRows(merged.rows).map((rows) => {
    const [{ review, row }] = rows;
    const fingerprints = [...new Set(rows.flatMap((mergedRow) => fingerprintsOf(mergedRow.row.subject)))];
    const judged = rows.flatMap((mergedRow) =>
      ownItems(mergedRow, reviews[review], merged).map((item) => ({
        item,
        row: mergedRow.row,
        ...judge(mergedRow, item),
      })),
    );
    const name = reviews[review]?.name ?? "";
    const entry = judged.length === 0 ? null : entryOf(rows, judged, { name, fingerprints }, context);
    // Somebody without access whose access was to end needs nothing more.
    const isOver =
      entry?.verdict === "ended" &&
      fingerprints.length === 0 &&
      context.live({ kind: "member", key: row.subject.key }) === null;
    if (isOver) return { entry, open: [] };
    const openRows = rows.flatMap((mergedRow) => {
      // Somebody's permissions may depend on any role that changes.
      if (mergedRow.row.subject.kind === "person")
        return openRow(mergedRow, entry, [...fingerprints, ...ofRoles]);
      return mergedRow === rows[0] ? openRow(mergedRow, entry, fingerprints) : [];
    });
    return { entry, open: openRows };
  });
  return {
    account: judgedGroups.flatMap(({ entry }) => entry ?? []),
    open: judgedGroups.flatMap(({ open }) => open),
  };
}

/** Returns the rows of a change that later applies need, even if it is done: its row may cover changes that remain. */
function openRow(
  { review, row }: MergedRow,
  entry: AccountEntry | null,
  fingerprints: readonly string[],
): readonly OpenRow[] {
  const place = { index: review, row: row.place };
  if (entry?.verdict === "refused" || entry?.verdict === "deferred") return [{ ...place, until: null }];
  if (entry?.verdict === "dropped") return [{ ...place, until: null, isLost: true }];
  return fingerprints.length === 0 ? [] : [{ ...place, until: fingerprints }];
}

type Rows = readonly [MergedRow, ...MergedRow[]];

/**
 * Groups the rows of one change of one review: a member's row goes with the row of its permissions as they are once
 * deferred changes are made.
 */
function groupedRows(mergedRows: readonly MergedRow[]): readonly Rows[] {
  const personKey = ({ review, row }: MergedRow): string => `${review} ${subjectText(row.subject)}`;
  const deferred = new Set(mergedRows.filter(({ row }) => row.isDeferred).map(personKey));
  const rows = mergedRows.filter((mergedRow) => {
    const { subject, isDeferred } = mergedRow.row;
    return subject.kind !== "person" || isDeferred || !deferred.has(personKey(mergedRow));
  });
  const groups = new Map<string, [MergedRow, ...MergedRow[]]>();
  const members = new Map<string, string>();
  for (const mergedRow of rows) {
    const { place, subject } = mergedRow.row;
    const person = `${mergedRow.review} ${subject.key}`;
    const rowKey = `${mergedRow.review} ${place.list} ${place.index}`;
    if (subject.kind === "member") members.set(person, rowKey);
    const key = subject.kind === "person" ? (members.get(person) ?? rowKey) : rowKey;
    const group = groups.get(key);
    if (group) group.push(mergedRow);
    else groups.set(key, [mergedRow]);
  }
  return [...groups.values()];
}

/**
 * Returns the items that a review changes. With a base, these are what its files change; of a role or membership, also
 * what else the review shows, if the files of another review differ or a new plan takes something away.
 */
function ownItems(mergedRow: MergedRow, review: Review | undefined, merged: MergedReviews): readonly Item[] {
  const { row } = mergedRow;
  const { subject, base, after } = row;
  if (subject.kind === "leftover") return [EXISTS];
  const items = touchedItems(row).filter(({ field }) => field !== "reach");
  if (review?.state.hasBase !== true) return items;
  if (base !== undefined) {
    return items.filter((item) => !isSameValue(itemValue(base, item), itemValue(after, item)));
  }
  if (subject.kind === "person") return [];
  if (review.lostAt !== undefined) return items;
  return items.filter(
    (item) => (review.isNew && itemValue(after, item) === false) || merged.isContradicted(mergedRow, item),
  );
}

interface ItemVerdict {
  readonly verdict: Verdict;
  readonly by: string | null;
}

/** Returns a function that gives the verdict on an item of a review. */
function itemJudge(
  merged: MergedReviews,
  context: AccountContext,
): (one: MergedRow, item: Item) => ItemVerdict {
  const { fresh, covered, live, endOf, endAt, dates, reviews } = context;
  const [end, whole] = [endOf(covered), endOf(fresh.plan)];
  const settled = endState(freshRows(fresh.plan, context, "deferred"), whole);
  const hasEnded = ({ review, row }: MergedRow, item: Item): boolean => {
    const { kind, key } = row.subject;
    const reviewedAt = reviews[review]?.state.at ?? 0;
    const isDated = (kind === "member" || kind === "person") && dates.areReviewed(key, reviewedAt);
    return isDated && isReached(endAt(reviewedAt), row, item);
  };
  return (mergedRow, item) => {
    const { row } = mergedRow;
    const verdict = (word: Verdict, by: string | null = null): ItemVerdict => ({ verdict: word, by });
    if (isReached(end, row, item)) return verdict(isReached(live, row, item) ? "done" : "covered");
    const later = laterReview(mergedRow, item, end, merged);
    if (later !== null) return verdict("superseded", reviews[later]?.name ?? null);
    if (isReached(whole, row, item)) return verdict("refused");
    if (isReached(settled, row, item)) return verdict("deferred");
    return verdict(hasEnded(mergedRow, item) ? "ended" : "dropped");
  };
}

/**
 * Returns the later review that decides differently about an item, or takes a permission away from a role that grants
 * it.
 */
function laterReview(
  { review, row: { subject, after } }: MergedRow,
  item: Item,
  end: EndState,
  merged: MergedReviews,
): number | null {
  const reviewed = itemValue(after, item);
  const decision = merged.decide(subject, item);
  const isOther = decision?.isTouched === true && !isSameValue(decision.value, reviewed);
  if (isOther && decision.review > review) return decision.review;
  if (subject.kind !== "person" || reviewed !== true) return null;
  const ofRole = { field: "permissions", element: item.element ?? "" };
  const later = rolesOf(end, subject.key).flatMap((key) => {
    const decision = merged.decide({ kind: "role", key }, ofRole);
    return decision?.isTouched && decision.review > review && decision.value === false ? decision.review : [];
  });
  return later[0] ?? null;
}

/** Returns whether an item in a state is as it was reviewed, as far as the service reports it. */
function isReached(state: EndState, { subject, after }: ReviewedRow, item: Item): boolean {
  const reviewed = itemValue(after, item);
  const values = state(subject);
  const value = itemValue(values, item);
  if (isSameValue(value, reviewed)) return true;
  const { field, element = "" } = item;
  // A person who does not exist has no fields, and no value of a new password is known.
  if (field !== null && values !== null && value === undefined && subject.kind === "member") return true;
  // A disabled or expired membership grants what its roles grant once it is active.
  if (subject.kind !== "person" || reviewed !== true) return false;
  return rolesOf(state, subject.key).some((role) => permissionsOf(state, role).includes(element));
}

/** The verdicts by precedence: of several, the first is shown. */
const WORST_FIRST: readonly Verdict[] = [
  "dropped",
  "refused",
  "deferred",
  "covered",
  "ended",
  "superseded",
  "done",
];

interface JudgedItem extends ItemVerdict {
  readonly item: Item;
  readonly row: ReviewedRow;
}

function entryOf(
  rows: Rows,
  judged: readonly JudgedItem[],
  { name, fingerprints }: { readonly name: string; readonly fingerprints: readonly string[] },
  context: AccountContext,
): AccountEntry {
  const [{ review, row }] = rows;
  const worstVerdict =
    WORST_FIRST.find((candidate) => judged.some((each) => each.verdict === candidate)) ?? "done";
  const isFailed = worstVerdict === "dropped" || worstVerdict === "refused";
  // Somebody whose reviewed removal was cancelled may still lose a role.
  const isReplaced = judged.some(({ item, verdict }) => item === EXISTS && verdict === "superseded");
  const verdict = isReplaced && !isFailed ? "superseded" : worstVerdict;
  const worst = judged.filter((item) => item.verdict === verdict);
  const { kind, key } = row.subject;
  return {
    review: name,
    index: review,
    row: row.place,
    resource: kind === "role" ? "role" : "member",
    name: context.named(row.subject, EXISTS).name,
    does: kind === "person" ? "permissions" : doesOf(row),
    verdict,
    reasons: isFailed ? reasonsOf(worst, fingerprints, context) : [],
    by: worst.find(({ by }) => by !== null)?.by ?? null,
    origins: verdict === "dropped" ? originsOf(kind === "role" ? null : key, worst, context) : [],
    fingerprints,
  };
}

function doesOf({ after, before }: ReviewedRow): AccountEntry["does"] {
  if (after === null) return "remove";
  return before === null ? "create" : "update";
}

/**
 * Returns a function that finds the fingerprints of the fresh plan's changes, including deferred ones, by subject; a
 * person's permissions have those of the membership's changes.
 */
function changeFinder(context: AccountContext): (subject: RowSubject) => readonly string[] {
  const rows = (["now", "deferred"] as const).flatMap((which) =>
    freshRows(context.fresh.plan, context, which),
  );
  const bySubject = new Map<string, readonly string[]>();
  for (const { subject, fingerprint } of rows) {
    if (fingerprint === null) continue;
    const key = subjectText(subject);
    bySubject.set(key, [...(bySubject.get(key) ?? []), fingerprint]);
  }
  return ({ kind, key }) =>
    bySubject.get(subjectText({ kind: kind === "person" ? "member" : kind, key })) ?? [];
}

function reasonsOf(
  judged: readonly JudgedItem[],
  fingerprints: readonly string[],
  { refused, named, seal, fresh: { desired } }: AccountContext,
): readonly string[] {
  const isRefused = judged.some(({ verdict }) => verdict === "refused");
  const ownRefusals = refused.filter(({ change }) => fingerprints.includes(change.fingerprint));
  if (isRefused && ownRefusals.length > 0) return [...new Set(ownRefusals.flatMap(({ reasons }) => reasons))];
  const gone = judged.find(({ item, row }) => item.field === null && row.subject.kind !== "person");
  // A missing person lacks everything that belongs to the membership.
  const shown = gone === undefined ? judged : [gone];
  return [
    ...new Set(
      shown.map(({ row, item }) => {
        const { kind, key } = row.subject;
        const [namedItem, reviewed] = [named(row.subject, item), itemValue(row.after, item)];
        const isMissing = kind === "member" && item === EXISTS && reviewed === true;
        const isListed = desired.members?.some(({ email }) => seal(email.toLowerCase()) === key) === true;
        return isMissing && !isListed && namedItem.name !== null
          ? notListedText(namedItem.name)
          : deviationText(namedItem, reviewed);
      }),
    ),
  ];
}

/** Returns the entries of the files that lead to something other than what was reviewed. */
function originsOf(
  name: string | null,
  judged: readonly JudgedItem[],
  { fresh: { desired, live }, seal, covered, endOf }: AccountContext & Pick<Fresh, "fresh">,
): readonly Origin[] {
  if (name === null) return judged.flatMap(({ row }) => roleOrigin(row.subject.key, desired, live.roles));
  const entries = (desired.members ?? []).filter(({ email }) => seal(email.toLowerCase()) === name);
  const leaving = (desired.leavers ?? []).filter(({ email }) => seal(email.toLowerCase()) === name);
  const end = endOf(covered);
  const grants = judged.flatMap(({ item: { element = "" }, row }): readonly Origin[] => {
    const isKept =
      itemValue(row.after, { field: row.subject.kind === "person" ? "held" : "roles", element }) === false;
    if (!isKept || element === "") return [];
    const roles =
      row.subject.kind === "person"
        ? rolesOf(end, name).filter((role) => permissionsOf(end, role).includes(element))
        : [element];
    return entries.flatMap((entry) =>
      (entry.roles ?? []).flatMap((grant, index) => {
        const isMeant = roles.some(
          (role) =>
            grant.role === role ||
            live.roles.some(({ id, name: roleName }) => id === role && roleName === grant.role),
        );
        if (!isMeant) return [];
        return grant.origins ?? [{ file: entry.origin.file, path: [...entry.origin.path, "roles", index] }];
      }),
    );
  });
  if (grants.length > 0) return distinct(grants);
  return distinct([...leaving, ...entries].map(({ origin }) => origin));
}

function roleOrigin(
  key: string,
  { roles = [] }: DesiredState,
  live: readonly { readonly id: string; readonly name: string }[],
): readonly Origin[] {
  const name = live.find(({ id }) => id === key)?.name ?? key;
  const declaredRoles = roles.filter(
    (role) => role.id === key || role.name === name || `new ${role.name}` === key,
  );
  return declaredRoles.map(({ origin }) => origin).slice(0, 1);
}

function distinct(origins: readonly Origin[]): readonly Origin[] {
  return [...new Map(origins.map((origin) => [JSON.stringify(origin), origin])).values()];
}

/** Returns entries for a review that does not count: everything in it is refused. */
function elsewhereEntries(
  { name, state }: Review,
  index: number,
  reasons: readonly string[],
): readonly AccountEntry[] {
  const lists = ["roles", "members"] as const;
  return lists.flatMap((list) =>
    state[list].map(
      (row, position): AccountEntry => ({
        review: name,
        index,
        row: { list, index: position },
        resource: list === "roles" ? "role" : "member",
        name: row.name,
        does: row.after === null ? "remove" : row.before === null ? "create" : "update",
        verdict: "refused",
        reasons,
        by: null,
        origins: [],
        fingerprints: [],
      }),
    ),
  );
}
