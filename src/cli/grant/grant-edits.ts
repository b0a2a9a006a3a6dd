import { isPast, isSuspended } from "../../kernel/diff/active-member.ts";
import { matchesAny } from "../../kernel/diff/scope.ts";
import type { RawMember } from "../../kernel/schema/raw-file.ts";
import { oneLine } from "../../lib/escape.ts";
import type { DesiredMember, From, Grant, Until } from "../../model/desired.ts";
import type { JsonValue } from "../../model/json.ts";
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

/** Returns the edits that give a person roles; throws RolecallError if the files cannot express it. */
export function grantEdits(request: AccessRequest, merchant: MerchantAccess): AccessEdits {
  const { state, now } = merchant;
  checkFile(request, merchant);
  const person = findPerson(request, merchant);
  const currentRole = openCurrentRoles(state);
  const roles = [...new Set(request.roles.map(currentRole))];
  checkRolesExist(roles, state);
  checkManaged(person, merchant);
  const { listed, isMember } = person;
  const where = `${oneLine(person.email)} at ${state.merchant}`;
  if (listed === null) return addedTo(null, roles, request, person, merchant);
  if (isPast(listed.until, now)) return renewedMembership(roles, request, person, merchant);
  checkMembershipDates(request, listed, merchant);
  if (isMember && listed.roles === undefined) {
    throw cannotExpress(
      `The entry of ${where} lists no roles, so the live ones are not managed.`,
      `List them first, at ${merchant.placeOf(listed.origin)}: once there is one, a plan removes those that are not listed.`,
    );
  }
  const extended = roles.map((role) => [role, extendedGrant(role, request, person, merchant)] as const);
  const fresh = extended.flatMap(([role, result]) => (result === null ? role : []));
  const added = fresh.length === 0 ? NOTHING : addedTo(listed, fresh, request, person, merchant);
  return {
    ...added,
    edits: [...extended.flatMap(([, result]) => result?.edits ?? []), ...added.edits],
    notes: [...extended.flatMap(([, result]) => result?.notes ?? []), ...added.notes],
    roles: extended.flatMap(([role, result]) => {
      if (result?.edits.length === 0) return [];
      const { from, until } = result ?? request;
      return { role, from, until };
    }),
  };
}

/** Returns the edits that extend a listed grant, none if it covers the requested one; `null` if the role is not listed. */
function extendedGrant(
  role: string,
  request: AccessRequest,
  { email, listed, entries }: ListedPerson,
  merchant: MerchantAccess,
): (Pick<AccessEdits, "edits" | "notes"> & Period) | null {
  const { state, now, placeOf } = merchant;
  const currentRole = openCurrentRoles(state);
  const held = (listed?.roles ?? []).filter((grant) => currentRole(grant.role) === role);
  const [first] = held;
  if (first === undefined) return null;
  const what = `${oneLine(email)} at ${state.merchant} has ${oneLine(role)}${datesText(first)}`;
  const current = held.filter(({ until }) => !isPast(until, now));
  const places = entries.flatMap((entry) =>
    entry.grants.filter((grant) => currentRole(grant.role) === role).map((grant) => ({ entry, grant })),
  );
  const elsewhere = places.find(({ entry }) => request.file !== undefined && entry.file !== request.file);
  if (elsewhere !== undefined) {
    const { entry, grant } = elsewhere;
    const place = placeOf({ file: entry.file, path: ["members", entry.index, "roles", grant.index] });
    throw cannotExpress(`${what} through ${place}.`, "Omit --file to change it there, or omit the role.");
  }
  const dates = current.reduce<Period | "held" | null>(
    (period, grant) => (period === null || period === "held" ? period : joinedPeriods(period, grant, now)),
    request,
  );
  if (dates === "held") return { edits: [], notes: [`${what} already.`] };
  const edits = places.map(({ entry, grant }): AccessEdit => {
    const { file, index } = entry;
    const path = ["members", index, "roles", grant.index];
    if (dates === null) {
      throw cannotExpress(
        `${what}, but an entry can have only one period for each role.`,
        `Choose dates that continue it, or first change it, at ${placeOf({ file, path })}.`,
      );
    }
    checkReach(what, entry, request, merchant);
    return { file, edit: { kind: "set", path, value: grantValue(role, dates) }, above: index };
  });
  return { ...dates, edits, notes: [] };
}

const NOTHING: AccessEdits = { edits: [], notes: [], roles: [], choices: [] };

/** Throws RolecallError if no plan would give the person a role, whatever a file grants. */
function checkManaged(
  { email, addresses, listed }: ListedPerson,
  { state, matches, now, placeOf }: MerchantAccess,
): void {
  const { merchant, members, sync, ignore, leavers = [] } = state;
  if (members === undefined && sync.members === "authoritative") {
    throw cannotExpress(
      `The files of ${merchant} do not manage members.`,
      "With a first entry, a plan would remove everybody who is not listed. List the members first.",
    );
  }
  const names = [...addresses, ...(listed?.id === undefined ? [] : [listed.id])];
  if (matchesAny(ignore.members, names, matches)) {
    throw cannotExpress(
      `${oneLine(email)} at ${merchant} is ignored, so no plan changes anything.`,
      'First change the pattern under "ignore".',
    );
  }
  const leaver = leavers.find((one) => addresses.includes(one.email.toLowerCase()));
  if (leaver === undefined || leaver.from.starts > now) return;
  throw cannotExpress(
    `${oneLine(email)} has left ${merchant}, so a grant has no effect.`,
    `First remove the entry under "leavers", at ${placeOf(leaver.origin)}.`,
  );
}

/** Throws RolecallError if dates of a request are outside those of the membership. */
function checkMembershipDates(
  { from, until }: AccessRequest,
  { email, from: begin, until: end, origin, setAt }: DesiredMember,
  { state, placeOf }: MerchantAccess,
): void {
  const what = `The membership of ${oneLine(email)} at ${state.merchant}`;
  const last = Math.max(until?.ends ?? 0, from === undefined ? 0 : from.starts + 1);
  if (end !== undefined && last > end.ends) {
    throw cannotExpress(
      `${what} ends on ${end.text}, before the grant would.`,
      `Choose other dates, or first change the end of the membership, at ${placeOf(setAt?.until ?? origin)}.`,
    );
  }
  const first = Math.min(
    from?.starts ?? Number.POSITIVE_INFINITY,
    until === undefined ? Number.POSITIVE_INFINITY : until.ends - 1,
  );
  if (begin !== undefined && first < begin.starts) {
    throw cannotExpress(
      `${what} begins on ${begin.text}, after the grant would.`,
      `Choose other dates, or first change the beginning of the membership, at ${placeOf(origin)}.`,
    );
  }
}

/** Adds roles to the person's entry in the file that it goes to, or a new entry. */
function addedTo(
  listed: DesiredMember | null,
  roles: readonly string[],
  request: AccessRequest,
  person: ListedPerson,
  merchant: MerchantAccess,
): AccessEdits {
  const [target = merchant.state.origin.file, ...others] = targetsOf(request, person, merchant);
  const choices = others.length === 0 ? [] : [target, ...others];
  const values = roles.map((role) => grantValue(role, request));
  const granted = roles.map((role) => ({ role, from: request.from, until: request.until }));
  const notes = listed === null ? [] : limitsOf(request, listed, merchant);
  const entry = person.entries.find(({ file }) => file === target);
  if (entry === undefined) {
    const { reason } = request;
    const value = { email: person.email, roles: values };
    const edit = {
      kind: "append",
      path: ["members"],
      value,
      ...(reason !== undefined && { comment: reason }),
    } as const;
    return { edits: [{ file: target, edit }], notes, roles: granted, choices };
  }
  const edits = values.map((value): AccessEdit => {
    const edit = { kind: "append", path: ["members", entry.index, "roles"], value } as const;
    return { file: target, edit, above: entry.index };
  });
  return { edits, notes, roles: granted, choices };
}

/** Returns the files that a grant can go to, the best one first. */
function targetsOf(
  { file }: AccessRequest,
  { entries }: ListedPerson,
  { files, othersOf, chosen = file }: MerchantAccess,
): readonly string[] {
  if (chosen !== undefined) return [chosen];
  const ownFiles = files.filter((raw) => othersOf(raw.file).length === 0).reverse();
  const isOwn = (entry: RawMember): boolean => ownFiles.some((raw) => raw.file === entry.file);
  const ownEntry = entries.findLast((entry) => isOwn(entry) && Object.hasOwn(entry.fields, "roles"));
  if (ownEntry !== undefined) return [ownEntry.file];
  const [main] = ownFiles;
  const own = ownFiles.find((raw) => Object.hasOwn(raw.fields, "members")) ?? main;
  const granting = entries.filter((entry) => !isOwn(entry) && Object.hasOwn(entry.fields, "roles"));
  const listing = files.filter((raw) => Object.hasOwn(raw.fields, "members"));
  // If only shared files list members, the merchant's own file may be meant to have none.
  const shared = listing.some((raw) => ownFiles.includes(raw)) ? granting : listing;
  return [...(own === undefined ? [] : [own.file]), ...new Set(shared.map((raw) => raw.file))];
}

/** Restarts a membership that has ended, with only the requested roles. */
function renewedMembership(
  roles: readonly string[],
  request: AccessRequest,
  { email, entries, listed }: ListedPerson,
  merchant: MerchantAccess,
): AccessEdits {
  const { state, placeOf } = merchant;
  const what = `The membership of ${oneLine(email)} at ${state.merchant} ended on ${listed?.until?.text}`;
  const [entry, ...others] = entries;
  if (entry === undefined || others.length > 0 || (request.file ?? entry.file) !== entry.file) {
    const end = listed?.setAt?.until ?? listed?.origin;
    throw cannotExpress(
      `${what}, and other files list it.`,
      `First remove its end${end === undefined ? "" : `, at ${placeOf(end)}`}.`,
    );
  }
  checkReach(what, entry, request, merchant);
  const path = ["members", entry.index];
  const dates = ["from", "until"].filter((key) => Object.hasOwn(entry.fields, key));
  const edits = [
    ...dates.map((key) => ({ kind: "remove", path: [...path, key] }) as const),
    {
      kind: "set",
      path: [...path, "roles"],
      value: roles.map((role) => grantValue(role, request)),
    } as const,
  ];
  return {
    edits: edits.map((edit) => ({ file: entry.file, edit, above: entry.index })),
    notes: [`${what}. It begins anew, with these roles alone.`],
    roles: roles.map((role) => ({ role, from: request.from, until: request.until })),
    choices: [],
  };
}

/** Returns what shortens or delays a grant to a listed person. */
function limitsOf(
  { from, until }: AccessRequest,
  listed: DesiredMember,
  { state, now }: MerchantAccess,
): readonly string[] {
  const where = `${oneLine(listed.email)} at ${state.merchant}`;
  const { from: begin, until: end, suspended } = listed;
  const leaver = state.leavers?.find(({ email }) => email.toLowerCase() === listed.email.toLowerCase());
  const isLater = begin !== undefined && begin.starts > now && from === undefined;
  return [
    ...(isLater ? [`The membership of ${where} begins on ${begin.text}, and the grant with it.`] : []),
    ...(end !== undefined && until === undefined
      ? [`The membership of ${where} ends on ${end.text}, and the grant with it.`]
      : []),
    ...(leaver === undefined ? [] : [`${where} leaves on ${leaver.from.text}, which ends the grant.`]),
    ...(isSuspended(listed, now)
      ? [`${where} is suspended${datesText({ until: suspended?.until })}, and has no roles during that time.`]
      : []),
  ];
}

/** The dates of a grant. */
interface Period {
  readonly from?: From | undefined;
  readonly until?: Until | undefined;
}

/**
 * Returns the period that covers a held one and a requested one: `"held"` if that is the held one, `null` if there is a gap
 * between them.
 */
function joinedPeriods(requested: Period, held: Period, now: number): Period | "held" | null {
  const startOf = ({ from }: Period): number => Math.max(from?.starts ?? now, now);
  const endOf = ({ until }: Period): number => until?.ends ?? Number.POSITIVE_INFINITY;
  if (startOf(requested) > endOf(held) || startOf(held) > endOf(requested)) return null;
  const from = startOf(requested) < startOf(held) ? requested.from : held.from;
  const until = endOf(requested) > endOf(held) ? requested.until : held.until;
  return from === held.from && until === held.until ? "held" : { from, until };
}

/** Returns a grant as a file has it: the name alone without dates. */
function grantValue(role: string, { from, until }: Period): JsonValue {
  if (from === undefined && until === undefined) return role;
  return { role, ...(from && { from: from.text }), ...(until && { until: until.text }) };
}

/** Describes the dates of a grant, with a space in front. */
function datesText({ from, until }: Pick<Grant, "from"> & { readonly until?: Until | undefined }): string {
  return `${from === undefined ? "" : ` from ${from.text}`}${until === undefined ? "" : ` until ${until.text}`}`;
}
