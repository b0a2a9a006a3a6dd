import { RolecallError } from "../model/errors.ts";
import type { LiveEvent } from "../model/events.ts";
import type { LiveState, MemberStatus, Membership } from "../model/live.ts";
import type { Call } from "./http/call.ts";
import type { Client } from "./http/client.ts";
import { shortRetry } from "./http/retry.ts";
import { listAll, PAGE_SIZE } from "./pager.ts";
import { MEMBERSHIPS_PATH, query } from "./paths.ts";
import { readMembershipPage } from "./wire.ts";

/** The service's filters of memberships; absent ones do not filter. */
export interface MembershipFilter {
  /** `merchant` or `organization`. */
  readonly type?: string;
  readonly status?: MemberStatus;
  /** True for test accounts, false for the others. */
  readonly sandbox?: boolean;
  readonly name?: string;
  /** The resource that the resource belongs to; `null` for resources without one. */
  readonly parent?: { readonly type: string; readonly id: string } | null;
  /** Role ids; a membership must have at least one of them. */
  readonly roles?: readonly string[];
}

/** Options of requests that must not delay the rest. */
const QUICK: Pick<Call<unknown>, "retry" | "withinMs"> = { retry: shortRetry, withinMs: 5_000 };

/**
 * Lists all memberships of the caller that a filter selects, in the service's order; `quick` gives up within seconds.
 * Throws RolecallError.
 */
export async function listMemberships(
  client: Client,
  filter: MembershipFilter = {},
  quick = false,
): Promise<readonly Membership[]> {
  const parameters = filterParameters(filter);
  const all = await listAll("The list of the caller's memberships", (offset) =>
    client.send({
      ...(quick && QUICK),
      operation: "list memberships",
      method: "GET",
      path: `${MEMBERSHIPS_PATH}${query({ offset, limit: PAGE_SIZE, ...parameters })}`,
      read: readMembershipPage,
    }),
  );
  return all.filter((one) => isSelected(one, filter));
}

function filterParameters({
  type,
  status,
  sandbox,
  name,
  parent,
  roles = [],
}: MembershipFilter): Parameters<typeof query>[0] {
  return {
    ...(type !== undefined && { "resource.type": type }),
    ...(status !== undefined && { status }),
    ...(sandbox !== undefined && { "resource.attributes.sandbox": String(sandbox) }),
    ...(name !== undefined && { "resource.name": name }),
    // The service rejects one without the other.
    ...(parent !== undefined && {
      "resource.parent.type": parent?.type ?? "null",
      "resource.parent.id": parent?.id ?? "null",
    }),
    ...(roles.length > 0 && { roles }),
  };
}

/** Applies the unambiguous filters again: a service may ignore unknown query parameters. */
function isSelected(membership: Membership, { type, status, roles = [] }: MembershipFilter): boolean {
  return (
    (type === undefined || [type, "unknown"].includes(membership.resource.type)) &&
    (status === undefined || membership.status === status) &&
    (roles.length === 0 || membership.roles.some((role) => roles.includes(role)))
  );
}

/** Finds the member of a merchant that the key belongs to; the result tells none from unknown. */
export type FindCurrentMember = (merchant: string) => Promise<Pick<LiveState, "callerId" | "callerUnknown">>;

/** Creates a finder that asks the service once for all merchants; a failure is reported once. */
export function createCurrentMemberFinder(
  client: Client,
  emit: (event: LiveEvent) => void,
): FindCurrentMember {
  let asked: Promise<readonly Membership[] | null> | undefined;
  const ask = (): Promise<readonly Membership[]> => listMemberships(client, { type: "merchant" }, true);
  return async (merchant) => {
    asked ??= ask().catch((error: unknown) => {
      if (!(error instanceof RolecallError)) throw error;
      emit({ type: "caller-unknown", reason: reasonOf(error) });
      return null;
    });
    const memberships = await asked;
    if (memberships === null) return { callerId: null, callerUnknown: true };
    const own = memberships.filter(({ resource }) => resource.id === merchant);
    // An old invitation may exist beside the accepted membership.
    return { callerId: (own.find(({ status }) => status === "accepted") ?? own[0])?.id ?? null };
  };
}

function reasonOf({ message, hint }: RolecallError): string {
  return hint === undefined ? message : `${message.replace(/\.?$/, ".")} ${hint}`;
}
