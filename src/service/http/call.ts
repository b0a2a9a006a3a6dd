import type { RolecallError } from "../../model/errors.ts";
import type { LiveEvent } from "../../model/events.ts";
import type { HoldBack, Recheck } from "../../model/ports.ts";
import type { Operation, RequestContext } from "./problem-details.ts";
import { badResponse, invitationLimited, isHtml, lostFailure, responseFailure } from "./request-errors.ts";
import { type Next, parseRetryAfter, type RetryPolicy, type RetryReason } from "./retry.ts";
import { LostResponse, type Transport, type TransportRequest, type TransportResponse } from "./transport.ts";

/** A call of one operation; `read` parses the body of its response, and throws if it cannot. */
export interface Call<T> {
  readonly operation: Operation;
  readonly method: TransportRequest["method"];
  readonly path: string;
  readonly body?: object;
  /** Secrets in the body: no message may repeat them, neither of this call nor of a later one. */
  readonly secrets?: readonly string[];
  readonly read: (body: string) => T;
  /** Derives the retry policy of this call from the client's. */
  readonly retry?: (policy: RetryPolicy) => RetryPolicy;
  /**
   * Looks up what a call has created whose response was lost; `null` if nothing. Throws RolecallError if the lookup
   * fails or finds something else. Without it, such a call ends with an unknown outcome.
   */
  readonly recover?: (failure: RolecallError) => Promise<T | null>;
  /**
   * Repeats the caller's precondition check if the call had to wait since. On `done` (`read` then gets an empty body),
   * or if it throws, the call is not sent.
   */
  readonly recheck?: Recheck | undefined;
  /** Runs before a write is first sent, once it has its permit; if it throws, nothing is sent. */
  readonly beforeSending?: (() => Promise<void>) | undefined;
  /** Completes a change that is begun: after a stop it is sent once, without waiting. */
  readonly finishes?: true | undefined;
  /** The invited address: a 429 may concern that address alone. */
  readonly address?: string;
  /**
   * Delays an invitation while its address is refused, without blocking other work; absent: it waits like any request.
   */
  readonly holdBack?: HoldBack | undefined;
  /** Position in the queue: a call waits until those of an earlier turn are sent; absent: 0. */
  readonly turn?: number;
  /** Timeout of each attempt, in ms, if shorter than usual. */
  readonly withinMs?: number;
  /** Rejects the call with its reason when aborted; a write in flight still ends. */
  readonly signal?: AbortSignal | undefined;
}

/** The dependencies of an attempt. */
export interface AttemptOptions {
  readonly transport: Transport;
  readonly key: string;
  /** Name of the environment variable with the key, for hints. */
  readonly keySource: string;
  readonly userAgent: string;
  /** Secrets that no message may repeat. */
  readonly secrets: ReadonlySet<string>;
  /** Returns the time of a monotonic clock, in ms. */
  readonly now: () => number;
  /** Returns the wall-clock time, in ms since the epoch. */
  readonly date: () => number;
  readonly emit: (event: LiveEvent) => void;
  /** Once aborted, no write is sent. */
  readonly cancelled: AbortSignal;
}

/** The result of an attempt. */
export type AttemptResult<T> = { readonly ok: true; readonly value: T } | Failed;

/** The result of a failed attempt. */
export interface Failed {
  readonly ok: false;
  readonly error: RolecallError;
  /** `null` if a retry cannot help. */
  readonly retryReason: RetryReason | null;
  /** HTTP status; `null` without a response. */
  readonly status: number | null;
  /** The wait before the next attempt, or the limit that rules one out; absent or `null` if it is not retried. */
  readonly next?: Next | null;
}

/** Sends a call once; `onResponse` is called on success before the body is parsed. */
export async function attempt<T>(
  call: Call<T>,
  state: Pick<RequestContext, "attempts" | "maybeApplied">,
  options: AttemptOptions,
  onResponse: () => void,
): Promise<AttemptResult<T>> {
  const { transport, emit, now, date, keySource, secrets } = options;
  const { method, path, operation } = call;
  const context: RequestContext = {
    operation,
    method,
    path,
    attempts: state.attempts,
    maybeApplied: state.maybeApplied,
    keySource,
    write: method !== "GET",
    secrets: [...secrets],
  };
  const sent = now();
  emit({ type: "request", method, path, attempt: state.attempts });
  try {
    const response = await transport(requestOf(call, options));
    emit({ type: "response", method, path, status: response.status, ms: now() - sent });
    // A write keeps its permit until its response is parsed: a bad one stops the run.
    if (method === "GET" && isSuccess(response)) onResponse();
    return toResult(call, response, context, date());
  } catch (error) {
    if (!(error instanceof LostResponse)) throw error;
    emit({ type: "no-response", method, path, reason: error.message, ms: now() - sent });
    return { ok: false, error: lostFailure(error, context), retryReason: retryReasonOf(error), status: null };
  }
}

function requestOf(
  call: Call<unknown>,
  { key, userAgent, cancelled }: Pick<AttemptOptions, "key" | "userAgent" | "cancelled">,
): TransportRequest {
  const { method, path, body, signal, withinMs, finishes } = call;
  return {
    method,
    path,
    headers: {
      accept: "application/problem+json, application/json",
      authorization: `Bearer ${key}`,
      "user-agent": userAgent,
      ...(body && { "content-type": "application/json" }),
    },
    ...(body && { body: JSON.stringify(body) }),
    // An aborted write would have an unknown outcome.
    ...(method === "GET" ? signal && { signal } : !finishes && { notAfter: cancelled }),
    ...(withinMs !== undefined && { withinMs }),
  };
}

function toResult<T>(
  call: Call<T>,
  response: TransportResponse,
  context: RequestContext,
  now: number,
): AttemptResult<T> {
  const { status } = response;
  if (isSuccess(response)) return parseResponse(call, response, context);
  // An earlier attempt has deleted it, and its response was lost.
  if (status === 404 && call.method === "DELETE" && context.maybeApplied) {
    return { ok: true, value: call.read("") };
  }
  const retryAfterMs = parseRetryAfter(response.header("retry-after"), sentOn(response, now));
  const isRead = call.method === "GET";
  const retryReason: RetryReason | null =
    status === 429
      ? { kind: "rate-limited", retryAfterMs }
      : (status >= 500 && !(isRead && status === 501)) || status === 424 || (isRead && status === 408)
        ? { kind: "uncertain", retryAfterMs }
        : null;
  const failure = responseFailure(response, context);
  const error =
    retryReason?.kind === "rate-limited" && call.address !== undefined
      ? invitationLimited(failure, call.address, now, retryReason.retryAfterMs)
      : failure;
  return { ok: false, error, retryReason, status };
}

/** Returns when a response was sent, by the service's clock if it has a Date header: Retry-After refers to that clock. */
function sentOn(response: TransportResponse, now: number): number {
  const date = Date.parse(response.header("date") ?? "");
  return Number.isNaN(date) ? now : date;
}

function isSuccess({ status }: TransportResponse): boolean {
  return status >= 200 && status < 300;
}

function parseResponse<T>(
  call: Call<T>,
  response: TransportResponse,
  context: RequestContext,
): AttemptResult<T> {
  if (isHtml(response)) {
    // HTML comes from a wrong address or a login page, so a retry cannot help; a create can still be looked up.
    const retryReason: RetryReason | null = call.recover ? { kind: "uncertain", retryAfterMs: null } : null;
    return { ok: false, error: badResponse(response, context, ""), retryReason, status: response.status };
  }
  try {
    return { ok: true, value: call.read(response.body) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    // A truncated body may be complete on a retry; a complete one of another form stays invalid.
    const retryReason: RetryReason | null =
      error instanceof SyntaxError ? { kind: "uncertain", retryAfterMs: null } : null;
    return { ok: false, error: badResponse(response, context, reason), retryReason, status: response.status };
  }
}

function retryReasonOf({ kind, sent }: LostResponse): RetryReason | null {
  if (kind === "too-large" || kind === "untrusted" || kind === "refused") return null;
  return sent ? { kind: "uncertain", retryAfterMs: null } : { kind: "not-sent" };
}
