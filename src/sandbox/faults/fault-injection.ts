import { retryAfterHeaders } from "../http/rate-limit.ts";
import { ConnectionLost, problemResponse, type ResponseData, responseText } from "../http/response.ts";
import type { Account } from "../state/store.ts";
import {
  driftRequests,
  hidePredefined,
  NOT_HTTP_BYTES,
  omitFields,
  withLargeNumbers,
  withUnknownFields,
} from "./altered-responses.ts";
import { type AdminRequest, editRequest, type HitRequest } from "./concurrent-edits.ts";
import type { FaultHit, FaultRule } from "./faults.ts";

/** Effects that faults need to act on a request. */
export interface FaultPorts {
  /** Number of the request. */
  readonly request: number;
  wallClock(): number;
  sleep(ms: number): Promise<void>;
  /** Returns the request for rules that edit concurrently. */
  hit(): Promise<HitRequest>;
  /** Returns the merchant of the request; undefined if unknown. */
  account(): Account | undefined;
  /** Sends a concurrent request through the control routes, so that it is logged like any other. */
  send(request: AdminRequest): Promise<void>;
}

const PAGE = "<!doctype html><html><title>Sorry</title><h1>Something went wrong</h1></html>\n";

function statusResponse(
  rule: FaultRule & { kind: "status" },
  { request, wallClock }: FaultPorts,
): ResponseData {
  const { wait, retry_after = wait === undefined ? "none" : "seconds" } = rule;
  const headers = retryAfterHeaders(retry_after, (wait ?? 1) * 1000, wallClock());
  return problemResponse(rule.status, rule.detail ?? "A fault rule injected this error.", request, headers);
}

function page(status: number): ResponseData {
  return { status, text: PAGE, contentType: "text/html; charset=utf-8" };
}

async function stall(rule: FaultRule & { kind: "stall" }, { sleep }: FaultPorts): Promise<never> {
  await sleep(rule.ms);
  throw new ConnectionLost("stalled");
}

function notHttp({ answer }: FaultRule & { kind: "not-http" }): ConnectionLost {
  return new ConnectionLost("with a response that is not HTTP", NOT_HTTP_BYTES[answer]);
}

type ConcurrentRule = FaultRule & { kind: "concurrent-edit" | "shift" };

async function concurrentRequests(
  rule: ConcurrentRule,
  chance: number,
  ports: FaultPorts,
): Promise<readonly AdminRequest[]> {
  if (rule.kind === "concurrent-edit" && rule.request !== undefined) return [rule.request];
  const hit = await ports.hit();
  const account = ports.account();
  if (account === undefined) return [];
  if (rule.kind === "shift") return driftRequests(rule.change, hit, account, chance);
  const edit = rule.edit && editRequest(rule.edit, hit, account, chance);
  return edit ? [edit] : [];
}

/** Runs the faults that precede the operation; a response replaces the operation. */
export async function injectBefore(
  hits: readonly FaultHit[],
  ports: FaultPorts,
): Promise<ResponseData | undefined> {
  for (const { rule, chance } of hits) {
    switch (rule.kind) {
      case "latency":
        await ports.sleep(rule.ms + Math.floor(chance * (rule.jitter_ms + 1)));
        break;
      case "stall":
        if (rule.effect === "before") await stall(rule, ports);
        break;
      case "reset-before":
        throw new ConnectionLost("before the operation");
      case "not-http":
        if (rule.effect === "before") throw notHttp(rule);
        break;
      case "concurrent-edit":
      case "shift":
        for (const request of await concurrentRequests(rule, chance, ports)) await ports.send(request);
        break;
      case "status":
        if (rule.effect === "before") return statusResponse(rule, ports);
        break;
      case "html":
        if (rule.effect === "before") return page(rule.status);
        break;
      case "content-type":
      case "unknown-fields":
      case "expired-invitation":
      case "invitation-limit":
      case "without-fields":
      case "large-numbers":
      case "predefined-role":
      case "replacing-put":
      case "unassignable-roles":
      case "reset-after":
      case "truncate":
      case "partial-json":
        break;
      default:
        rule satisfies never;
    }
  }
  return undefined;
}

/** Returns a response's text and the first half of it; an empty text counts as `{}`. */
function halfOf(response: ResponseData): { readonly half: string; readonly whole: string } {
  const whole = responseText(response) ?? "{}";
  return { half: whole.slice(0, Math.floor(whole.length / 2)), whole };
}

function truncated(response: ResponseData): ConnectionLost {
  const { half, whole } = halfOf(response);
  return new ConnectionLost("inside the response", {
    status: response.status,
    contentType: response.contentType ?? null,
    length: Buffer.byteLength(whole),
    text: half,
  });
}

/** Runs the faults that follow the operation: alters its response or breaks the connection. */
export async function injectAfter(
  hits: readonly FaultHit[],
  original: ResponseData,
  ports: FaultPorts,
): Promise<ResponseData> {
  let response = original;
  for (const { rule } of hits) {
    switch (rule.kind) {
      case "unknown-fields":
        response = withUnknownFields(response);
        break;
      case "without-fields":
        response = omitFields(response, rule.fields);
        break;
      case "large-numbers":
        response = withLargeNumbers(response);
        break;
      case "predefined-role":
        response = hidePredefined(response, rule.answer, ports.request);
        break;
      case "stall":
        if (rule.effect === "after") await stall(rule, ports);
        break;
      case "reset-after":
        throw new ConnectionLost("after the operation");
      case "not-http":
        if (rule.effect === "after") throw notHttp(rule);
        break;
      case "truncate":
        throw truncated(response);
      case "partial-json":
        response = { ...response, body: undefined, text: halfOf(response).half };
        break;
      case "content-type":
        response = { ...response, contentType: rule.type };
        break;
      case "status":
        if (rule.effect === "after") response = statusResponse(rule, ports);
        break;
      case "html":
        if (rule.effect === "after") response = page(rule.status);
        break;
      case "latency":
      case "reset-before":
      case "expired-invitation":
      case "invitation-limit":
      case "replacing-put":
      case "unassignable-roles":
      case "concurrent-edit":
      case "shift":
        break;
      default:
        rule satisfies never;
    }
  }
  return response;
}
