import { isPast } from "../../kernel/diff/active-member.ts";
import type { RawMember } from "../../kernel/schema/raw-file.ts";
import { unique } from "../../kernel/values/values.ts";
import { oneLine } from "../../lib/escape.ts";
import { suggest } from "../../lib/suggest.ts";
import {
  type AccessEdit,
  type AccessEdits,
  type AccessRequest,
  cannotExpress,
  checkFile,
  checkReach,
  checkRolesExist,
  findPerson,
  type ListedPerson,
  type MerchantAccess,
  openCurrentRoles,
} from "./access-request.ts";

/** Returns the edits that take roles, or the membership, from a person; throws RolecallError if the files cannot express it. */
export function revokeEdits(request: AccessRequest, merchant: MerchantAccess): AccessEdits {
  const { state, now } = merchant;
  checkFile(request, merchant);
  const person = findPerson(request, merchant);
  const { listed, isMember } = person;
  const where = `${oneLine(person.email)} at ${state.merchant}`;
  if (listed === null || !isMember) throw unlisted(request, merchant);
  const currentRole = openCurrentRoles(state);
  const roles = [...new Set(request.roles.map(currentRole))];
  const currentGrants = (listed.roles ?? []).filter(({ until }) => !isPast(until, now));
  const current = unique(currentGrants.map(({ role }) => currentRole(role)));
  checkRolesExist(
    roles.filter((role) => !current.includes(role)),
    state,
  );
  if (roles.length === 0) return withoutMembership(current, request, person, merchant);
  if (listed.roles === undefined) {
    throw cannotExpress(
      `The entry of ${where} lists no roles, so the live ones are not managed.`,
      `List those that stay, at ${merchant.placeOf(listed.origin)}.`,
    );
  }
  const notes = roles.flatMap((role) =>
    current.includes(role) ? [] : [`${where} does not have ${oneLine(role)}.`],
  );
  const revoked = roles.filter((role) => current.includes(role));
  if (revoked.length === 0) return { edits: [], notes, roles: [], choices: [] };
  if (current.every((role) => revoked.includes(role))) {
    const whole = withoutMembership(revoked, request, person, merchant);
    return { ...whole, notes: [...notes, ...whole.notes] };
  }
  const edits = person.entries.flatMap((entry): readonly AccessEdit[] => {
    const { file, index, grants, fields } = entry;
    const removed = grants.filter(({ role }) => revoked.includes(currentRole(role)));
    const [first] = removed;
    if (first === undefined) return [];
    const what = `${where} has ${oneLine(currentRole(first.role))}`;
    checkChosen(what, entry, request, merchant);
    checkReach(what, entry, request, merchant);
    const path = ["members", index];
    if (removed.length < grants.length) {
      return removed.map((grant) => ({
        file,
        edit: { kind: "remove", path: [...path, "roles", grant.index] },
      }));
    }
    // An empty list would contradict the roles in another file.
    const isOnlyRoles = Object.keys(fields).length === 2;
    return [{ file, edit: { kind: "remove", path: isOnlyRoles ? path : [...path, "roles"] } }];
  });
  return { edits, notes, roles: revoked.map((role) => ({ role })), choices: [] };
}

/** Removes a person's entries or, if the files leave unlisted members alone, all roles. */
function withoutMembership(
  roles: readonly string[],
  request: AccessRequest,
  { email, entries }: ListedPerson,
  merchant: MerchantAccess,
): AccessEdits {
  const { state } = merchant;
  const where = `${oneLine(email)} at ${state.merchant}`;
  const revoked = roles.map((role) => ({ role }));
  const isGiving = ({ file, fields }: RawMember): boolean =>
    file === state.origin.file || "roles" in fields || "managed" in fields;
  const giving = entries.filter(isGiving);
  for (const entry of giving) {
    checkChosen(`${where} is a member`, entry, request, merchant);
    checkReach(`${where} is a member`, entry, request, merchant);
  }
  const remove = ({ file, index }: RawMember): AccessEdit => ({
    file,
    edit: { kind: "remove", path: ["members", index] },
  });
  const last = giving.at(-1);
  if (state.sync.members === "authoritative" || last === undefined) {
    return {
      edits: giving.map(remove),
      notes:
        roles.length > 0 && request.roles.length > 0
          ? [`${where} is left without roles, and is removed.`]
          : [],
      roles: revoked,
      choices: [],
    };
  }
  // A merchant with another entry must not remove the one that belongs to others.
  const emptied = giving.filter((entry) =>
    "roles" in entry.fields ? entry.grants.length > 0 : entry === last,
  );
  return {
    edits: emptied.map(({ file, index }) => ({
      file,
      edit: { kind: "set", path: ["members", index, "roles"], value: [] },
    })),
    notes: [
      `${where} stays a member, without roles: the files leave unlisted members alone. An entry under "leavers" ends the membership.`,
    ],
    roles: revoked,
    choices: [],
  };
}

/** Throws RolecallError if an entry that has to change is in another file than the one that the request names. */
function checkChosen(
  what: string,
  { file, index }: RawMember,
  request: AccessRequest,
  { placeOf }: MerchantAccess,
): void {
  if (request.file === undefined || request.file === file) return;
  throw cannotExpress(
    `${what} through ${placeOf({ file, path: ["members", index] })}.`,
    "Omit --file to change it there too.",
  );
}

function unlisted({ email }: AccessRequest, { state }: MerchantAccess): Error {
  const { merchant, members = [], sync } = state;
  const near = suggest(
    email,
    members.flatMap((member) => [member.email, ...(member.previously ?? [])]),
  );
  const stays = sync.members === "additive" || state.members === undefined;
  return cannotExpress(
    `The files of ${merchant} do not list ${oneLine(email)} as a member.`,
    near !== null
      ? `Did you mean ${oneLine(near)}?`
      : stays
        ? 'They leave unlisted members alone: an entry under "leavers" ends a membership.'
        : "A plan removes a member whom they do not list.",
  );
}
