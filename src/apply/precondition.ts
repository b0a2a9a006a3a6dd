import type { LiveMember, MemberStatus } from "../model/live.ts";
import type { Change, MemberImage, RoleImage } from "../model/plan.ts";
import type { LiveLookup } from "../model/ports.ts";
import { memberDifferences, roleDifferences, withoutTemporarySuffix, word } from "./differences.ts";
import { emptiedImage, isMemberUpdate, omittedFields } from "./member-fields.ts";
import { isPasswordChange, type Step } from "./step.ts";
import { roleIds, type Write } from "./write-change.ts";

/** What a look before a write has found. */
export type Precondition =
  /** `found`: the member as it is; absent for roles. */
  | { readonly as: "planned"; readonly found?: LiveMember }
  /** It is already as the write would make it: there is nothing to send. */
  | { readonly as: "done" }
  | { readonly as: "stale"; readonly message: string };

/** What a look depends on besides the write: what this run itself has done meanwhile. */
export interface PreconditionContext {
  readonly lookup: LiveLookup;
  /** Once aborted, nobody waits for the look any more. */
  readonly signal?: AbortSignal;
  /** Name → id of the roles that this apply has created so far. */
  readonly createdRoles: ReadonlyMap<string, string>;
  /** Id → name of the roles that this apply has renamed so far. */
  readonly renamedRoles: ReadonlyMap<string, string>;
}

const PLANNED = { as: "planned" } as const satisfies Precondition;
const DONE: Precondition = { as: "done" };

/**
 * Reads the one resource that a write is about to touch, and holds it against the plan; `maybeApplied`: the write may have been
 * done already. Throws RolecallError.
 */
export async function checkPrecondition(
  { change }: Step,
  write: Write,
  context: PreconditionContext,
  maybeApplied: boolean,
): Promise<Precondition> {
  const { id, before } = write;
  if (id === null || before === null) return PLANNED;
  // A new invitation does not turn the expired one into itself.
  const after = write.part === "create" ? null : write.after;
  const { differences, member } = isRole(before)
    ? { differences: await lookAtRole({ id, before, after: isRole(after) ? after : null }, context) }
    : await lookAtMember(
        { id, before, after: isRole(after) ? null : after },
        change,
        write,
        context,
        maybeApplied,
      );
  if (differences === "gone") {
    return goneIsDone(change) || (maybeApplied && after === null)
      ? DONE
      : stale(change, "is no longer there");
  }
  if (differences === "done") return DONE;
  if (differences.length === 0) return member ? { ...PLANNED, found: member } : PLANNED;
  return stale(change, `is not what was planned any more: ${differences.join("; ")}`);
}

/**
 * What was to be removed and is gone is as it was to be. An invitation that was to be replaced is not: whoever removed
 * it may have meant that, or have sent a new one.
 */
function goneIsDone({ resource, kind }: Change): boolean {
  return kind === "delete" || (kind === "replace" && resource === "role");
}

type Found = readonly string[] | "gone" | "done";

interface Touching<Image> {
  readonly id: string;
  readonly before: Image;
  readonly after: Image | null;
}

async function lookAtRole(
  { id, before, after }: Touching<RoleImage>,
  { lookup, renamedRoles, signal }: PreconditionContext,
): Promise<Found> {
  const found = await lookup.getRole(id, signal);
  if (found === null) return "gone";
  if (after !== null && roleDifferences(after, found).length === 0) return "done";
  const marked =
    withoutTemporarySuffix(found.name) === withoutTemporarySuffix(before.name) ? found.name : before.name;
  const differences = roleDifferences({ ...before, name: renamedRoles.get(id) ?? marked }, found);
  if (after !== null || differences.length > 0) return differences;
  // A service may remove a role that somebody has got meanwhile, and take it from them.
  const holder = await lookup.getHolder(id, signal);
  return holder === null ? [] : [`now held by ${word(addressOf(holder))}`];
}

function addressOf({ id, user, invite }: LiveMember): string {
  return user?.email ?? invite?.email ?? id;
}

async function lookAtMember(
  { id, before, after }: Touching<MemberImage>,
  change: Change,
  { part }: Pick<Write, "part">,
  { lookup, createdRoles, signal }: PreconditionContext,
  maybeApplied: boolean,
): Promise<{ readonly differences: Found; readonly member?: LiveMember }> {
  const found = await lookup.getMember(id, signal);
  if (found === null) return { differences: "gone" };
  const refs = [...before.roles, ...(after?.roles ?? [])];
  const statuses = goodStatuses(before.status, after);
  const against = (image: MemberImage): readonly string[] =>
    memberDifferences({ image, roleIds: roleIds(image.roles, createdRoles), statuses }, found, refs);
  if (after !== null) {
    // Of a password nobody can tell whether it is set already.
    const tells = part === "restore" || !isPasswordChange(change);
    if (tells && against(after).length === 0) return { differences: "done" };
    // It may have been done by a service that empties what an update does not hold.
    const emptied = maybeApplied && isMemberUpdate(change) && omittedFields(change).length > 0;
    if (emptied && against(emptiedImage(after, change)).length === 0) return { differences: "done" };
  }
  return { differences: against(before), member: found };
}

/**
 * An invitation that is accepted meanwhile can be updated all the same; to remove it would take more than the plan
 * said. One that has expired meanwhile gives less than what the plan said to remove.
 */
function goodStatuses(
  planned: MemberStatus | null,
  after: MemberImage | null,
): readonly (MemberStatus | null)[] {
  if (planned !== "pending") return [planned];
  return [planned, after === null ? "expired" : "accepted"];
}

function isRole(image: RoleImage | MemberImage | null): image is RoleImage {
  return image !== null && "permissions" in image;
}

function stale({ resource, name }: Change, what: string): Precondition {
  return { as: "stale", message: `${resource} ${word(name)} ${what}.` };
}
