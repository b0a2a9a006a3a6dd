import { RolecallError } from "../model/errors.ts";
import type { LiveEvent } from "../model/ports.ts";
import { type Attempted, answerFailure, badAnswer, isHtml, lostFailure, notSent } from "./failures.ts";
import type { Limiter, Verdict } from "./limiter.ts";
import type { Operation } from "./operations.ts";
import { nextWait, parseRetryAfter, type RetryPolicy, type Spent, type Trouble } from "./retry.ts";
import { LostAnswer, type Transport, type TransportRequest, type TransportResponse } from "./transport.ts";

/** What a client is made with. */
export interface ClientOptions {
  readonly transport: Transport;
  readonly key: string;
  /** Name of the environment variable that held the key: for hints. */
  readonly keySource: string;
  readonly limiter: Limiter;
  readonly retry: RetryPolicy;
  readonly now: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly random: () => number;
  readonly emit: (event: LiveEvent) => void;
  /** Once aborted, nothing is waited for any more: what would have to be sent again ends with the failure it had. */
  readonly hurry: AbortSignal;
}

/** One call of the service; `read` turns the body into what the caller wants, and throws where it cannot. */
export interface Call<T> {
  readonly operation: Operation;
  readonly method: TransportRequest["method"];
  readonly path: string;
  readonly body?: object;
  /** What the body holds that no message may repeat. */
  readonly secrets?: readonly string[];
  readonly read: (body: string) => T;
  /** Instead of the client's own. */
  readonly retry?: RetryPolicy;
  /** Longest that each attempt is waited for, in milliseconds, where that is less than usual. */
  readonly withinMs?: number;
  /** When it is aborted the call ends and rejects with the signal's reason; a write in the air is let finish. */
  readonly signal?: AbortSignal | undefined;
}

/** Sends calls to one service: in turn, repeated where that is safe, every failure worded. Throws RolecallError. */
export interface Client {
  send<T>(call: Call<T>): Promise<T>;
}

type Ended<T> = { readonly ok: true; readonly value: T } | Failed;

interface Failed {
  readonly ok: false;
  readonly error: RolecallError;
  /** Null where repeating cannot help. */
  readonly trouble: Trouble | null;
  /** Null where no answer came. */
  readonly status: number | null;
}

/** A client for one service and key. */
export function createClient(options: ClientOptions): Client {
  const { limiter, retry, now, sleep, random, emit, hurry, key } = options;
  // Anything else could not be a header, and the error about it would show the key.
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new RolecallError("key-malformed", `The key in ${options.keySource} is empty or holds spaces.`, {
      hint: "Set it again, without quotes, spaces or line breaks.",
    });
  }

  const waitBefore = (call: Call<unknown>, trouble: Trouble | null, spent: Spent): number | null =>
    trouble === null || hurry.aborted
      ? null
      : nextWait(call.retry ?? retry, trouble, isOnce(call), spent, random());

  return {
    async send<T>(call: Call<T>): Promise<T> {
      let began: number | undefined;
      let doubt = false;
      let last: RolecallError | undefined;
      const { signal } = call;
      const unlessHurried = hurried(call, hurry, () => last);
      for (let attempts = 1; ; attempts += 1) {
        const permit = await unlessHurried(limiter.acquire(attempts > 1, signal));
        let verdict: Verdict = "other";
        let rest = 0;
        try {
          began ??= now();
          const ended: Ended<T> = await attempt(call, { attempts, doubt }, options);
          verdict = verdictOf(ended);
          if (ended.ok) return ended.value;
          const { trouble, error }: Failed = ended;
          const spent = { attempts, ms: now() - began };
          const wait = waitBefore(call, trouble, spent);
          if (trouble === null || wait === null) throw error;
          last = error;
          emit({ type: "wait", ms: wait, reason: REASONS[trouble.kind] });
          doubt ||= trouble.kind === "uncertain";
          // Before the permit goes back, or whoever is next would still slip out.
          if (trouble.kind === "rate-limited") limiter.pause(wait);
          else rest = wait;
        } finally {
          permit.release(verdict);
        }
        if (rest > 0) await unlessHurried(sleep(rest, either(hurry, signal)));
      }
    },
  };
}

const REASONS: Readonly<Record<Trouble["kind"], string>> = {
  "rate-limited": "the service asks for fewer requests (429)",
  "not-sent": "the service could not be reached",
  uncertain: "the service or the connection failed",
};

function verdictOf(ended: Ended<unknown>): Verdict {
  if (ended.ok) return "ok";
  return ended.status === 429 ? "rate-limited" : "other";
}

/** A signal of its own even for one: dozens of listeners on the same make Node.js warn of a leak. */
function either(one: AbortSignal, other: AbortSignal | undefined): AbortSignal {
  return AbortSignal.any(other ? [one, other] : [one]);
}

/** Makes a wait that is cut short end with the failure that made it necessary. */
function hurried(call: Call<unknown>, hurry: AbortSignal, last: () => RolecallError | undefined) {
  return <T>(waited: Promise<T>): Promise<T> =>
    waited.catch((reason: unknown) => {
      throw hurry.aborted && !call.signal?.aborted ? (last() ?? notSent(call)) : reason;
    });
}

/** Sent twice, a create could make two of a thing; everything else only says again how it should be. */
function isOnce(call: { readonly method: string }): boolean {
  return call.method === "POST";
}

/** How far a call has come: `doubt` when an earlier attempt may have been carried out. */
interface Progress {
  readonly attempts: number;
  readonly doubt: boolean;
}

async function attempt<T>(call: Call<T>, progress: Progress, options: ClientOptions): Promise<Ended<T>> {
  const { transport, emit, now, keySource, key } = options;
  const { method, path, operation, secrets = [] } = call;
  const attempted: Attempted = {
    operation,
    method,
    path,
    ...progress,
    keySource,
    write: method !== "GET",
    secrets: [key, ...secrets],
  };
  const sent = now();
  emit({ type: "request", method, path, attempt: progress.attempts });
  try {
    const answer = await transport(requestOf(call, key));
    emit({ type: "answer", method, path, status: answer.status, ms: now() - sent });
    return judge(call, answer, attempted, now());
  } catch (error) {
    if (!(error instanceof LostAnswer)) throw error;
    emit({ type: "no-answer", method, path, reason: error.message, ms: now() - sent });
    return { ok: false, error: lostFailure(error, attempted), trouble: troubleOf(error), status: null };
  }
}

function requestOf(call: Call<unknown>, key: string): TransportRequest {
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
    ...(method === "GET" && signal && { signal }),
    ...(withinMs !== undefined && { withinMs }),
  };
}

function judge<T>(call: Call<T>, answer: TransportResponse, attempted: Attempted, now: number): Ended<T> {
  const { status } = answer;
  if (status >= 200 && status < 300) return understood(call, answer, attempted);
  // An earlier attempt has done it, and its answer was lost.
  if (status === 404 && call.method === "DELETE" && attempted.doubt) {
    return { ok: true, value: call.read("") };
  }
  const retryAfterMs = parseRetryAfter(answer.header("retry-after"), now);
  const trouble: Trouble | null =
    status === 429
      ? { kind: "rate-limited", retryAfterMs }
      : status >= 500 || status === 424
        ? { kind: "uncertain", retryAfterMs }
        : null;
  return { ok: false, error: answerFailure(answer, attempted), trouble, status };
}

function understood<T>(call: Call<T>, answer: TransportResponse, attempted: Attempted): Ended<T> {
  // A web page is the wrong address or a login on the way, and stays it.
  if (isHtml(answer)) {
    return { ok: false, error: badAnswer(answer, attempted, ""), trouble: null, status: answer.status };
  }
  try {
    return { ok: true, value: call.read(answer.body) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    // Half an answer may come whole the next time; a whole one of another form stays what it is.
    const trouble: Trouble | null =
      error instanceof SyntaxError ? { kind: "uncertain", retryAfterMs: null } : null;
    return { ok: false, error: badAnswer(answer, attempted, reason), trouble, status: answer.status };
  }
}

function troubleOf({ kind, sent }: LostAnswer): Trouble | null {
  if (kind === "too-large" || kind === "untrusted") return null;
  return sent ? { kind: "uncertain", retryAfterMs: null } : { kind: "not-sent" };
}
