import { type Failure, RolecallError } from "../model/errors.ts";
import type { LiveEvent } from "../model/events.ts";
import type { LiveState, Membership } from "../model/live.ts";
import type { Client } from "./http/client.ts";
import { listMemberships } from "./memberships.ts";

/** Facts about a merchant from the caller's memberships. */
export type CurrentMember = Pick<
  LiveState,
  "merchantName" | "callerId" | "callerUnknown" | "sandbox" | "sandboxFailure"
>;

/** Finds the member of a merchant that the key belongs to; the result distinguishes none from unknown. */
export type FindCurrentMember = (merchant: string) => Promise<CurrentMember>;

/**
 * Creates a finder that asks the service for the membership of the first merchant alone, and once for those of all others;
 * a failure is reported once. `quick` gives up within seconds.
 */
export function createCurrentMemberFinder(
  client: Client,
  maxItems: number,
  emit: (event: LiveEvent) => void,
  quick = false,
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
        return await listMemberships(client, maxItems, each, quick);
      } catch (error) {
        if (!isRefusal(error)) throw error;
      }
    }
    return listMemberships(client, maxItems, wider, quick);
  };
  const ask = async (id?: string): Promise<Known> => {
    try {
      const memberships = await list(id === undefined ? {} : { id });
      return { memberships, ...(await sandboxesOf(memberships, id, list)) };
    } catch (error) {
      if (!(error instanceof RolecallError)) throw error;
      emit({ type: "caller-unknown", reason: reasonOf(error) });
      return { memberships: null, sandboxes: new Map(), ...failureOf(error) };
    }
  };
  let first: { readonly merchant: string; readonly asked: Promise<Known> } | undefined;
  let elsewhere: Promise<Known> | undefined;
  return async (merchant) => {
    first ??= { merchant, asked: ask(merchant) };
    const { asked } = first;
    const askElsewhere = (answer: Known) => (answer.memberships === null ? answer : ask());
    if (first.merchant !== merchant) elsewhere ??= asked.then(askElsewhere);
    const { memberships, sandboxes, failure } = await (first.merchant === merchant
      ? asked
      : (elsewhere ?? asked));
    const unanswered = failure && { sandboxFailure: failure };
    if (memberships === null) return { callerId: null, callerUnknown: true, ...unanswered };
    const ownMemberships = memberships.filter(({ resource }) => resource.id === merchant);
    const sandbox = sandboxes.get(merchant);
    const merchantName = ownMemberships[0]?.resource.name ?? "";
    return {
      ...(merchantName !== "" && { merchantName }),
      // An old invitation may exist beside the accepted membership.
      callerId: (ownMemberships.find(({ status }) => status === "accepted") ?? ownMemberships[0])?.id ?? null,
      ...(sandbox !== undefined ? { sandbox } : ownMemberships.length > 0 && unanswered),
    };
  };
}

/** The statuses by which a service refuses a query parameter. */
const REFUSALS: ReadonlySet<number | undefined> = new Set([400, 404, 405, 422, 501]);

function isRefusal(error: unknown): boolean {
  return error instanceof RolecallError && REFUSALS.has(error.request?.status);
}

/** Returns an error as a missing answer, unless it is the service's answer that it does not know. */
function failureOf(error: RolecallError): Pick<Known, "failure"> {
  return isRefusal(error) || error.request?.status === 403 ? {} : { failure: error.failure };
}

interface ByMerchant {
  /** The merchant code; absent: all merchants. */
  readonly id?: string;
  readonly sandbox?: boolean;
}

interface Known {
  /** `null` if unknown. */
  readonly memberships: readonly Membership[] | null;
  /** `true` for a test account; merchants of which this is unknown are absent. */
  readonly sandboxes: ReadonlyMap<string, boolean>;
  /** Why the rest could not be determined; absent if the service answered. */
  readonly failure?: Failure;
}

/**
 * Returns which merchants are test accounts: by the attribute in the response, else by the service's filters. A
 * merchant in the results of both filters is unknown, since the service ignores them.
 */
async function sandboxesOf(
  memberships: readonly Membership[],
  id: string | undefined,
  list: (filter: ByMerchant) => Promise<readonly Membership[]>,
): Promise<Pick<Known, "sandboxes" | "failure">> {
  const sandboxes = new Map(
    memberships.flatMap(({ resource }) =>
      resource.sandbox === null ? [] : [[resource.id, resource.sandbox] as const],
    ),
  );
  if (memberships.every(({ resource }) => sandboxes.has(resource.id))) return { sandboxes };
  const only = id === undefined ? {} : { id };
  const ask = async (sandbox: boolean): Promise<ReadonlySet<string>> =>
    new Set((await list({ ...only, sandbox })).map(({ resource }) => resource.id));
  try {
    const [test, live] = await Promise.all([ask(true), ask(false)]);
    for (const { resource } of memberships) {
      const isTest = test.has(resource.id);
      if (!sandboxes.has(resource.id) && isTest !== live.has(resource.id)) sandboxes.set(resource.id, isTest);
    }
    return { sandboxes };
  } catch (error) {
    // The memberships are known anyway.
    if (error instanceof RolecallError) return { sandboxes, ...failureOf(error) };
    throw error;
  }
}

function reasonOf({ message, hint }: RolecallError): string {
  return hint === undefined ? message : `${message.replace(/\.?$/, ".")} ${hint}`;
}
