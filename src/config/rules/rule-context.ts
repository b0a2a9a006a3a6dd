import { type Access, openAccess } from "../access.ts";
import type { FileLocation } from "../diagnostics/problem.ts";
import { locationOf, type RawFile, type RawMember, type RawRole } from "../raw-file.ts";
import { fieldsOf, joinLists, listOf } from "../values.ts";

/** Every file of one merchant as the rules look at them together, whatever can be read of each. */
export interface RuleContext {
  /** The merchant's own file; the others may be shared with merchants of other roles and members. */
  readonly main: string;
  readonly rawFiles: readonly RawFile[];
  readonly roles: readonly RawRole[];
  readonly members: readonly RawMember[];
  /** Whether no role can exist but those that are read here: managed, authoritative, each with a name. */
  readonly rolesComplete: boolean;
  /** The same of members, each with an address. */
  readonly membersComplete: boolean;
  readonly now: number;
  /** The addresses that stand there more than once, in whichever files. */
  readonly duplicateAddresses: ReadonlySet<string>;
  /** The names and ids by which members are given roles. */
  readonly referencedRoles: ReadonlySet<string>;
  /** Who holds what, worked out when it is first asked for. */
  readonly access: () => Access;
}

/** What a view is made from. */
export interface RuleContextInput {
  readonly main: string;
  readonly rawFiles: readonly RawFile[];
  /** Whether every file could be read. */
  readonly complete: boolean;
  readonly now: number;
}

/** Looks at the files of one merchant together. */
export function createRuleContext({ main, rawFiles, complete, now }: RuleContextInput): RuleContext {
  const roles = joinLists(rawFiles.map((raw) => raw.roles));
  const members = joinLists(rawFiles.map((raw) => raw.members));
  let access: Access | undefined;
  return {
    main,
    rawFiles,
    roles,
    members,
    rolesComplete: complete && isWhole("roles", rawFiles) && roles.every(({ name }) => name !== null),
    membersComplete: complete && isWhole("members", rawFiles) && members.every(({ email }) => email !== null),
    now,
    duplicateAddresses: addressesTwice(members),
    referencedRoles: grantedBy(members),
    access: () => {
      access ??= openAccess({ roles, members, main }, now);
      return access;
    },
  };
}

function addressesTwice(members: readonly RawMember[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const duplicateAddresses = new Set<string>();
  for (const { address } of members) {
    if (address !== null) {
      if (seen.has(address)) duplicateAddresses.add(address);
      seen.add(address);
    }
  }
  return duplicateAddresses;
}

function grantedBy(members: readonly RawMember[]): ReadonlySet<string> {
  const referencedRoles = new Set<string>();
  for (const { grants } of members) {
    for (const { role } of grants) {
      referencedRoles.add(role);
    }
  }
  return referencedRoles;
}

/** Whether a section is managed here, readable, and all that there will be. */
function isWhole(section: "roles" | "members", rawFiles: readonly RawFile[]): boolean {
  const sections = rawFiles.flatMap(({ fields }) =>
    Object.hasOwn(fields, section) ? [fields[section]] : [],
  );
  const modes = rawFiles.flatMap(({ fields }) => fieldsOf(fields["sync"])[section] ?? []);
  return (
    sections.length > 0 &&
    sections.every((value) => Array.isArray(value)) &&
    modes.every((mode) => mode === "authoritative")
  );
}

/** The values of a list below two keys, in all files, each with its place. */
export function entriesAt(
  { rawFiles }: RuleContext,
  section: string,
  key: string,
): readonly { readonly value: unknown; readonly location: FileLocation }[] {
  return rawFiles.flatMap(({ file, fields }) =>
    listOf(fieldsOf(fields[section])[key]).map((value, index) => ({
      value,
      location: locationOf(file, [section, key, index]),
    })),
  );
}

/** The pairs of a mapping below two keys, in all files, each with its place. */
export function pairsAt(
  { rawFiles }: RuleContext,
  section: string,
  key: string,
): readonly { readonly name: string; readonly value: unknown; readonly location: FileLocation }[] {
  return rawFiles.flatMap(({ file, fields }) =>
    Object.entries(fieldsOf(fieldsOf(fields[section])[key])).map(([name, value]) => ({
      name,
      value,
      location: locationOf(file, [section, key, name]),
    })),
  );
}
