import { eachField, type FieldTable } from "../kernel/fields/field.ts";

/** Receives fields that an undo does not revert. */
export interface RevertNotes<Values> {
  /** Others have changed the field, or a part of it, since. */
  changedSince(field: keyof Values, part: string | null): void;
  /** The service cannot clear the field. */
  cannotClear(field: keyof Values): void;
}

/** Returns the values before a run, with what others have changed since and what the service cannot change. */
export function revertedValues<Values>(
  table: FieldTable<Values>,
  { before, after, live }: { readonly before: Values; readonly after: Values; readonly live: Values },
  notes: RevertNotes<Values>,
): Values {
  return eachField<FieldTable<Values>, Values>(table, (name, { kind, put, clearable }) => {
    const current = live[name];
    if (put === null) return current;
    const changedSince = (part?: string): void => notes.changedSince(name, part ?? null);
    const value = kind.reverted(before[name], after[name], current, changedSince);
    if (clearable || kind.isSame(value, current) || !kind.isSame(value, kind.empty)) return value;
    notes.cannotClear(name);
    return current;
  });
}
