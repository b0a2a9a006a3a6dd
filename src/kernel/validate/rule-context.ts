import type { FileLocation } from "../problems/problem.ts";
import { namesInFile } from "../rules/settings/every-setting.ts";
import type { SettingName } from "../rules/settings/setting-kinds.ts";
import {
  currentAddresses,
  locationOf,
  type RawAdjustment,
  type RawFile,
  type RawLeaver,
  type RawMember,
  type RawRole,
  renamedRoles,
} from "../schema/raw-file.ts";
import { fieldsOf, listOf, repeats } from "../values/values.ts";

/** The files of one merchant as the rules see them, as far as each is readable. */
export interface RuleContext {
  /** The merchant's own file; the others may be shared with merchants of other roles and members. */
  readonly main: string;
  readonly rawFiles: readonly RawFile[];
  readonly roles: readonly RawRole[];
  /** The current names of roles by their previous names. */
  readonly renamed: ReadonlyMap<string, string>;
  readonly adjustments: readonly RawAdjustment[];
  /** Each under its current address, also where a file uses a previous one. */
  readonly members: readonly RawMember[];
  /** Those of enforced rules, too. */
  readonly leavers: readonly RawLeaver[];
  /** The patterns of `ignore`, and those of enforced rules. */
  readonly ignored: Readonly<Record<"roles" | "members", readonly Pattern[]>>;
  /** The names in policies, guards and checks. */
  readonly names: readonly LocatedName[];
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

/** An entry of `ignore`, which may be no text. */
interface Pattern {
  readonly value: unknown;
  readonly location: FileLocation;
}

/** A name or a pattern in a setting. */
export interface LocatedName {
  readonly what: SettingName["what"];
  readonly text: string;
  readonly location: FileLocation;
}

/** The input of a rule context. */
interface RuleContextInput {
  readonly main: string;
  readonly rawFiles: readonly RawFile[];
  /** The files with enforced rules: only their `sync`, `ignore` and `leavers` count. Absent: none. */
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
  const roles = rawFiles.flatMap((raw) => raw.roles);
  const members = underCurrentAddresses(rawFiles.flatMap((raw) => raw.members));
  return {
    main,
    rawFiles,
    roles,
    renamed: renamedRoles(roles),
    adjustments: rawFiles.flatMap((raw) => raw.adjustments),
    members,
    leavers: allFiles.flatMap((raw) => raw.leavers),
    ignored: { roles: patternsOf("roles", allFiles), members: patternsOf("members", allFiles) },
    names: namesIn(rawFiles),
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

function patternsOf(key: "roles" | "members", files: readonly RawFile[]): readonly Pattern[] {
  return files.flatMap(({ file, fields }) =>
    listOf(fieldsOf(fields["ignore"])[key]).map((value, index) => ({
      value,
      location: locationOf(file, ["ignore", key, index]),
    })),
  );
}

/** Returns the names in policies, guards and checks of files, with their locations. */
export function namesIn(files: readonly RawFile[]): readonly LocatedName[] {
  return files.flatMap(({ file, fields }) =>
    namesInFile(fields).map(({ what, text, path, at }) => ({ what, text, location: { at, file, path } })),
  );
}
