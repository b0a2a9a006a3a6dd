import * as z from "zod/mini";
import type { MemberStatus, Membership } from "../model/live.ts";
import type { Call } from "./http/call.ts";
import type { Client } from "./http/client.ts";
import { shortRetry } from "./http/retry.ts";
import { listAll, PAGE_SIZE } from "./pager.ts";
import { MEMBERSHIPS_PATH, query } from "./paths.ts";
import {
  absent,
  hasText,
  type Page,
  parseResponse,
  toStatus,
  totalSchema,
  UNKNOWN_TYPE,
} from "./response-json.ts";

/** The service's filters of memberships; absent ones do not filter. */
export interface MembershipFilter {
  /** `merchant` or `organization`. */
  readonly type?: string;
  /** The merchant code, or the organization's id. */
  readonly id?: string;
  readonly status?: MemberStatus;
  /** True for test accounts, false for other accounts. */
  readonly sandbox?: boolean;
  readonly name?: string;
  /** The parent of the resource; `null` for resources without one. */
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
  maxItems: number,
  filter: MembershipFilter = {},
  quick = false,
): Promise<readonly Membership[]> {
  const parameters = filterParameters(filter);
  const readPage = (offset: number) =>
    client.send({
      ...(quick && QUICK),
      operation: "list memberships",
      method: "GET",
      path: `${MEMBERSHIPS_PATH}${query({ offset, limit: PAGE_SIZE, ...parameters })}`,
      read: readMembershipPage,
    });
  const memberships = await listAll("The list of the caller's memberships", readPage, { maxItems });
  return memberships.filter((membership) => isSelected(membership, filter));
}

function filterParameters({
  type,
  id,
  status,
  sandbox,
  name,
  parent,
  roles = [],
}: MembershipFilter): Parameters<typeof query>[0] {
  return {
    ...(type !== undefined && { "resource.type": type }),
    ...(id !== undefined && { "resource.id": id }),
    ...(status !== undefined && { status }),
    ...(sandbox !== undefined && { "resource.attributes.sandbox": String(sandbox) }),
    ...(name !== undefined && { "resource.name": name }),
    // The service rejects one without the other; empty values select resources without one.
    ...(parent !== undefined && {
      "resource.parent.type": parent?.type ?? "",
      "resource.parent.id": parent?.id ?? "",
    }),
    ...(roles.length > 0 && { roles }),
  };
}

/** Applies the unambiguous filters again: a service may ignore unknown query parameters. */
function isSelected(membership: Membership, { type, id, status, roles = [] }: MembershipFilter): boolean {
  return (
    (id === undefined || membership.resource.id === id) &&
    (type === undefined || [type, "unknown"].includes(membership.resource.type)) &&
    (status === undefined || membership.status === status) &&
    (roles.length === 0 || membership.roles.some((role) => roles.includes(role)))
  );
}

const membershipListSchema = z.object({
  items: z.array(
    z.object({
      id: z.string().check(z.minLength(1)),
      resource_id: z.string(),
      type: absent(z.string()),
      roles: absent(z.array(z.string())),
      status: z.optional(z.unknown()),
      invite: absent(z.object({ expires_at: absent(z.string()) })),
      resource: absent(
        z.object({
          type: absent(z.string()),
          name: absent(z.string()),
          // Any other value does not tell whether it is a test account.
          attributes: z.optional(z.unknown()),
        }),
      ),
    }),
  ),
  total_count: totalSchema,
});

/** Parses a page of the caller's memberships. */
function readMembershipPage(body: string): Page<Membership> {
  const { items, total_count } = parseResponse(membershipListSchema, body).data;
  return {
    items: items.map(toMembership),
    total: total_count ?? null,
  };
}

function toMembership(wire: z.infer<typeof membershipListSchema>["items"][number]): Membership {
  const { id, resource_id, resource, invite } = wire;
  const sandbox: unknown = Object(resource?.attributes)["sandbox"];
  return {
    id,
    resource: {
      id: resource_id,
      type: wire.type ?? resource?.type ?? UNKNOWN_TYPE,
      name: resource?.name ?? "",
      sandbox: typeof sandbox === "boolean" ? sandbox : null,
    },
    roles: wire.roles ?? [],
    status: toStatus(wire.status),
    ...(hasText(invite?.expires_at) && { expiresAt: invite.expires_at }),
  };
}
