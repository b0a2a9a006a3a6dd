import { describe, expectTypeOf, test } from "vitest";
import type { Field, FieldTable } from "../../../src/kernel/fields/field.ts";
import type { FieldKind } from "../../../src/kernel/fields/kind.ts";
import { MEMBER_FIELDS } from "../../../src/kernel/fields/member.ts";
import { ROLE_FIELDS } from "../../../src/kernel/fields/role.ts";
import type { MemberValues, RoleImage } from "../../../src/model/field-values.ts";
import type { Metadata } from "../../../src/model/json.ts";

/** The keys that can be left out of a type. */
type OptionalKeys<T> = { [Key in keyof T]-?: Pick<T, never> extends Pick<T, Key> ? Key : never }[keyof T];

/** The table of members with another entry for metadata. */
type With<Entry> = Omit<typeof MEMBER_FIELDS, "metadata"> & { readonly metadata: Entry };

type Entry = (typeof MEMBER_FIELDS)["metadata"];

/** The fields that hold metadata. */
type MetadataNames<Values> = {
  [Name in keyof Values]: Values[Name] extends Metadata ? Name : never;
}[keyof Values];

/** The aspects of an entry without which it still compiles. */
type Spare = {
  [Aspect in keyof Entry]: With<Omit<Entry, Aspect>> extends FieldTable<MemberValues> ? Aspect : never;
}[keyof Entry];

// The compiler checks these.
describe("does not compile without", () => {
  test("an aspect of a field, its key in files or its kind", () => {
    expectTypeOf<OptionalKeys<Field<Metadata>>>().toBeNever();
    expectTypeOf<OptionalKeys<Field<Metadata>["declared"]>>().toBeNever();
    expectTypeOf<OptionalKeys<FieldKind<Metadata>>>().toBeNever();
    expectTypeOf<With<Entry>>().toExtend<FieldTable<MemberValues>>();
    expectTypeOf<Spare>().toBeNever();
  });

  test("an entry for a value of the model", () => {
    expectTypeOf(MEMBER_FIELDS).toExtend<FieldTable<MemberValues>>();
    expectTypeOf(ROLE_FIELDS).toExtend<FieldTable<RoleImage>>();
    expectTypeOf(MEMBER_FIELDS).not.toExtend<
      FieldTable<MemberValues & { readonly shoeSize: string | null }>
    >();
    expectTypeOf(ROLE_FIELDS).not.toExtend<FieldTable<RoleImage & { readonly shoeSize: string | null }>>();
  });

  test("the kind of a value's type", () => {
    type Wrong = Omit<Entry, "kind"> & Pick<(typeof MEMBER_FIELDS)["nickname"], "kind">;
    expectTypeOf<With<Wrong>>().not.toExtend<FieldTable<MemberValues>>();
  });

  test("more than numbers kept exact by key, if a second field holds metadata", () => {
    expectTypeOf<MetadataNames<MemberValues>>().toEqualTypeOf<"metadata">();
    expectTypeOf<MetadataNames<RoleImage>>().toEqualTypeOf<"metadata">();
  });
});
