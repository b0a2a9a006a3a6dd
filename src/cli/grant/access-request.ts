import type { YamlEdit } from "../../edit/yaml/edit-yaml.ts";
import { isMention } from "../../kernel/diff/active-member.ts";
import type { GlobMatch } from "../../kernel/diff/scope.ts";
import { type RawFile, type RawMember, rolesByOtherNames } from "../../kernel/schema/raw-file.ts";
import { addressesOfPerson, entriesByAddress } from "../../kernel/values/person.ts";
import { oneLine } from "../../lib/escape.ts";
import { suggest } from "../../lib/suggest.ts";
import { listText } from "../../lib/text.ts";
import type { DesiredMember, DesiredState, From, Origin, Until } from "../../model/desired.ts";
import { RolecallError } from "../../model/errors.ts";
import { isLikeRoleId, predefinedRole } from "../../model/live.ts";

/** A change of one person's access. */
export interface AccessRequest {
  readonly kind: "grant" | "revoke";
  readonly email: string;
  /** Roles by name or id; for a revocation, none stands for the whole membership. */
  readonly roles: readonly string[];
  readonly from?: From;
  readonly until?: Until;
  readonly reason?: string;
  /** The file to change; absent: the one that follows from the files. */
  readonly file?: string;
}

/** A merchant at which access is changed, with its files. */
export interface MerchantAccess {
  readonly state: DesiredState;
  /** The included files, then the merchant's own. */
  readonly files: readonly RawFile[];
  /** Returns the merchants that a file reaches, besides those of the request. */
  readonly othersOf: (file: string) => readonly string[];
  /** Names the line of an entry. */
  readonly placeOf: (origin: Origin) => string;
  /** The file for new grants, as the user chose it; absent: the one that follows from the files. */
  readonly chosen?: string;
  readonly matches: GlobMatch;
  /** In ms since the epoch. */
  readonly now: number;
}

/** An edit of a file; `above` is the entry of a member that the reason is written above. */
export interface AccessEdit {
  readonly file: string;
  readonly edit: YamlEdit;
  readonly above?: number;
}

/** A role that a request gives or takes, by its current name or id, with the dates of the grant that results. */
export interface ChangedRole {
  readonly role: string;
  readonly from?: From | undefined;
  readonly until?: Until | undefined;
}

/** The edits that carry out a request at a merchant. */
export interface AccessEdits {
  readonly edits: readonly AccessEdit[];
  /** Sentences about what is already in place, and what limits the effect. */
  readonly notes: readonly string[];
  readonly roles: readonly ChangedRole[];
  /** The files that a new entry could go to, the merchant's own first; empty if there is no choice. */
  readonly choices: readonly string[];
}

/** A person as a merchant's files list them. */
export interface ListedPerson {
  readonly email: string;
  /** All addresses, in lower case. */
  readonly addresses: readonly string[];
  /** The combined entry of all files; `null` if none lists the address. */
  readonly listed: DesiredMember | null;
  /** True if a file grants a membership, rather than only limiting one. */
  readonly isMember: boolean;
  readonly entries: readonly RawMember[];
}

/** Returns how a merchant's files list a person by any address, and the address that gets what is granted. */
export function listedAs(
  { email }: AccessRequest,
  { members }: DesiredState,
): { readonly email: string; readonly listed: DesiredMember | null } {
  const listed = entriesByAddress(members).get(email.toLowerCase()) ?? null;
  return { email: listed?.email ?? email, listed };
}

/** Finds a person in a merchant's files, by any address. */
export function findPerson(request: AccessRequest, { state, files }: MerchantAccess): ListedPerson {
  const { email, listed } = listedAs(request, state);
  const addresses = listed === null ? [email.toLowerCase()] : addressesOfPerson(listed);
  return {
    email,
    addresses,
    listed,
    isMember: listed !== null && !isMention(listed, state.origin.file),
    entries: files.flatMap(({ members }) =>
      members.filter(({ address }) => address !== null && addresses.includes(address)),
    ),
  };
}

/** Returns a function that gives the current name of a role, or the id of a predefined one, by any of its names. */
export function openCurrentRoles({ roles = [] }: DesiredState): (role: string) => string {
  const otherNames = rolesByOtherNames(
    roles.map(({ name, id = null, previously }) => ({ name, id, previously })),
  );
  return (role) => otherNames.get(role) ?? role;
}

/** Throws RolecallError for a role that no file declares, if the merchant can have no others. */
export function checkRolesExist(
  roles: readonly string[],
  { merchant, roles: declared, sync }: DesiredState,
): void {
  if (declared === undefined || sync.roles === "additive") return;
  const names = declared.map(({ name }) => name);
  const unknown = roles.find((role) => !names.includes(role) && !isLikeRoleId(role));
  if (unknown === undefined) return;
  const near = suggest(unknown, names) ?? predefinedRole(unknown);
  const some = names.length === 0 ? "" : ` Its roles are ${namesOf(names)}.`;
  throw new RolecallError("usage", `${merchant} has no role "${oneLine(unknown)}".`, {
    hint: near === null ? `Check its name.${some}` : `Did you mean "${oneLine(near)}"?`,
  });
}

const MAX_NAMED = 8;

function namesOf(names: readonly string[]): string {
  const more = names.length - MAX_NAMED;
  return `${names.slice(0, MAX_NAMED).map(oneLine).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

/**
 * Throws RolecallError if an edit of a file would change other merchants too, and the request does not name the file.
 * `what` describes the entry, as in "ada@example.com has Lead at MC1".
 */
export function checkReach(
  what: string,
  { file, index }: Pick<RawMember, "file" | "index">,
  request: AccessRequest,
  { othersOf, placeOf }: MerchantAccess,
): void {
  const others = othersOf(file);
  if (others.length === 0 || request.file === file) return;
  const place = placeOf({ file, path: ["members", index] });
  throw new RolecallError("usage", `${what} through ${place}, which also applies to ${namesOf(others)}.`, {
    hint: `To change it at all of them, add --file ${oneLine(file)}.`,
  });
}

/** Throws RolecallError if the request names a file that is none of the merchant's. */
export function checkFile({ file }: AccessRequest, { state, files }: MerchantAccess): void {
  if (file === undefined || files.some((raw) => raw.file === file)) return;
  throw new RolecallError("usage", `${oneLine(file)} is not a file of ${state.merchant}.`, {
    hint: `Its files are ${listText(files.map((raw) => oneLine(raw.file)).reverse())}.`,
  });
}

/** Returns an error that says why files cannot express a request, and what to do. */
export function cannotExpress(message: string, hint: string): RolecallError {
  return new RolecallError("usage", message, { hint });
}
