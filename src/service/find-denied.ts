import { RolecallError } from "../model/errors.ts";
import type { Client } from "./http/client.ts";
import { OPERATIONS, type Operation } from "./http/problem-details.ts";
import { notSent } from "./http/request-errors.ts";
import {
  alarmOf,
  firstId,
  PROBING,
  type ProbeStep,
  type Probing,
  probeOf,
  sendProbe,
} from "./probe-requests.ts";

/** An operation that a key may not use, and the permission or scope that it lacks. */
export interface DeniedOperation {
  readonly operation: Operation;
  readonly permission: string;
}

/**
 * Returns those of some operations that a key may not use at a merchant; throws RolecallError if a probe may have
 * changed something.
 */
export type FindDenied = (
  merchant: string,
  operations: readonly Operation[],
) => Promise<readonly DeniedOperation[]>;

/**
 * Returns a function that finds denied operations, without changing anything. Tests each operation once; only a denied
 * one is tested again at each merchant, where the key may have other permissions. Once the service asks to wait, or
 * does not respond, tests nothing more: the changes themselves will show.
 */
export function createDenialFinder(openClient: (merchant: string) => Client): FindDenied {
  const asked = new Map<Operation, Promise<DeniedOperation | null>>();
  let isSilent = false;
  const clientOf = (merchant: string): Client => ({
    async send(call) {
      const beforeSending = async (): Promise<void> => {
        if (isSilent) throw notSent(call, "the service did not respond to an earlier request");
      };
      try {
        return await openClient(merchant).send({ ...call, beforeSending });
      } catch (error) {
        if (!(error instanceof RolecallError)) throw error;
        const { status = 429 } = error.request ?? {};
        isSilent ||= status === 429;
        throw error;
      }
    },
  });
  return async (merchant, operations) => {
    const answers = operations.map(async (operation) => {
      const first = asked.get(operation);
      if (first !== undefined && (await first) === null) return null;
      const denied = findDenial(clientOf(merchant), merchant, operation);
      if (first === undefined) asked.set(operation, denied);
      return denied;
    });
    return (await Promise.all(answers)).filter((operation) => operation !== null);
  };
}

/** Returns an operation as denied only on a clear 403: any other response may have other causes. */
async function findDenial(
  client: Client,
  merchant: string,
  operation: Operation,
): Promise<DeniedOperation | null> {
  const probing = PROBING.find(({ operations }) => Object.values<Operation>(operations).includes(operation));
  const step = operation.split(" ")[0] as ProbeStep;
  if (probing === undefined) return null;
  const response = await sendProbe(client, probeOf(probing, step, merchant));
  const { alarm } = alarmOf(operation, step, response);
  if (alarm !== undefined) throw new RolecallError("bad-response", alarm);
  if (response.status !== 403) return null;
  const denied = { operation, permission: response.permission ?? OPERATIONS[operation] };
  if (response.permission !== undefined || step === "create") return denied;
  // A service may respond with 403 for anything that does not exist.
  const isCertain =
    step === "retrieve"
      ? await isDeniedListed(client, probing, merchant)
      : (await sendProbe(client, probeOf(probing, "retrieve", merchant))).status !== 403;
  return isCertain ? denied : null;
}

/** Returns whether the service refuses to retrieve a resource that it lists. */
async function isDeniedListed(client: Client, probing: Probing, merchant: string): Promise<boolean> {
  const listed = firstId((await sendProbe(client, probeOf(probing, "list", merchant))).body);
  if (listed === null) return false;
  const retrieval = { ...probeOf(probing, "retrieve", merchant), path: probing.path(merchant, listed) };
  return (await sendProbe(client, retrieval)).status === 403;
}
