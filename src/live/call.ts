import type { RolecallError } from "../model/errors.ts";
import type { LiveEvent } from "../model/events.ts";
import type { HoldBack, Recheck } from "../model/ports.ts";
import type { Operation, RequestContext } from "./problem-details.ts";
import { answerFailure, badAnswer, invitationLimited, isHtml, lostFailure } from "./request-errors.ts";
import { type Next, parseRetryAfter, type RetryPolicy, type RetryReason } from "./retry.ts";
import { LostAnswer, type Transport, type TransportRequest, type TransportResponse } from "./transport.ts";

/** One call of the service; `read` turns the body into what the caller wants, and throws where it cannot. */
export interface Call<T> {
  readonly operation: Operation;
  readonly method: TransportRequest["method"];
  readonly path: string;
  readonly body?: object;
  /** What the body holds that no message may repeat, neither of this call nor of a later one. */
  readonly secrets?: readonly string[];
  readonly read: (body: string) => T;
  /** Makes another policy of the client's own. */
  readonly retry?: (policy: RetryPolicy) => RetryPolicy;
  /**
   * For a call that must not be done twice and may have been: finds out what it has made, null where there is nothing.
   * Throws RolecallError where that cannot be known, or something else is there.
   * Without it such a call ends with its outcome unknown.
   */
  readonly recover?: (failure: RolecallError) => Promise<T | null>;
  /**
   * For a call that somebody has looked before: looks again where it had to wait since. It is not sent any more where
   * that says `done` (`read` is then given nothing), or throws.
   */
  readonly recheck?: Recheck | undefined;
  /** Called before a write is first sent, once its turn has come; where it throws, nothing is sent. */
  readonly beforeSending?: (() => Promise<void>) | undefined;
  /** The address that is invited: a refusal (429) may concern that one alone. */
  readonly address?: string;
  /** How an invitation waits while its address is refused; absent: like any other request. */
  readonly holdBack?: HoldBack | undefined;
  /** Longest that each attempt is waited for, in milliseconds, where that is less than usual. */
  readonly withinMs?: number;
  /** When it is aborted the call ends and rejects with the signal's reason; a write in the air is let finish. */
  readonly signal?: AbortSignal | undefined;
}

/** What each attempt is made with. */
export interface AttemptOptions {
  readonly transport: Transport;
  readonly key: string;
  /** Name of the environment variable that held the key: for hints. */
  readonly keySource: string;
  /** What no message may repeat. */
  readonly secrets: ReadonlySet<string>;
  /** Milliseconds on a clock that is never set back. */
  readonly now: () => number;
  /** Milliseconds since the epoch. */
  readonly date: () => number;
  readonly emit: (event: LiveEvent) => void;
  /** Once aborted, no write leaves any more. */
  readonly cancelled: AbortSignal;
}

/** How one attempt ended. */
export type AttemptResult<T> = { readonly ok: true; readonly value: T } | Failed;

/** An attempt that did not succeed. */
export interface Failed {
  readonly ok: false;
  readonly error: RolecallError;
  /** Null where repeating cannot help. */
  readonly retryReason: RetryReason | null;
  /** Null where no answer came. */
  readonly status: number | null;
  /** Null, or absent, where nothing comes after it. */
  readonly next?: Next | null;
}

/** Sends a call once; `onResponse` hears that it was answered well before what the answer says is read. */
export async function attempt<T>(
  call: Call<T>,
  state: Pick<RequestContext, "attempts" | "maybeApplied">,
  options: AttemptOptions,
  onResponse: () => void,
): Promise<AttemptResult<T>> {
  const { transport, emit, now, date, keySource, key, secrets } = options;
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
    const answer = await transport(requestOf(call, key, options.cancelled));
    emit({ type: "answer", method, path, status: answer.status, ms: now() - sent });
    // After a write nothing goes out before its answer is understood.
    if (method === "GET" && isWell(answer)) onResponse();
    return judge(call, answer, context, date());
  } catch (error) {
    if (!(error instanceof LostAnswer)) throw error;
    emit({ type: "no-answer", method, path, reason: error.message, ms: now() - sent });
    return { ok: false, error: lostFailure(error, context), retryReason: retryReasonOf(error), status: null };
  }
}

function requestOf(call: Call<unknown>, key: string, cancelled: AbortSignal): TransportRequest {
  const { method, path, body, signal, withinMs } = call;
  return {
    method,
    path,
    headers: {
      accept: "application/problem+json, application/json",
      authorization: `Bearer ${key}`,
      "user-agent": "rolecall",
      ...(body && { "content-type": "application/json" }),
    },
    ...(body && { body: JSON.stringify(body) }),
    // Cut off, a write would leave it open whether it was carried out.
    ...(method === "GET" ? signal && { signal } : { notAfter: cancelled }),
    ...(withinMs !== undefined && { withinMs }),
  };
}

function judge<T>(
  call: Call<T>,
  answer: TransportResponse,
  context: RequestContext,
  now: number,
): AttemptResult<T> {
  const { status } = answer;
  if (isWell(answer)) return understood(call, answer, context);
  // An earlier attempt has done it, and its answer was lost.
  if (status === 404 && call.method === "DELETE" && context.maybeApplied) {
    return { ok: true, value: call.read("") };
  }
  const retryAfterMs = parseRetryAfter(answer.header("retry-after"), sentOn(answer, now));
  const retryReason: RetryReason | null =
    status === 429
      ? { kind: "rate-limited", retryAfterMs }
      : status >= 500 || status === 424
        ? { kind: "uncertain", retryAfterMs }
        : null;
  const failure = answerFailure(answer, context);
  const error =
    retryReason?.kind === "rate-limited" && call.address !== undefined
      ? invitationLimited(failure, call.address, now, retryReason.retryAfterMs)
      : failure;
  return { ok: false, error, retryReason, status };
}

/** When the service sent an answer, by its own clock if it says so: a date in it is meant by that one. */
function sentOn(answer: TransportResponse, now: number): number {
  const date = Date.parse(answer.header("date") ?? "");
  return Number.isNaN(date) ? now : date;
}

function isWell({ status }: TransportResponse): boolean {
  return status >= 200 && status < 300;
}

function understood<T>(call: Call<T>, answer: TransportResponse, context: RequestContext): AttemptResult<T> {
  if (isHtml(answer)) {
    // A web page is the wrong address or a login on the way, and stays it; unless what was created can be looked up.
    const retryReason: RetryReason | null = call.recover ? { kind: "uncertain", retryAfterMs: null } : null;
    return { ok: false, error: badAnswer(answer, context, ""), retryReason, status: answer.status };
  }
  try {
    return { ok: true, value: call.read(answer.body) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    // Half an answer may come whole the next time; a whole one of another form stays what it is.
    const retryReason: RetryReason | null =
      error instanceof SyntaxError ? { kind: "uncertain", retryAfterMs: null } : null;
    return { ok: false, error: badAnswer(answer, context, reason), retryReason, status: answer.status };
  }
}

function retryReasonOf({ kind, sent }: LostAnswer): RetryReason | null {
  if (kind === "too-large" || kind === "untrusted") return null;
  return sent ? { kind: "uncertain", retryAfterMs: null } : { kind: "not-sent" };
}
