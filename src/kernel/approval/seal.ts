import { canonicalJson } from "../../lib/json-text.ts";
import type { JsonValue } from "../../model/json.ts";
import type { FieldValues, ReviewedDate, ReviewedResource, ReviewedState } from "../../model/reviewed.ts";

/** Converts a text about a person into the stored form: a keyed hash, or the text itself. */
export type Seal = (text: string) => string;

/** Stores texts as they are. */
export const UNSEALED: Seal = (text) => text;

/**
 * Returns a reviewed state in which everything about people is sealed: names, ids, and the values of members' fields
 * except roles. Roles and what they grant stay readable.
 */
export function sealed(state: ReviewedState, seal: Seal): ReviewedState {
  if (seal === UNSEALED) return state;
  const sealedDates = (dates: readonly ReviewedDate[]): readonly ReviewedDate[] =>
    dates.map((date) => ({
      ...date,
      name: seal(date.name),
      ...(date.fields !== undefined && { fields: seal(date.fields) }),
    }));
  const { baseDates } = state;
  return {
    ...state,
    members: state.members.map((row) => sealedMember(row, seal)),
    people: state.people.map((row) => ({ ...row, name: seal(row.name) })),
    dates: sealedDates(state.dates),
    ...(baseDates && { baseDates: sealedDates(baseDates) }),
  };
}

/** Returns a member's row with its values sealed. */
export function sealedMember(row: ReviewedResource, seal: Seal): ReviewedResource {
  const { id, name, before, after, base } = row;
  return {
    ...row,
    id: id === null ? null : seal(id),
    name: seal(name),
    before: sealedValues(before, seal),
    after: sealedValues(after, seal),
    ...(base !== undefined && { base: sealedValues(base, seal) }),
  };
}

/** Returns a member's field values, sealed. */
export function sealedValues(values: FieldValues | null, seal: Seal): FieldValues | null {
  if (values === null || seal === UNSEALED) return values;
  const entries = Object.entries(values).map(([field, value]) => [field, sealedValue(field, value, seal)]);
  return Object.fromEntries(entries) as FieldValues;
}

function sealedValue(field: string, value: JsonValue, seal: Seal): JsonValue {
  if (Array.isArray(value) || typeof value === "boolean") return value;
  return seal(`${field} ${canonicalJson(value)}`);
}
