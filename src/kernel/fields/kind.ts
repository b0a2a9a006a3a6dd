import type { DiffOf, RoleRef, SentOf } from "../../model/field-values.ts";
import type { JsonValue, Metadata } from "../../model/json.ts";

/** The values of each kind. */
export interface KindValues {
  readonly name: string;
  /** On one line. */
  readonly line: string | null;
  /** Of any number of lines. */
  readonly prose: string | null;
  readonly list: readonly string[];
  readonly roles: readonly RoleRef[];
  readonly metadata: Metadata;
}

/** The lines that a change removes and adds. */
export interface ShownDiff {
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

/** A kind of values: how they are compared, shown, emptied and restored. */
export interface FieldKind<Value, Name extends keyof KindValues = keyof KindValues> {
  readonly name: Name;
  /** The value of a field that has none. */
  readonly empty: Value;
  /** Returns a value in the form in which images have it. */
  normal(value: Value): Value;
  isSame(a: Value, b: Value): boolean;
  diff(before: Value, after: Value): DiffOf<Value>;
  /** Returns the parts in which two values differ: the keys of items or properties, or one part for the whole. */
  changedParts(before: Value, after: Value): readonly string[];
  /** Returns the first value with some parts of the second. */
  withParts(before: Value, after: Value, parts: ReadonlySet<string>): Value;
  /** Returns the difference in the other direction. */
  inverted(diff: DiffOf<Value>): DiffOf<Value>;
  /** Returns the lines that show a value of a new or removed resource. */
  lines(value: Value): readonly string[];
  /** Returns the lines that show a difference. */
  changedLines(diff: DiffOf<Value>): ShownDiff;
  /** Describes how a live value differs from the planned one; empty if it does not. */
  surprises(field: string, planned: Value, live: Value): readonly string[];
  /** Returns a value as requests hold it; throws for a role without an id. */
  sent(value: Value): SentOf<Value>;
  /** Returns the part of a value that fingerprints include; `undefined` if there is none. */
  content(value: Value): JsonValue | undefined;
  /** Returns the value before a run, with what others have changed since. */
  reverted(before: Value, after: Value, live: Value, changedSince: ChangedSince): Value;
}

/** Receives what stays because it has been changed since: a part of a value, or the whole. */
export type ChangedSince = (part?: string) => void;

/** Returns a function that reverts values as a whole: to the one before the run, if the live one is the run's. */
export function revertedWhole<Value>(isSame: (a: Value, b: Value) => boolean) {
  return (before: Value, after: Value, live: Value, changedSince: ChangedSince): Value => {
    if (isSame(before, after) || isSame(live, before)) return live;
    if (isSame(live, after)) return before;
    changedSince();
    return live;
  };
}

/** Returns the functions for the parts of values that change as a whole. */
export function undivided<Value>(
  isSame: (a: Value, b: Value) => boolean,
): Pick<FieldKind<Value>, "changedParts" | "withParts"> {
  return {
    changedParts: (before, after) => (isSame(before, after) ? [] : [""]),
    withParts: (before, after, parts) => (parts.has("") ? after : before),
  };
}

/** Describes a live value that is not as planned. */
export function differs(field: string, planned: string, live: string): string {
  return `${field}: ${planned} in the plan, ${live} now`;
}
