import type { NamedDiff, SentOf, Some } from "../../model/field-values.ts";
import type { JsonValue } from "../../model/json.ts";
import type { FieldKind, KindValues } from "./kind.ts";

/** Everything that is specific to one field of a role or member. */
export interface Field<Value> {
  /** Compares, shows, empties and restores values. */
  readonly kind: FieldKind<Value>;
  /** The key in a response: in the resource, or in its `user` for a field of managed users. */
  readonly response: string;
  /** The key in the request that creates the resource. */
  readonly post: string;
  /**
   * The key in the request that updates it, placed as in a response; `null` if the service cannot change the value in
   * place.
   */
  readonly put: string | null;
  /** `false` if the service cannot remove a value once it is set. */
  readonly clearable: boolean;
  /** `true` if it distinguishes people: added or removed members may differ only in it. */
  readonly personal: boolean;
  /** The key of an entry in a file. */
  readonly declared: {
    readonly title: string;
    readonly description: string;
    readonly examples: readonly unknown[];
    /** `true` if a new resource needs it; a pull then writes it also where it is empty. */
    readonly required: boolean;
    /** The service's limit, of characters or items; `null` if none is known. */
    readonly most: number | null;
  };
}

/** An entry for each of some values. */
export type FieldTable<Values> = { readonly [Name in keyof Values]: Field<Values[Name]> };

/** Calls a function for each field of a table; returns the results by field, without those that are `undefined`. */
export function eachField<Table, Results extends { readonly [Name in keyof Table]?: unknown }>(
  table: Table,
  visit: <Name extends keyof Table>(name: Name, field: Table[Name]) => Results[Name] | undefined,
): Results {
  const results: { -readonly [Name in keyof Table]?: Results[Name] } = {};
  for (const name in table) {
    const result = visit(name, table[name]);
    if (result !== undefined) results[name] = result;
  }
  return results as Results;
}

/** Calls a function for each field of a table; returns the results in its order, without those that are `undefined`. */
export function mapFields<Table, Result>(
  table: Table,
  visit: <Name extends keyof Table>(name: Name, field: Table[Name]) => Result | undefined,
): readonly Result[] {
  return Object.values<Result>(eachField<Table, Record<keyof Table, Result>>(table, visit));
}

/** A table whose kinds are known by name. */
export type KindNames<Table> = {
  readonly [Name in keyof Table]: Pick<Field<unknown>, "declared" | "clearable"> & {
    readonly kind: { readonly name: keyof KindValues };
  };
};

/** For each field of a table the form of its kind. */
export type ByKind<Table extends KindNames<Table>, Forms extends Record<keyof KindValues, unknown>> = {
  readonly [Name in keyof Table]: Forms[Table[Name]["kind"]["name"]];
};

/** Returns for each field the form of its kind. */
export function byKind<Table extends KindNames<Table>, Forms extends Record<keyof KindValues, unknown>>(
  table: Table,
  forms: Forms,
): ByKind<Table, Forms> {
  return eachField<Table, ByKind<Table, Forms>>(table, (_, { kind }) => forms[kind.name]);
}

/** Returns values in the form of images, where what is absent is empty. */
export function completed<Values>(
  table: FieldTable<Values>,
  some: { readonly [Name in keyof Values]?: Values[Name] | undefined },
): Values {
  return eachField<FieldTable<Values>, Values>(table, (name, { kind }) =>
    kind.normal(some[name] ?? kind.empty),
  );
}

/** Returns the differences of two images, in the table's order. */
export function fieldDiffs<Values>(
  table: FieldTable<Values>,
  before: Values,
  after: Values,
): readonly NamedDiff<Values>[] {
  return mapFields(table, (name, { kind }) =>
    kind.isSame(before[name], after[name])
      ? undefined
      : { field: name, ...kind.diff(before[name], after[name]) },
  );
}

/** Returns the parts in which two images differ, by field. */
export function changedParts<Values>(
  table: FieldTable<Values>,
  before: Values,
  after: Values,
): readonly string[] {
  return mapFields(table, (name, { kind }) =>
    kind.changedParts(before[name], after[name]).map((part) => partKey(name, part)),
  ).flat();
}

/** Returns the first image with some parts of the second. */
export function withParts<Values>(
  table: FieldTable<Values>,
  before: Values,
  after: Values,
  parts: ReadonlySet<string>,
): Values {
  return eachField<FieldTable<Values>, Values>(table, (name, { kind }) => {
    const [from, to] = [before[name], after[name]];
    const own = kind.changedParts(from, to).filter((part) => parts.has(partKey(name, part)));
    return kind.withParts(from, to, new Set(own));
  });
}

function partKey(name: PropertyKey, part: string): string {
  return `${String(name)} ${part}`;
}

/** Returns whether two entries declare the same fields, with the same values. */
export function isSameDeclared<Values>(
  table: FieldTable<Values>,
  a: Partial<Values>,
  b: Partial<Values>,
): boolean {
  const differing = mapFields(table, (name, { kind }) => {
    const [valueA, valueB] = [a[name], b[name]];
    const isSame =
      valueA === undefined || valueB === undefined ? valueA === valueB : kind.isSame(valueA, valueB);
    return isSame ? undefined : name;
  });
  return differing.length === 0;
}

/** Returns the values of some fields. */
export function pickFields<Values>(
  table: FieldTable<Values>,
  values: Values,
  names: ReadonlySet<keyof Values>,
): Partial<Values> {
  return eachField<FieldTable<Values>, Partial<Values>>(table, (name) =>
    names.has(name) ? values[name] : undefined,
  );
}

/** Returns the fields that have a value. */
export function filledFields<Values>(table: FieldTable<Values>, values: Values): readonly (keyof Values)[] {
  return mapFields(table, (name, { kind }) => (kind.isSame(values[name], kind.empty) ? undefined : name));
}

/** Describes how live values differ from planned ones. */
export function surprises<Values>(
  table: FieldTable<Values>,
  planned: Values,
  live: Values,
): readonly string[] {
  return mapFields(table, (name, { kind }) => kind.surprises(String(name), planned[name], live[name])).flat();
}

/**
 * Returns the values that a request sends: to create a resource, without optional empty ones; to update it, those that
 * the service can change.
 */
export function sentValues<Values>(
  table: FieldTable<Values>,
  by: "post" | "put",
  values: Partial<Values>,
): Some<Values> {
  return eachField<FieldTable<Values>, Some<Values>>(table, (name, field) => {
    const value = values[name];
    const { kind, declared, clearable } = field;
    if (value === undefined || field[by] === null) return undefined;
    const sendsEmpty = by === "post" ? declared.required : clearable;
    return sendsEmpty || !kind.isSame(value, kind.empty) ? kind.sent(value) : undefined;
  });
}

/** Returns values as the service returns them, without those that are `null`. */
export function heldValues<Values>(
  table: FieldTable<Values>,
  values: Values,
): { readonly [Name in keyof Values]: SentOf<Values[Name]> } {
  return eachField(table, (name, { kind }) => (values[name] === null ? undefined : kind.sent(values[name])));
}

/** Returns the parts of values that fingerprints include. */
export function contents<Values>(
  table: FieldTable<Values>,
  values: Values,
): { readonly [Name in keyof Values]: JsonValue } {
  return eachField(table, (name, { kind }) => kind.content(values[name]));
}
