import { RolecallError } from "../model/errors.ts";
import type { LiveState } from "../model/live.ts";
import type { LiveEvent } from "../model/ports.ts";
import type { Client } from "./client.ts";
import { listAll, PAGE_SIZE } from "./pager.ts";
import { MEMBERSHIPS_PATH, query } from "./paths.ts";
import { shortRetry } from "./retry.ts";
import { type Membership, readMembershipPage } from "./wire.ts";

/** Longest that one answer about the caller is waited for, in milliseconds: nothing else shall be late for it. */
const ANSWER_WITHIN_MS = 5_000;

/** Tells which member of a merchant the key belongs to, if any, or that it cannot be found out. */
export type FindCurrentMember = (merchant: string) => Promise<Pick<LiveState, "callerId" | "callerUnknown">>;

/** Asks the service once, for all merchants; where that fails, says so once, and nobody is known. */
export function createCurrentMemberFinder(
  client: Client,
  emit: (event: LiveEvent) => void,
): FindCurrentMember {
  let asked: Promise<readonly Membership[] | null> | undefined;
  return async (merchant) => {
    asked ??= listMemberships(client).catch((error: unknown) => {
      if (!(error instanceof RolecallError)) throw error;
      emit({ type: "caller-unknown", reason: reasonOf(error) });
      return null;
    });
    const memberships = await asked;
    if (memberships === null) return { callerId: null, callerUnknown: true };
    const own = memberships.filter(({ merchant: code }) => code === merchant);
    // An old invitation may stand beside the membership that counts.
    return { callerId: (own.find(({ status }) => status === "accepted") ?? own[0])?.id ?? null };
  };
}

async function listMemberships(client: Client): Promise<readonly Membership[]> {
  return listAll("The list of the caller's memberships", (offset) =>
    client.send({
      operation: "list memberships",
      method: "GET",
      path: `${MEMBERSHIPS_PATH}${query({ offset, limit: PAGE_SIZE, "resource.type": "merchant" })}`,
      read: readMembershipPage,
      retry: shortRetry,
      withinMs: ANSWER_WITHIN_MS,
    }),
  );
}

function reasonOf({ message, hint }: RolecallError): string {
  return hint === undefined ? message : `${message.replace(/\.?$/, ".")} ${hint}`;
}
