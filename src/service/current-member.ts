import { RolecallError } from "../model/errors.ts";
import type { LiveEvent } from "../model/events.ts";
import type { LiveState, Membership } from "../model/live.ts";
import type { Client } from "./http/client.ts";
import { listMemberships } from "./memberships.ts";

/** Facts about a merchant from the caller's memberships. */
export type CurrentMember = Pick<LiveState, "callerId" | "callerUnknown" | "sandbox">;

/** Finds the member of a merchant that the key belongs to; the result distinguishes none from unknown. */
export type FindCurrentMember = (merchant: string) => Promise<CurrentMember>;

/**
 * Creates a finder that asks the service for the membership of the first merchant alone, and once for those of all others;
 * a failure is reported once.
 */
export function createCurrentMemberFinder(
  client: Client,
  maxItems: number,
  emit: (event: LiveEvent) => void,
): FindCurrentMember {
  const list = async (filter: ByMerchant): Promise<readonly Membership[]> => {
    const { id: _, ...wider } = filter;
    // A service may refuse a filter, or a combination; what it lists without one is filtered here.
    const filters = [...(filter.id === undefined ? [] : [filter]), wider].map((each) => ({
      type: "merchant",
      ...each,
    }));
    for (const each of filters) {
      try {
        return await listMemberships(client, maxItems, each, true);
      } catch (error) {
        if (!(error instanceof RolecallError && REFUSALS.has(error.request?.status))) throw error;
      }
    }
    return listMemberships(client, maxItems, wider, true);
  };
  const ask = async (id?: string): Promise<Known | null> => {
    try {
      const memberships = await list(id === undefined ? {} : { id });
      return { memberships, sandboxes: await sandboxesOf(memberships, id, list) };
    } catch (error) {
      if (!(error instanceof RolecallError)) throw error;
      emit({ type: "caller-unknown", reason: reasonOf(error) });
      return null;
    }
  };
  let first: { readonly merchant: string; readonly asked: Promise<Known | null> } | undefined;
  let elsewhere: Promise<Known | null> | undefined;
  return async (merchant) => {
    first ??= { merchant, asked: ask(merchant) };
    const { asked } = first;
    if (first.merchant !== merchant) elsewhere ??= asked.then((answer) => (answer === null ? null : ask()));
    const caller = await (first.merchant === merchant ? asked : elsewhere);
    if (!caller) return { callerId: null, callerUnknown: true };
    const ownMemberships = caller.memberships.filter(({ resource }) => resource.id === merchant);
    const sandbox = caller.sandboxes.get(merchant);
    return {
      // An old invitation may exist beside the accepted membership.
      callerId: (ownMemberships.find(({ status }) => status === "accepted") ?? ownMemberships[0])?.id ?? null,
      ...(sandbox !== undefined && { sandbox }),
    };
  };
}

/** The statuses by which a service refuses a query parameter. */
const REFUSALS: ReadonlySet<number | undefined> = new Set([400, 404, 405, 422, 501]);

interface ByMerchant {
  /** The merchant code; absent: all merchants. */
  readonly id?: string;
  readonly sandbox?: boolean;
}

interface Known {
  readonly memberships: readonly Membership[];
  /** `true` for a test account; merchants of which this is unknown are absent. */
  readonly sandboxes: ReadonlyMap<string, boolean>;
}

/**
 * Returns which merchants are test accounts: by the attribute in the response, else by the service's filters. What both
 * filters list is unknown, since the service ignores them.
 */
async function sandboxesOf(
  memberships: readonly Membership[],
  id: string | undefined,
  list: (filter: ByMerchant) => Promise<readonly Membership[]>,
): Promise<ReadonlyMap<string, boolean>> {
  const namesById = new Map(
    memberships.flatMap(({ resource }) =>
      resource.sandbox === null ? [] : [[resource.id, resource.sandbox] as const],
    ),
  );
  if (memberships.every(({ resource }) => namesById.has(resource.id))) return namesById;
  const only = id === undefined ? {} : { id };
  // Without an answer nothing is known, and the membership is.
  const ask = (sandbox: boolean): Promise<ReadonlySet<string> | null> =>
    list({ ...only, sandbox }).then(
      (memberships) => new Set(memberships.map(({ resource }) => resource.id)),
      (error: unknown) => {
        if (error instanceof RolecallError) return null;
        throw error;
      },
    );
  const [test, live] = await Promise.all([ask(true), ask(false)]);
  if (test === null || live === null) return namesById;
  for (const { resource } of memberships) {
    const isTest = test.has(resource.id);
    if (!namesById.has(resource.id) && isTest !== live.has(resource.id)) namesById.set(resource.id, isTest);
  }
  return namesById;
}

function reasonOf({ message, hint }: RolecallError): string {
  return hint === undefined ? message : `${message.replace(/\.?$/, ".")} ${hint}`;
}
