import { entryPath, isMemberField } from "../../kernel/fields/member.ts";
import type { Path } from "../../kernel/problems/problem.ts";
import { type RawFile, type RawMember, renamedRoles } from "../../kernel/schema/raw-file.ts";
import { addressesOfPerson } from "../../kernel/values/person.ts";
import { fieldsOf, kindOf, listOf, omitUndefined, textOf, valueAt } from "../../kernel/values/values.ts";
import type { Adoption, EntryEdit, GrantUpdate, MemberEntryUpdate } from "../../model/adoption.ts";
import type { DesiredMember, Origin } from "../../model/desired.ts";
import type { JsonValue } from "../../model/json.ts";
import type { YamlEdit } from "../yaml/edit-yaml.ts";
import { entryText, ignoredValues, literalGlob, passwordVariables } from "./entry-texts.ts";

/** The files of one merchant. */
export interface MerchantFiles {
  readonly main: RawFile;
  /** All files: the included ones, then the merchant's own. */
  readonly all: readonly RawFile[];
  /** Returns whether other merchants include a file. */
  readonly isShared: (file: string) => boolean;
}

/** An edit of one file. */
export interface FileEdit {
  readonly file: string;
  readonly edit: YamlEdit;
  /** The entry that it is about, as in "role Cashier". */
  readonly about: string;
  /** Edits of the merchant's own file with the same effect for this merchant alone; absent: there are none. */
  readonly instead?: readonly FileEdit[];
}

/** Returns the edits of a merchant's files that carry out an adoption. */
export function adoptionEdits({ edits }: Adoption, files: MerchantFiles): readonly FileEdit[] {
  const variables = newVariables(edits, files);
  return edits.flatMap((edit) => editsFor(edit, files, variables));
}

type Variables = ReturnType<typeof passwordVariables>;

/** Names the passwords of new managed users; none has the variable of another one. */
function newVariables(edits: readonly EntryEdit[], { all: files }: MerchantFiles): Variables {
  const taken = files.flatMap(({ members }) =>
    members.flatMap(({ fields }) => textOf(fieldsOf(fields["managed"])["password_env"]) ?? []),
  );
  const added = edits.flatMap((edit) => (edit.kind === "add-member" ? edit.entry : []));
  return passwordVariables(added, new Set(taken));
}

function editsFor(edit: EntryEdit, files: MerchantFiles, variables: Variables): readonly FileEdit[] {
  switch (edit.kind) {
    case "add-role":
      return [append("roles", { ...edit.entry }, entryText(edit), `role ${edit.entry.name}`, files)];
    case "remove-role":
      return [edit.role.adjusted ?? [], edit.role.origin].flat().map((origin) => ({
        file: origin.file,
        about: `role ${edit.role.name}`,
        edit: { kind: "remove", path: origin.path },
      }));
    case "update-role":
      return roleEdits(edit, files);
    case "add-member": {
      const { managed, ...entry } = edit.entry;
      const password_env = variables.get(edit.entry);
      const value = {
        ...entry,
        ...(managed !== undefined && { managed: omitUndefined({ ...managed, password_env }) }),
      };
      return [append("members", value, entryText(edit), entry.email, files)];
    }
    case "remove-member":
      return entriesOf(edit.member, files)
        .filter(({ file, fields }) => file === files.main.file || "roles" in fields || "managed" in fields)
        .map(({ file, index }) => ({
          file,
          about: edit.member.email,
          edit: { kind: "remove", path: ["members", index] },
        }));
    case "update-member":
      return memberEdits(edit, files);
    case "ignore-role":
    case "ignore-member": {
      const { main } = files;
      const section = edit.kind === "ignore-role" ? "roles" : "members";
      const about = edit.name ?? edit.id;
      const value = literalGlob(edit.id);
      return [
        { file: main.file, about, edit: { kind: "append", path: ["ignore", section], value } },
        {
          file: targetOf(section, files).file,
          about,
          edit: { kind: "remark", path: [section], ...ignoredValues(edit) },
        },
      ];
    }
    default:
      return edit satisfies never;
  }
}

/** Returns the file for new entries of a section: the merchant's own, unless only an include of its own has the section. */
function targetOf(section: "roles" | "members", { main, all: files, isShared }: MerchantFiles): RawFile {
  if (Object.hasOwn(main.fields, section)) return main;
  return files.findLast(({ file, fields }) => !isShared(file) && Object.hasOwn(fields, section)) ?? main;
}

function append(
  section: "roles" | "members",
  value: object,
  comment: string | null,
  about: string,
  files: MerchantFiles,
): FileEdit {
  const above = comment === null ? {} : { comment };
  const edit = { kind: "append", path: [section], value: value as JsonValue, ...above } as const;
  return { file: targetOf(section, files).file, about, edit };
}

/** Returns an edit that sets a key to a value, or removes it if that is `null` and the key is there. */
function setOrRemove(
  raw: RawFile | undefined,
  { file, path }: Origin,
  key: string,
  value: unknown,
  about: string,
): readonly FileEdit[] {
  if (value === undefined) return [];
  const fieldPath = [...path, key];
  if (value !== null)
    return [{ file, about, edit: { kind: "set", path: fieldPath, value: value as JsonValue } }];
  const isThere = valueAt(raw?.fields, fieldPath) !== undefined;
  return isThere ? [{ file, about, edit: { kind: "remove", path: fieldPath } }] : [];
}

function roleEdits(
  { role, fields }: Extract<EntryEdit, { readonly kind: "update-role" }>,
  files: MerchantFiles,
): readonly FileEdit[] {
  const { origin, adjusted } = role;
  const about = `role ${role.name}`;
  const raw = files.all.find(({ file }) => file === origin.file);
  const { permissions, ...rest } = fields;
  const otherEdits = Object.entries(rest).flatMap(([key, value]) =>
    setOrRemove(raw, origin, key, value, about),
  );
  const renamedAdjustment =
    adjusted !== undefined && fields.name !== undefined
      ? setOrRemove(files.main, adjusted, "name", fields.name, about)
      : [];
  if (permissions === undefined) return [...otherEdits, ...renamedAdjustment];
  const written = listOf(valueAt(raw?.fields, [...origin.path, "permissions"]));
  const adjustments = adjustEdits(role, written, permissions, files);
  if (adjusted !== undefined) return [...otherEdits, ...renamedAdjustment, ...adjustments];
  const value = permissions === null ? null : inOrderOf(written, permissions);
  const direct = setOrRemove(raw, origin, "permissions", value, about);
  return [
    ...otherEdits,
    ...direct.map((edit) => ({ ...edit, ...(adjustments.length > 0 && { instead: adjustments }) })),
  ];
}

/** Returns the edits with which a merchant's own file adjusts an included role to its live permissions. */
function adjustEdits(
  { name, origin, adjusted }: Extract<EntryEdit, { readonly kind: "update-role" }>["role"],
  shared: readonly unknown[],
  permissions: readonly string[] | null,
  { main }: MerchantFiles,
): readonly FileEdit[] {
  if (permissions === null || origin.file === main.file) return [];
  const add = permissions.filter((permission) => !shared.includes(permission));
  const remove = shared.filter(
    (permission): permission is string => !permissions.includes(String(permission)),
  );
  const about = `role ${name}`;
  if (add.length + remove.length === 0) {
    return adjusted === undefined
      ? []
      : [{ file: main.file, about, edit: { kind: "remove", path: adjusted.path } }];
  }
  const adjust = { ...(add.length > 0 && { add }), ...(remove.length > 0 && { remove }) };
  const edit: YamlEdit =
    adjusted === undefined
      ? { kind: "append", path: ["roles"], value: { name, adjust } }
      : { kind: "set", path: [...adjusted.path, "adjust"], value: adjust };
  return [{ file: main.file, about, edit }];
}

/** Returns the wanted texts: those already in the list, in its order, then the new ones. */
function inOrderOf(written: readonly unknown[], texts: readonly string[]): readonly string[] {
  const kept = written.filter((text): text is string => texts.includes(text as string));
  return [...kept, ...texts.filter((text) => !written.includes(text))];
}

function entriesOf(member: DesiredMember, { all: files }: MerchantFiles): readonly RawMember[] {
  const keys = new Set(addressesOfPerson(member));
  return files.flatMap(({ members }) => members.filter(({ address }) => keys.has(address ?? "")));
}

function memberEdits(
  { member, fields }: Extract<EntryEdit, { readonly kind: "update-member" }>,
  files: MerchantFiles,
): readonly FileEdit[] {
  const { email } = member;
  const entries = entriesOf(member, files);
  const ownEntries = entries.filter(({ file }) => !files.isShared(file));
  const edits: FileEdit[] = [];
  const change: ChangeEntry = ({ file, index }, path, value) => {
    const entryPath = ["members", index, ...path];
    const edit: YamlEdit =
      value === null
        ? { kind: "remove", path: entryPath }
        : { kind: "set", path: entryPath, value: value as JsonValue };
    edits.push({ file, about: email, edit });
  };
  changeFields(entries, fields, change);
  const fresh = {
    ...setOnce("id", fields.id, entries, ownEntries, change),
    ...setOnce("reinvite", fields.reinvite, entries, ownEntries, change),
    ...(fields.grants !== undefined &&
      grantEdits(withPreviousNames(fields.grants, files), entries, ownEntries, change)),
  };
  if (Object.keys(fresh).length === 0) return edits;
  return [...edits, append("members", { email: fields.email ?? email, ...fresh }, null, email, files)];
}

/** Changes a key of an entry; `null` removes it. */
type ChangeEntry = (entry: RawMember, path: Path, value: unknown) => void;

/** Sets the keys that entries have, each in every entry that has it. */
function changeFields(
  entries: readonly RawMember[],
  { id, reinvite, grants, ...updates }: MemberEntryUpdate,
  change: ChangeEntry,
): void {
  for (const [key, value] of Object.entries(updates)) {
    const path = isMemberField(key) ? entryPath(key) : [key];
    for (const entry of entries) if (valueAt(entry.fields, path) !== undefined) change(entry, path, value);
  }
}

/** Sets a key in the entries that have it, else in one of the merchant's own; returns it if there is none. */
function setOnce<Key extends "id" | "reinvite">(
  key: Key,
  value: MemberEntryUpdate[Key],
  entries: readonly RawMember[],
  ownEntries: readonly RawMember[],
  change: ChangeEntry,
): Partial<Record<Key, unknown>> {
  if (value === undefined) return {};
  const having = entries.filter(({ fields }) => Object.hasOwn(fields, key));
  const places = having.length > 0 || value === null ? having : ownEntries.slice(-1);
  for (const entry of places) change(entry, [key], value);
  return places.length === 0 && value !== null ? ({ [key]: value } as Partial<Record<Key, unknown>>) : {};
}

/** Changes the lists of roles; returns the new roles that no entry of the merchant's own can take. */
function grantEdits(
  grants: GrantUpdate,
  entries: readonly RawMember[],
  ownEntries: readonly RawMember[],
  change: ChangeEntry,
): { readonly roles?: readonly string[] } {
  const granting = entries.filter(({ fields }) => Object.hasOwn(fields, "roles"));
  const taker = ownEntries.findLast((entry) => granting.includes(entry)) ?? ownEntries.at(-1);
  for (const entry of granting) {
    const written = listOf(entry.fields["roles"]);
    const kept = keptGrants(written, grants);
    const newGrants = entry === taker ? [...kept, ...grants.add] : kept;
    if (newGrants.length === written.length && newGrants.every((item, index) => item === written[index]))
      continue;
    // An empty list in one file would contradict the roles in another.
    if (newGrants.length > 0 || granting.length === 1) change(entry, ["roles"], newGrants);
    else change(entry, Object.keys(entry.fields).length > 2 ? ["roles"] : [], null);
  }
  if (grants.add.length === 0 || (taker !== undefined && granting.includes(taker))) return {};
  if (taker === undefined) return { roles: grants.add };
  change(taker, ["roles"], grants.add);
  return {};
}

/** Adds the previous names of declared roles, by which a file may grant them, too. */
function withPreviousNames(grants: GrantUpdate, { all }: MerchantFiles): GrantUpdate {
  const renamed = [...renamedRoles(all.flatMap(({ roles }) => roles))];
  if (renamed.length === 0) return grants;
  const { remove, unend, begin, rename } = grants;
  const words = (names: readonly string[]): readonly string[] => [
    ...names,
    ...renamed.flatMap(([former, name]) => (names.includes(name) ? former : [])),
  ];
  const formerNames = renamed.flatMap(([former, name]) => {
    const word = rename.get(name);
    return word === undefined ? [] : [[former, word] as const];
  });
  return {
    ...grants,
    remove: words(remove),
    unend: words(unend),
    begin: words(begin),
    rename: new Map([...rename, ...formerNames]),
  };
}

function keptGrants(
  written: readonly unknown[],
  { remove, unend, begin, rename }: GrantUpdate,
): readonly unknown[] {
  const seen = new Set<string>();
  return written.flatMap((item) => {
    const word = textOf(item) ?? textOf(fieldsOf(item)["role"]);
    if (word === null || remove.includes(word)) return [];
    const name = rename.get(word) ?? word;
    if (seen.has(name)) return [];
    seen.add(name);
    if (kindOf(item) === "text") return [name === item ? item : name];
    const [isUnended, isBegun] = [unend.includes(word), begin.includes(word)];
    if (name === word && !isUnended && !isBegun) return [item];
    return [withDates({ ...fieldsOf(item), role: name }, isUnended, isBegun)];
  });
}

/** Returns a grant without its end, or without its beginning; the name alone if it has no dates then. */
function withDates(
  { from, until, ...grant }: Readonly<Record<string, unknown>>,
  isUnended: boolean,
  isBegun: boolean,
): unknown {
  const kept = {
    ...grant,
    ...(from !== undefined && !isBegun && { from }),
    ...(until !== undefined && !isUnended && { until }),
  };
  return (isUnended || isBegun) && Object.keys(kept).length === 1 ? grant["role"] : kept;
}
