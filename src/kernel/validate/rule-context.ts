import type { FileLocation } from "../problems/problem.ts";
import {
  currentAddresses,
  locationOf,
  type RawAdjustment,
  type RawFile,
  type RawLeaver,
  type RawMember,
  type RawRole,
} from "../schema/raw-file.ts";
import { fieldsOf, joinLists, listOf, repeats } from "../values/values.ts";

/** The files of one merchant as the rules see them, as far as each is readable. */
export interface RuleContext {
  /** The merchant's own file; the others may be shared with merchants of other roles and members. */
  readonly main: string;
  readonly rawFiles: readonly RawFile[];
  /** The files with enforced rules: only their `sync`, `ignore` and `leavers` count. */
  readonly enforced: readonly RawFile[];
  readonly roles: readonly RawRole[];
  readonly adjustments: readonly RawAdjustment[];
  /** Each under its current address, also where a file uses a previous one. */
  readonly members: readonly RawMember[];
  readonly leavers: readonly RawLeaver[];
  /** True if every file could be read. */
  readonly complete: boolean;
  /** True if no other role can exist: the section is managed and authoritative, and every role has a name. */
  readonly rolesComplete: boolean;
  /** True if no other member can exist, and every one has an address. */
  readonly membersComplete: boolean;
  readonly now: number;
  /** The addresses that occur more than once, across files. */
  readonly duplicateAddresses: ReadonlySet<string>;
  /** The names and ids of roles that members are granted. */
  readonly referencedRoles: ReadonlySet<string>;
}

/** The input of a rule context. */
export interface RuleContextInput {
  readonly main: string;
  readonly rawFiles: readonly RawFile[];
  /** Absent: none. */
  readonly enforced?: readonly RawFile[];
  /** True if every file could be read. */
  readonly complete: boolean;
  readonly now: number;
}

/** Creates the context that the rules of one merchant share. */
export function createRuleContext({
  main,
  rawFiles,
  enforced = [],
  complete,
  now,
}: RuleContextInput): RuleContext {
  const allFiles = [...rawFiles, ...enforced];
  const roles = joinLists(rawFiles.map((raw) => raw.roles));
  const members = underCurrentAddresses(joinLists(rawFiles.map((raw) => raw.members)));
  return {
    main,
    rawFiles,
    enforced,
    roles,
    adjustments: rawFiles.flatMap((raw) => raw.adjustments),
    members,
    leavers: allFiles.flatMap((raw) => raw.leavers),
    complete,
    rolesComplete:
      complete && isWhole("roles", rawFiles, allFiles) && roles.every(({ name }) => name !== null),
    membersComplete:
      complete && isWhole("members", rawFiles, allFiles) && members.every(({ email }) => email !== null),
    now,
    duplicateAddresses: new Set(repeats(members, ({ address }) => address).map(({ text }) => text)),
    referencedRoles: new Set(members.flatMap(({ grants }) => grants.map(({ role }) => role))),
  };
}

function underCurrentAddresses(members: readonly RawMember[]): readonly RawMember[] {
  const renamed = currentAddresses(members);
  if (renamed.size === 0) return members;
  return members.map((member) => {
    const address = renamed.get(member.address ?? "");
    return address === undefined ? member : { ...member, address };
  });
}

/** Returns true if a section is managed, readable and authoritative. */
function isWhole(
  section: "roles" | "members",
  rawFiles: readonly RawFile[],
  files: readonly RawFile[],
): boolean {
  const sections = rawFiles.flatMap(({ fields }) =>
    Object.hasOwn(fields, section) ? [fields[section]] : [],
  );
  const modes = files.flatMap(({ fields }) => fieldsOf(fields["sync"])[section] ?? []);
  return (
    sections.length > 0 &&
    sections.every((value) => Array.isArray(value)) &&
    modes.every((mode) => mode === "authoritative")
  );
}

/** Returns the entries of a list below two keys, in all files, with their locations. */
export function entriesAt(
  { rawFiles }: Pick<RuleContext, "rawFiles">,
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

/** Returns the patterns of `ignore` in all files, with those of enforced rules. */
export function ignoredAt(
  { rawFiles, enforced }: RuleContext,
  key: "roles" | "members",
): ReturnType<typeof entriesAt> {
  return entriesAt({ rawFiles: [...rawFiles, ...enforced] }, "ignore", key);
}
