import type { OperationVerdict } from "../model/reports.ts";
import { createCurrentMemberFinder, type FindCurrentMember } from "./current-member.ts";
import type { Client } from "./http/client.ts";
import type { Operation } from "./http/problem-details.ts";
import { type KeyUser, keyUserOf } from "./key-user.ts";
import { type ConnectOptions, openClient } from "./open-client.ts";
import {
  alarmOf,
  firstId,
  NO_RESPONSE,
  PROBING,
  type ProbeResponse,
  type ProbeStep,
  type Probing,
  probeOf,
  sendProbe,
} from "./probe-requests.ts";

/** The part of a service that determines what a key may do. */
export interface Probe extends KeyUser {
  /** Determines which operations the key may use at a merchant, without changing anything. */
  probe(merchant: string, operations: ReadonlySet<Operation>): Promise<ProbedMerchant>;
  /** Gives up within seconds; never throws RolecallError. */
  readonly findCurrentMember: FindCurrentMember;
}

/** Connects to a service to probe a key; nothing is sent yet. Throws RolecallError for an invalid base URL. */
export function connectProbe(options: ConnectOptions): Probe {
  const opened = openClient(options);
  return {
    ...keyUserOf(opened),
    probe: (merchant, operations) => probeOperations(opened.client, merchant, operations),
    findCurrentMember: createCurrentMemberFinder(opened.client, opened.maxItems, opened.emit, true),
  };
}

/** The verdicts on a key's operations at a merchant. */
export interface ProbedMerchant {
  /** True if the service reports that there is no such merchant for this key. */
  readonly missing: boolean;
  readonly verdicts: readonly OperationVerdict<Operation>[];
}

/** The responses about one kind of resource; absent if not asked. */
interface ProbeResponses {
  readonly list: ProbeResponse;
  /** Retrieves a resource that was just listed. */
  readonly known?: ProbeResponse;
  /** Retrieves a resource that cannot exist. */
  readonly none?: ProbeResponse;
  readonly update?: ProbeResponse;
  readonly delete?: ProbeResponse;
  /** Creates a resource from an empty object, without the required fields. */
  readonly create?: ProbeResponse;
  /** Updates a resource that cannot exist with an invalid body. */
  readonly invalidUpdate?: ProbeResponse;
}

/**
 * Determines which operations a key may use, without changing anything: reads; updates and deletes resources that
 * cannot exist; and creates from an empty body, which the service must reject.
 */
async function probeOperations(
  client: Client,
  merchant: string,
  operations: ReadonlySet<Operation>,
): Promise<ProbedMerchant> {
  const lists = await Promise.all(
    PROBING.map((probing) => sendProbe(client, probeOf(probing, "list", merchant))),
  );
  const isStopped = lists.some(({ status }) => status === 401 || status === null);
  const missing = lists.every(({ status }) => status === 404);
  const verdicts: OperationVerdict<Operation>[] = [];
  for (const [index, probing] of PROBING.entries()) {
    const list = lists[index] ?? NO_RESPONSE;
    const isAsked = (step: ProbeStep): boolean => operations.has(probing.operations[step]);
    const mayAsk = !missing && !isStopped && !verdicts.some(({ alarm }) => alarm !== undefined);
    const responses = mayAsk ? await askAll(client, merchant, probing, list, isAsked) : { list };
    verdicts.push(
      ...judgeProbes(probing.operations, responses).filter(({ operation }) => operations.has(operation)),
    );
  }
  return { missing, verdicts };
}

/** Probes one kind of resource: reads first, and writes only if a read shows that they cannot change anything. */
async function askAll(
  client: Client,
  merchant: string,
  probing: Probing,
  list: ProbeResponse,
  isAsked: (step: ProbeStep) => boolean,
): Promise<ProbeResponses> {
  const probe = (step: ProbeStep): Promise<ProbeResponse> =>
    sendProbe(client, probeOf(probing, step, merchant));
  if (!["retrieve", "update", "delete", "create"].some((step) => isAsked(step as ProbeStep))) return { list };
  const listed = firstId(list.body);
  const none = await probe("retrieve");
  const knownResponse =
    listed === null
      ? undefined
      : await sendProbe(client, {
          ...probeOf(probing, "retrieve", merchant),
          path: probing.path(merchant, listed),
        });
  const responses: ProbeResponses = { list, none, ...(knownResponse && { known: knownResponse }) };
  // If the service returns a resource that cannot exist, a write might take effect.
  if (!isRefusal(none)) return responses;
  const update = isAsked("update") ? await probe("update") : undefined;
  if (update && !isRefusal(update)) return { ...responses, update };
  const removed = isAsked("delete") ? await probe("delete") : undefined;
  const create = isAsked("create") ? await probe("create") : undefined;
  // If an update is not permitted, an invalid one shows whether the service checks the body first.
  const asksBody = create !== undefined && isInvalid(create) && update?.status === 403;
  const invalid = asksBody
    ? await sendProbe(client, { ...probeOf(probing, "update", merchant), body: probing.invalidUpdate })
    : undefined;
  return {
    ...responses,
    ...(update && { update }),
    ...(removed && { delete: removed }),
    ...(create && { create }),
    ...(invalid && { invalidUpdate: invalid }),
  };
}

function isRefusal({ status }: ProbeResponse): boolean {
  return status === 403 || status === 404;
}

function isInvalid({ status }: ProbeResponse): boolean {
  return status === 400 || status === 422;
}

/**
 * Judges the operations on one kind of resource. A 404 for a resource that cannot exist, or a 400 for an empty body,
 * means permitted only if the service checks the permission first; where its own responses contradict that, the verdict
 * is unknown.
 */
function judgeProbes(
  operations: Readonly<Record<ProbeStep, Operation>>,
  responses: ProbeResponses,
): readonly OperationVerdict<Operation>[] {
  const { list, known, none, update, delete: removed, create, invalidUpdate } = responses;
  const order = permissionOrder(responses);
  const absent = NO_RESPONSE;
  const judged: readonly (readonly [ProbeStep, Judged])[] = [
    ["list", judgeRead(list)],
    ["retrieve", known && known.status !== 404 ? judgeRead(known) : judgeSearch(none ?? absent, order)],
    ["update", judgeSearch(update ?? absent, order)],
    ["delete", judgeSearch(removed ?? absent, order)],
    ["create", judgeCreate(create ?? absent, order, invalidUpdate)],
  ];
  return judged.map(([step, verdict]) => ({
    operation: operations[step],
    ...verdict,
    ...alarmOf(operations[step], step, responses[step as keyof ProbeResponses]),
  }));
}

type Judged = Pick<OperationVerdict, "verdict" | "reason">;

/** Returns why a 404 does not mean that an operation is permitted; `null` if it does. */
function permissionOrder({
  list,
  known,
  none,
  update,
  delete: removed,
  create,
}: ProbeResponses): string | null {
  if (known?.status === 404) return "the service returns 404 for resources that the key may not see";
  const deniedForNone = [none, update, removed].some((response) => response?.status === 403);
  const denied = [list, known, create].some((response) => response?.status === 403);
  return deniedForNone || !denied ? null : "the service may check the resource before the permission";
}

function judgeRead({ status, reason }: ProbeResponse): Judged {
  if (status === 200) return { verdict: "permitted", reason };
  return { verdict: status === 403 ? "denied" : "unknown", reason };
}

function judgeSearch({ status, reason }: ProbeResponse, order: string | null): Judged {
  if (status === 403) return { verdict: "denied", reason };
  if (status === 200) return { verdict: "unknown", reason: "accepted for an id that cannot exist" };
  if (status !== 404) return { verdict: "unknown", reason };
  return order === null
    ? { verdict: "permitted", reason: "permitted" }
    : { verdict: "unknown", reason: `404, but ${order}` };
}

function judgeCreate(
  response: ProbeResponse,
  order: string | null,
  invalidUpdate: ProbeResponse | undefined,
): Judged {
  const { status, reason } = response;
  if (status === 403) return { verdict: "denied", reason };
  if (status === 200) return { verdict: "unknown", reason: "accepted without the required fields" };
  if (!isInvalid(response)) return { verdict: "unknown", reason };
  if (order !== null) return { verdict: "unknown", reason: `${status}, but ${order}` };
  return invalidUpdate && isInvalid(invalidUpdate)
    ? { verdict: "unknown", reason: `${status}, but the service checks the body before the permission` }
    : { verdict: "permitted", reason: "permitted" };
}
