import type { Metadata } from "./json.ts";

/** A role as a member's change names it; `id` is null for a role that the same plan creates. */
export interface RoleRef {
  readonly id: string | null;
  readonly name: string;
}

/** The state of a role before or after a change; each field has an entry in `ROLE_FIELDS`. */
export interface RoleImage {
  readonly name: string;
  readonly description: string | null;
  /** Sorted, without duplicates. */
  readonly permissions: readonly string[];
  readonly metadata: Metadata;
}

/** The fields that every member has, except roles; each has an entry in `MEMBER_FIELDS`. */
export interface MemberProperties {
  readonly metadata: Metadata;
}

/** The fields that only managed users have; each has an entry in `MEMBER_FIELDS`. */
export interface ManagedProperties {
  readonly nickname: string | null;
}

/** The values of all fields of a member; those of managed users are `null` for others. */
export interface MemberValues extends MemberProperties, ManagedProperties {
  /** Sorted by name, without duplicates. */
  readonly roles: readonly RoleRef[];
}

/** The name of a member's field. */
export type MemberField = keyof MemberValues;

/** A value as in responses and requests: for roles, the ids. */
export type SentOf<Value> = [Value] extends [readonly RoleRef[]] ? readonly string[] : NonNullable<Value>;

/** Values as the service returns them: absent instead of `null`. */
export type Held<Values> = {
  readonly [Name in keyof Values as null extends Values[Name] ? never : Name]: SentOf<Values[Name]>;
} & {
  readonly [Name in keyof Values as null extends Values[Name] ? Name : never]?: SentOf<Values[Name]>;
};

/** Values that a file declares or a request sends: absent ones stay as they are. */
export type Some<Values> = { readonly [Name in keyof Values]?: SentOf<Values[Name]> };

/** New values of keys in a file: `null` removes the key, and an absent one stays. */
export type Edited<Values> = { readonly [Name in keyof Values]?: SentOf<Values[Name]> | null };

/** The difference of two values: for lists, the items added and removed; for others, both values. */
export type DiffOf<Value> = [Value] extends [readonly (infer Item)[]]
  ? { readonly added: readonly Item[]; readonly removed: readonly Item[] }
  : { readonly before: Value; readonly after: NonNullable<Value> };

/** The difference of one of several fields. */
export type NamedDiff<Values> = {
  readonly [Name in keyof Values]: { readonly field: Name } & DiffOf<Values[Name]>;
}[keyof Values];
