import { isSameJson } from "../../lib/json-text.ts";
import type { RowPlace } from "../../model/approval-account.ts";
import type { JsonValue } from "../../model/json.ts";
import type { FieldValues, ReviewedPerson, ReviewedResource, ReviewedState } from "../../model/reviewed.ts";
import { roleKey } from "../fields/set.ts";
import type { Identities } from "./identities.ts";

/** The kinds of subjects of rows; a leftover is an expired invitation beside a membership that stays. */
export type SubjectKind = "role" | "member" | "leftover" | "person";

/**
 * Identity of a row: a role by its live id or `new` and its name, a leftover by its id, others by the person's name.
 */
export interface RowSubject {
  readonly kind: SubjectKind;
  readonly key: string;
}

/** The values of a subject before and after a plan; `null` while it does not exist. */
export interface ReviewedRow {
  readonly place: RowPlace;
  readonly subject: RowSubject;
  readonly before: FieldValues | null;
  readonly after: FieldValues | null;
  /** The values after a plan of the base's files; `undefined` if those are the same, or if there is no base. */
  readonly base: FieldValues | null | undefined;
  /** `true` if it is added, removed or replaced, so that every item is touched. */
  readonly isWhole: boolean;
  readonly isDeferred: boolean;
}

/** A part of a subject: whether it exists, a field, or an element of a set. */
export interface Item {
  /** `null` if the item is whether the subject exists. */
  readonly field: string | null;
  /** The element, if the field is a set. */
  readonly element?: string;
}

/** The item that says whether a subject exists. */
export const EXISTS: Item = { field: null };

/** Returns the rows of a reviewed state, with the current identities of their subjects. */
export function rowsOf(state: ReviewedState, identities: Identities): readonly ReviewedRow[] {
  return [
    ...state.roles.flatMap((row, index) => roleRows(row, { list: "roles", index }, identities)),
    ...state.members.flatMap((row, index) => [
      ...memberRows(row, { list: "members", index }, identities),
      ...replacedInvitation(row, { list: "members", index }),
    ]),
    ...personRows(state),
  ];
}

/** Returns the rows of a role: two if it is replaced. */
export function roleRows(
  row: ReviewedResource,
  place: RowPlace,
  identities: Identities,
): readonly ReviewedRow[] {
  const { id, name, before, after, base, replaced } = row;
  const isDeferred = row.deferred === true;
  const common = { place, isDeferred, isWhole: isWhole(row) };
  const created = { kind: "role", key: identities.role(roleKey({ id: null, name })) } as const;
  if (id === null) return [{ ...common, subject: created, before, after, base }];
  const subject = { kind: "role", key: id } as const;
  if (!replaced) return [{ ...common, subject, before, after, base }];
  return [
    { ...common, subject, before, after: null, base },
    { ...common, subject: created, before: null, after, base: base === undefined ? undefined : null },
  ];
}

/** Returns the rows of a membership. */
export function memberRows(
  row: ReviewedResource,
  place: RowPlace,
  identities: Identities,
): readonly ReviewedRow[] {
  const { id, name, base } = row;
  const [before, after] = [row.before, row.after].map((values) => withCurrentRoles(values, identities));
  const common = { place, isDeferred: row.deferred === true, isWhole: isWhole(row) };
  const subject = row.leftover
    ? ({ kind: "leftover", key: id ?? name } as const)
    : person("member", identities.member(row));
  return [
    {
      ...common,
      subject,
      before: before ?? null,
      after: after ?? null,
      base: base === undefined ? undefined : withCurrentRoles(base, identities),
    },
  ];
}

/** Returns the row of an expired invitation that is replaced, which may remain beside the new one. */
export function replacedInvitation(row: ReviewedResource, place: RowPlace): readonly ReviewedRow[] {
  if (row.replaced === undefined || row.id === null) return [];
  const subject = { kind: "leftover", key: row.id } as const;
  return [{ place, subject, before: {}, after: null, base: undefined, isWhole: true, isDeferred: false }];
}

function personRows(state: ReviewedState): readonly ReviewedRow[] {
  const whole = new Set(state.members.flatMap((row) => (isWhole(row) && !row.leftover ? row.name : [])));
  return state.people.map((row, index) =>
    personRow(row, state, { list: "people", index }, whole.has(row.name)),
  );
}

/** Returns the row of somebody's permissions. */
export function personRow(
  { name, held, reach, deferred }: ReviewedPerson,
  { permissionSets }: Pick<ReviewedState, "permissionSets">,
  place: RowPlace,
  whole: boolean,
): ReviewedRow {
  const values = (had: number, could: number): FieldValues => ({
    held: permissionSets[had] ?? [],
    reach: permissionSets[could] ?? [],
  });
  const hasBase = held.base !== undefined || reach.base !== undefined;
  return {
    place,
    subject: person("person", name),
    before: values(held.before, reach.before),
    after: values(held.after, reach.after),
    base: hasBase ? values(held.base ?? held.after, reach.base ?? reach.after) : undefined,
    isWhole: whole,
    isDeferred: deferred === true,
  };
}

function person<Kind extends "member" | "person">(kind: Kind, name: string): { kind: Kind; key: string } {
  return { kind, key: name };
}

function isWhole({ before, after, base, replaced }: ReviewedResource): boolean {
  return replaced === true || before === null || after === null || base === null;
}

/** Returns the values of a member's fields with the roles that they now refer to. */
export function withCurrentRoles(values: FieldValues | null, identities: Identities): FieldValues | null {
  const roles = values?.["roles"];
  return Array.isArray(roles)
    ? { ...values, roles: (roles as readonly string[]).map(identities.role) }
    : values;
}

/** Returns a text that identifies a subject. */
export function subjectText({ kind, key }: RowSubject): string {
  return `${kind} ${key}`;
}

/** Returns the value of an item; `undefined` if the subject has none. */
export function itemValue(values: FieldValues | null, { field, element }: Item): JsonValue | undefined {
  if (field === null) return values !== null;
  const value = values?.[field];
  return element === undefined ? value : Array.isArray(value) && value.includes(element);
}

/** Returns whether two values of an item are equal. */
export function isSameValue(value: JsonValue | undefined, other: JsonValue | undefined): boolean {
  return value === other || (value !== undefined && other !== undefined && isSameJson(value, other));
}

/**
 * Returns whether an item's value after the plan differs from the one before, or from the one that the base's files
 * lead to.
 */
export function touches(row: ReviewedRow, item: Item): boolean {
  const after = itemValue(row.after, item);
  if (row.isWhole || !isSameValue(itemValue(row.before, item), after)) return true;
  return row.base !== undefined && !isSameValue(itemValue(row.base, item), after);
}

/** Returns the items that a row names and touches. */
export function touchedItems(row: ReviewedRow): readonly Item[] {
  return itemsOf(row).filter((item) => touches(row, item));
}

function itemsOf({ subject, before, after, base }: ReviewedRow): readonly Item[] {
  const images = [before, after, base].filter((values) => values !== null && values !== undefined);
  const fields = [...new Set(images.flatMap((image) => Object.keys(image)))];
  const items = fields.flatMap((field): readonly Item[] => {
    const values = images.flatMap((image) => image[field] ?? []);
    const isSet = images.some((image) => Array.isArray(image[field]));
    return isSet ? [...new Set(values as string[])].map((element) => ({ field, element })) : [{ field }];
  });
  return subject.kind === "person" ? items : [EXISTS, ...items];
}
