import type { DiffOf, MemberField, RoleImage } from "../../model/field-values.ts";
import type { Change, FieldDiff } from "../../model/plan.ts";
import { type FieldTable, mapFields } from "./field.ts";
import type { KindValues, ShownDiff } from "./kind.ts";
import { MEMBER_FIELDS, memberValues } from "./member.ts";
import { ROLE_FIELDS } from "./role.ts";

/** Text of a field in the rows of a diff. */
export interface ShownField extends ShownDiff {
  readonly label: string;
  /** The lines of a created or removed resource. */
  readonly plain: readonly string[];
  /** `true` for a text whose words can be compared. */
  readonly prose: boolean;
}

/** Returns what rows show of a change: the fields that differ, or all fields of a created or removed resource. */
export function shownFields(change: Change): readonly ShownField[] {
  if (change.kind === "update" || change.kind === "replace") return change.fields.map(shownDiff);
  const image = change.after ?? change.before;
  return "permissions" in image
    ? shownValues<RoleImage>(ROLE_FIELDS, image)
    : shownValues(MEMBER_FIELDS, memberValues(image));
}

/** Returns what rows show of the values of a created or removed resource. */
export function shownValues<Values>(table: FieldTable<Values>, values: Values): readonly ShownField[] {
  return mapFields(table, (name, { kind }) => {
    const plain = kind.lines(values[name]);
    return plain.length === 0
      ? undefined
      : { label: String(name), removed: [], added: [], plain, prose: false };
  });
}

const FIELDS = { ...ROLE_FIELDS, ...MEMBER_FIELDS };

type AnyDiff = { [Name in keyof KindValues]: DiffOf<KindValues[Name]> }[keyof KindValues];

interface DiffKind {
  readonly name: keyof KindValues;
  inverted(diff: AnyDiff): AnyDiff;
  changedLines(diff: AnyDiff): ShownDiff;
}

function kindOf({ field }: FieldDiff): DiffKind {
  return FIELDS[field].kind;
}

function shownDiff(diff: FieldDiff): ShownField {
  const kind = kindOf(diff);
  return { label: diff.field, ...kind.changedLines(diff), plain: [], prose: kind.name === "prose" };
}

/** Returns a difference in the other direction. */
export function invertedDiff(diff: FieldDiff): FieldDiff {
  return { field: diff.field, ...kindOf(diff).inverted(diff) } as FieldDiff;
}

/** The fields of members that distinguish people. */
export const PERSONAL_FIELDS: ReadonlySet<string> = new Set<MemberField>(
  mapFields(MEMBER_FIELDS, (name, { personal }) => (personal ? name : undefined)),
);

/** The fields of members whose lines begin with the name of a property, as in "desk.floor: 2". */
export const PROPERTY_FIELDS: ReadonlySet<string> = new Set<MemberField>(
  mapFields(MEMBER_FIELDS, (name, { kind }) => (kind.name === "metadata" ? name : undefined)),
);
