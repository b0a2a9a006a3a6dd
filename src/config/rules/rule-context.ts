import { type Access, openAccess } from "../access.ts";
import type { Site } from "../diagnostics/problem.ts";
import { type Draft, type DraftMember, type DraftRole, siteOf } from "../raw-file.ts";
import { fieldsOf, joinLists, listOf } from "../values.ts";

/** Every file of one merchant as the rules look at them together, whatever can be read of each. */
export interface MerchantView {
  /** The merchant's own file; the others may be shared with merchants of other roles and members. */
  readonly main: string;
  readonly drafts: readonly Draft[];
  readonly roles: readonly DraftRole[];
  readonly members: readonly DraftMember[];
  /** Whether no role can exist but those that are read here: managed, authoritative, each with a name. */
  readonly rolesComplete: boolean;
  /** The same of members, each with an address. */
  readonly membersComplete: boolean;
  readonly now: number;
  /** The addresses that stand there more than once, in whichever files. */
  readonly twice: ReadonlySet<string>;
  /** The names and ids by which members are given roles. */
  readonly granted: ReadonlySet<string>;
  /** Who holds what, worked out when it is first asked for. */
  readonly access: () => Access;
}

/** What a view is made from. */
export interface MerchantDrafts {
  readonly main: string;
  readonly drafts: readonly Draft[];
  /** Whether every file could be read. */
  readonly complete: boolean;
  readonly now: number;
}

/** Looks at the files of one merchant together. */
export function viewMerchant({ main, drafts, complete, now }: MerchantDrafts): MerchantView {
  const roles = joinLists(drafts.map((draft) => draft.roles));
  const members = joinLists(drafts.map((draft) => draft.members));
  let access: Access | undefined;
  return {
    main,
    drafts,
    roles,
    members,
    rolesComplete: complete && isWhole("roles", drafts) && roles.every(({ name }) => name !== null),
    membersComplete: complete && isWhole("members", drafts) && members.every(({ email }) => email !== null),
    now,
    twice: addressesTwice(members),
    granted: grantedBy(members),
    access: () => {
      access ??= openAccess({ roles, members, main }, now);
      return access;
    },
  };
}

function addressesTwice(members: readonly DraftMember[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const twice = new Set<string>();
  for (const { address } of members) {
    if (address !== null) {
      if (seen.has(address)) twice.add(address);
      seen.add(address);
    }
  }
  return twice;
}

function grantedBy(members: readonly DraftMember[]): ReadonlySet<string> {
  const granted = new Set<string>();
  for (const { grants } of members) {
    for (const { role } of grants) {
      granted.add(role);
    }
  }
  return granted;
}

/** Whether a section is managed here, readable, and all that there will be. */
function isWhole(section: "roles" | "members", drafts: readonly Draft[]): boolean {
  const sections = drafts.flatMap(({ fields }) => (Object.hasOwn(fields, section) ? [fields[section]] : []));
  const modes = drafts.flatMap(({ fields }) => fieldsOf(fields["sync"])[section] ?? []);
  return (
    sections.length > 0 &&
    sections.every((value) => Array.isArray(value)) &&
    modes.every((mode) => mode === "authoritative")
  );
}

/** The values of a list below two keys, in all files, each with its place. */
export function entriesAt(
  { drafts }: MerchantView,
  section: string,
  key: string,
): readonly { readonly value: unknown; readonly site: Site }[] {
  return drafts.flatMap(({ file, fields }) =>
    listOf(fieldsOf(fields[section])[key]).map((value, index) => ({
      value,
      site: siteOf(file, [section, key, index]),
    })),
  );
}

/** The pairs of a mapping below two keys, in all files, each with its place. */
export function pairsAt(
  { drafts }: MerchantView,
  section: string,
  key: string,
): readonly { readonly name: string; readonly value: unknown; readonly site: Site }[] {
  return drafts.flatMap(({ file, fields }) =>
    Object.entries(fieldsOf(fieldsOf(fields[section])[key])).map(([name, value]) => ({
      name,
      value,
      site: siteOf(file, [section, key, name]),
    })),
  );
}
