import { eachField, type FieldTable } from "../../kernel/fields/field.ts";
import type { Edited, Some } from "../../model/field-values.ts";

/** Returns the values that a new entry declares, without empty ones unless they are required. */
export function entryValues<Values>(
  table: FieldTable<Values>,
  live: Values,
  unwritable: ReadonlySet<string>,
): Some<Values> {
  return eachField<FieldTable<Values>, Some<Values>>(table, (name, { kind, declared }) =>
    unwritable.has(String(name)) || (!declared.required && kind.isSame(live[name], kind.empty))
      ? undefined
      : kind.sent(live[name]),
  );
}

/**
 * Returns the declared values that differ from the live ones, which take their place; `null` for one that no file can
 * express.
 */
export function entryUpdates<Values>(
  table: FieldTable<Values>,
  declared: Partial<Values>,
  live: Values,
  unwritable: ReadonlySet<string>,
): Edited<Values> {
  return eachField<FieldTable<Values>, Edited<Values>>(table, (name, { kind, clearable }) => {
    const value = declared[name];
    if (value === undefined || kind.isSame(value, live[name])) return undefined;
    return unwritable.has(String(name)) || (!clearable && kind.isSame(live[name], kind.empty))
      ? null
      : kind.sent(live[name]);
  });
}
