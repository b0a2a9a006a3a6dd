import { quoteIfNeeded } from "../../lib/text.ts";
import type { Step } from "../../model/apply.ts";
import type { ManagedProperties, MemberValues, RoleImage } from "../../model/field-values.ts";
import type { LiveMember, LiveRole, MemberStatus } from "../../model/live.ts";
import type { Change, MemberImage } from "../../model/plan.ts";
import type { LiveLookup } from "../../model/ports.ts";
import { addressesOf, addressOf, hasAddress } from "../diff/scope.ts";
import { surprises } from "../fields/field.ts";
import { differs } from "../fields/kind.ts";
import {
  COMMON_FIELDS,
  type CommonValues,
  isManaged,
  liveValues,
  MANAGED_FIELDS,
  memberValues,
} from "../fields/member.ts";
import { ROLE_FIELDS, roleImage } from "../fields/role.ts";
import { permanentName } from "../fields/temporary-name.ts";
import { emptiedImage, isMemberUpdate, omittedFields, withRoleIds } from "./update-member.ts";
import { isPasswordChange, type Write } from "./write-change.ts";

/** The result of the check before a write. */
export type Precondition =
  | AsPlanned
  /** The change is already applied, so there is nothing to send. */
  | { readonly status: "done" }
  | { readonly status: "stale"; readonly message: string };

/** The dependencies of a check, and the run's own changes so far. */
export interface PreconditionContext {
  readonly lookup: LiveLookup;
  /** Once aborted, the check rejects. */
  readonly signal?: AbortSignal;
  /** Name → id of the roles that this run has created so far. */
  readonly createdRoles: ReadonlyMap<string, string>;
  /** Id → name of the roles that this run has renamed so far. */
  readonly renamedRoles: ReadonlyMap<string, string>;
}

/** The result for a resource that is as planned. */
export interface AsPlanned {
  readonly status: "planned";
  /** The live member; absent for roles, and if nothing was checked. */
  readonly found?: LiveMember;
}

export const PLANNED: AsPlanned = { status: "planned" };
const DONE: Precondition = { status: "done" };

/**
 * Checks that the resource of a write is still as planned; with `maybeApplied`, an earlier attempt may have been
 * applied. Throws RolecallError.
 */
export async function checkPrecondition(
  { change }: Step,
  write: Write,
  context: PreconditionContext,
  maybeApplied: boolean,
): Promise<Precondition> {
  if (write.id === null || write.before === null) return PLANNED;
  const { differences, member } =
    write.operation === "update a role" || write.operation === "delete a role"
      ? { differences: await checkRole(write, context) }
      : await checkMember({ ...write, id: write.id, before: write.before }, change, context, maybeApplied);
  if (differences === "gone") {
    return isDoneIfGone(change) || (maybeApplied && write.after === null)
      ? DONE
      : stale(change, "no longer exists");
  }
  if (differences === "done") return DONE;
  if (differences.length === 0) return member ? { ...PLANNED, found: member } : PLANNED;
  return stale(change, `has changed since it was planned: ${differences.join("; ")}`);
}

/**
 * Returns whether a change is complete when its resource is gone: false for the replacement of an invitation, which
 * somebody may have removed on purpose or sent again.
 */
function isDoneIfGone({ resource, kind }: Change): boolean {
  return kind === "delete" || (kind === "replace" && resource === "role");
}

type Found = readonly string[] | "gone" | "done";

type WriteTo<Resource extends string> = Extract<Write, { readonly operation: `${string} a ${Resource}` }> & {
  readonly id: string;
};

async function checkRole(
  { id, before, after }: WriteTo<"role">,
  { lookup, renamedRoles, signal }: PreconditionContext,
): Promise<Found> {
  const live = await lookup.getRole(id, signal);
  if (live === null) return "gone";
  if (after !== null && roleDifferences(after, live).length === 0) return "done";
  const marked = permanentName(live.name, id) === permanentName(before.name, id) ? live.name : before.name;
  const differences = roleDifferences({ ...before, name: renamedRoles.get(id) ?? marked }, live);
  if (after !== null || differences.length > 0) return differences;
  // If somebody has been given the role since, the service may delete it anyway and revoke it.
  const holder = await lookup.getHolder(id, signal);
  return holder === null ? [] : [`now held by ${quoteIfNeeded(addressOf(holder) ?? holder.id)}`];
}

async function checkMember(
  { id, before, operation, part, ...write }: WriteTo<"member"> & { readonly before: MemberImage },
  change: Change,
  { lookup, createdRoles, signal }: PreconditionContext,
  maybeApplied: boolean,
): Promise<{ readonly differences: Found; readonly member?: LiveMember }> {
  const member = await lookup.getMember(id, signal);
  if (member === null) return { differences: "gone" };
  // A new invitation does not change the expired one.
  const after = operation === "create a member" ? null : write.after;
  const names = new Map([...before.roles, ...(after?.roles ?? [])].map(({ id, name }) => [id, name]));
  const live = liveValues(member, (roleId) => ({ id: roleId, name: names.get(roleId) ?? roleId }));
  const statuses = acceptableStatuses(before.status, after);
  const against = (image: MemberImage): readonly string[] =>
    memberDifferences(
      { image, values: withRoleIds(memberValues(image), createdRoles), statuses },
      member,
      live,
    );
  if (after !== null) {
    // The service does not report whether a password is set.
    const tells = part === "restore" || !isPasswordChange(change);
    if (tells && against(after).length === 0) return { differences: "done" };
    // A service that empties absent fields may have applied it.
    const emptied = maybeApplied && isMemberUpdate(change) && omittedFields(change).length > 0;
    if (emptied && against(emptiedImage(after, change)).length === 0) return { differences: "done" };
  }
  return { differences: against(before), member };
}

/**
 * Returns the statuses that do not make a change stale. An invitation that has been accepted meanwhile can still be
 * updated, but removing it would remove more than planned. One that has expired meanwhile can still be removed.
 */
function acceptableStatuses(
  planned: MemberStatus | null,
  after: MemberImage | null,
): readonly (MemberStatus | null)[] {
  // A new password has enabled the user if its response was lost.
  if (planned === "disabled" && after?.status === "accepted") return [planned, after.status];
  if (planned !== "pending") return [planned];
  return [planned, after === null ? "expired" : "accepted"];
}

function stale({ resource, name }: Change, what: string): Precondition {
  return { status: "stale", message: `${resource} ${quoteIfNeeded(name)} ${what}.` };
}

/** Describes the differences between an expected and a live role, without its holders. */
function roleDifferences(expected: RoleImage, live: LiveRole): readonly string[] {
  return surprises<RoleImage>(ROLE_FIELDS, expected, roleImage(live));
}

/** An expected member: its image, its values with the ids of all roles, and acceptable statuses. */
interface ExpectedMember {
  readonly image: MemberImage;
  readonly values: MemberValues;
  readonly statuses: readonly (MemberStatus | null)[];
}

/** Describes the differences between an expected and a live member with some values. */
function memberDifferences(
  { image: { email, managed, status }, values, statuses }: ExpectedMember,
  member: LiveMember,
  live: MemberValues,
): readonly string[] {
  const isStillManaged = (managed !== null) === isManaged(member);
  return [
    ...addressDifference(email, member),
    ...surprises<CommonValues>(COMMON_FIELDS, values, live),
    ...(isStillManaged
      ? surprises<ManagedProperties>(MANAGED_FIELDS, values, live)
      : [`managed by the merchant: ${managed === null ? "now" : "no longer"}`]),
    ...(statuses.includes(member.status) ? [] : [differs("status", status ?? "none", member.status)]),
  ];
}

/** Describes a different address. An invitation may be accepted under another one, but keeps the invited address. */
function addressDifference(planned: string | null, live: LiveMember): readonly string[] {
  const addresses = addressesOf(live);
  const same = planned === null ? addresses.length === 0 : hasAddress(live, planned);
  return same ? [] : [differs("address", planned ?? "none", addresses[0] ?? "none")];
}
