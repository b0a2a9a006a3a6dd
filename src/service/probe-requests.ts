import { RolecallError } from "../model/errors.ts";
import type { OperationVerdict } from "../model/reports.ts";
import type { Call } from "./http/call.ts";
import type { Client } from "./http/client.ts";
import { missingPermission, type Operation } from "./http/problem-details.ts";
import { shortRetry } from "./http/retry.ts";
import { membersPath, query, rolesPath } from "./paths.ts";
import { readCreatedId } from "./response-json.ts";

/** A kind of operation on roles or members. */
export type ProbeStep = "list" | "retrieve" | "update" | "delete" | "create";

/** The requests that probe the operations of one kind of resource. */
export interface Probing {
  readonly operations: Readonly<Record<ProbeStep, Operation>>;
  readonly path: (merchant: string, id?: string) => string;
  /** An id in the service's format that it has never assigned. */
  readonly impossibleId: string;
  readonly updateMethod: "PATCH" | "PUT";
  /** A body of an update that does not match the contract. */
  readonly invalidUpdate: object;
}

/** The probes of roles and of members. */
export const PROBING: readonly Probing[] = [
  {
    operations: {
      list: "list roles",
      retrieve: "retrieve a role",
      update: "update a role",
      delete: "delete a role",
      create: "create a role",
    },
    path: rolesPath,
    impossibleId: "role_rolecallNoSuch",
    updateMethod: "PATCH",
    invalidUpdate: { permissions: "none" },
  },
  {
    operations: {
      list: "list members",
      retrieve: "retrieve a member",
      update: "update a member",
      delete: "delete a member",
      create: "create a member",
    },
    path: membersPath,
    impossibleId: "mem_rolecallNoSuch",
    updateMethod: "PUT",
    invalidUpdate: { roles: "none" },
  },
];

/** A response to a probe; `status` is `null` if there is none, or if it is not from the service itself. */
export interface ProbeResponse {
  readonly status: number | null;
  readonly body: string;
  readonly reason: string;
  /** The permission or scope that its Problem names; absent if none. */
  readonly permission?: string;
}

/** The response if no probe was sent. */
export const NO_RESPONSE: ProbeResponse = { status: null, body: "", reason: "not tried" };

/** Returns the request that probes an operation: about a resource that cannot exist, or without the required fields. */
export function probeOf(
  { operations, path, impossibleId, updateMethod }: Probing,
  step: ProbeStep,
  merchant: string,
): ProbeRequest {
  const operation = operations[step];
  switch (step) {
    case "list":
      return {
        operation,
        method: "GET",
        path: operation === "list members" ? `${path(merchant)}${query({ limit: 1 })}` : path(merchant),
      };
    case "retrieve":
      return { operation, method: "GET", path: path(merchant, impossibleId) };
    case "update":
      return { operation, method: updateMethod, path: path(merchant, impossibleId), body: {} };
    case "delete":
      return { operation, method: "DELETE", path: path(merchant, impossibleId) };
    case "create":
      return { operation, method: "POST", path: path(merchant), body: {} };
    default:
      return step satisfies never;
  }
}

/** Timeout of a probe, in ms. */
const PROBE_WITHIN_MS = 5_000;

/** A request that probes an operation. */
type ProbeRequest = Pick<Call<string>, "operation" | "method" | "path" | "body">;

/** Sends a probe; never throws RolecallError. */
export async function sendProbe(client: Client, call: ProbeRequest): Promise<ProbeResponse> {
  try {
    const body = await client.send({
      ...call,
      read: (text) => text,
      retry: shortRetry,
      withinMs: PROBE_WITHIN_MS,
    });
    return { status: 200, body, reason: "permitted" };
  } catch (error) {
    if (!(error instanceof RolecallError)) throw error;
    return responseOf(error, call);
  }
}

function responseOf({ code, message, request }: RolecallError, { method }: ProbeRequest): ProbeResponse {
  const { status, problem } = request ?? {};
  if (status === undefined) return { ...NO_RESPONSE, reason: message };
  // Accepted, whatever the body contains.
  if (status < 300 && method !== "GET") return { status: 200, body: "", reason: `${status}` };
  // A proxy or a gateway may return the same status, but not with the service's Problem.
  if (problem === undefined || code === "bad-response") {
    const reason = `${status}, but not in the service's format`;
    return { status: status === 401 ? status : null, body: "", reason };
  }
  const said = problem.detail ?? problem.title;
  const permission = missingPermission(problem);
  return {
    status,
    body: "",
    reason: `${status}${said ? `: ${said}` : ""}`,
    ...(permission !== undefined && { permission }),
  };
}

/** Returns the first id of a list; `null` if it has none. */
export function firstId(body: string): string | null {
  try {
    const { items } = Object(JSON.parse(body));
    const id: unknown = Object(Object(items)[0])["id"];
    return typeof id === "string" && id !== "" ? id : null;
  } catch {
    return null;
  }
}

/** Returns the warning about a service that accepts what it must refuse; empty otherwise. */
export function alarmOf(
  operation: Operation,
  step: ProbeStep,
  response: ProbeResponse | undefined,
): Pick<OperationVerdict, "alarm"> {
  if (response?.status !== 200 || (step !== "create" && step !== "update")) return {};
  const kind = operation.endsWith("role") ? "role" : "member";
  const id = readCreatedId(response.body);
  const which =
    id === null ? `a ${kind} without ${kind === "role" ? "a name" : "an address"}` : `the ${kind} ${id}`;
  return {
    alarm:
      step === "create"
        ? `The service accepted a ${kind} without its required fields. It may have created ${which}: remove it.`
        : `The service accepted an update of a ${kind} that cannot exist. It may have created ${which}: remove it.`,
  };
}
