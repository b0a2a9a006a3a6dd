import type { NamedDiff } from "../../model/values.ts";
import type { Kind } from "./kind.ts";

/** The place of a value in a body of the service. */
export type BodyPath = readonly [string] | readonly ["user", string];

/** All that is particular to one field of a role or member. */
export interface Field<Value> {
  /** How values are compared, shown, emptied and restored. */
  readonly kind: Kind<Value>;
  readonly response: BodyPath;
  /** In the request that creates the resource. */
  readonly post: BodyPath;
  /** In the request that updates it; `null` if the service cannot change the value in place. */
  readonly put: BodyPath | null;
  /** `false` if the service keeps a value once it has one. */
  readonly clearable: boolean;
  /** `true` if it tells people apart: members who come or go can be equal but for it. */
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
