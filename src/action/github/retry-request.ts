/** The part of an error response, or of an unreadable one, that determines the delay of a retry. */
export interface RefusedRequest {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | number | undefined>>;
  readonly message: string;
}

export interface RetryEffects {
  now(): number;
  sleep(ms: number): Promise<void>;
  /** Logs the reason for a delay. */
  log(text: string): void;
}

const MAX_ATTEMPTS = 5;
const MAX_WAIT_MS = 2 * 60_000;
const MAX_TOTAL_WAIT_MS = 5 * 60_000;
/** GitHub's recommendation for secondary rate limits without a header. */
const SECONDARY_WAIT_MS = 60_000;
const FAILURE_WAIT_MS = 1_000;

/**
 * Retries a request after rate limits, and a repeatable one after server errors and unreadable responses, within a limited number of attempts and
 * a limited time. `refusalOf` extracts the response from an error of `send`.
 */
export async function withRetries<T>(
  send: () => Promise<T>,
  refusalOf: (error: unknown) => RefusedRequest | null,
  repeatable: boolean,
  effects: RetryEffects,
): Promise<T> {
  let waited = 0;
  for (let attempt = 1; ; attempt++) {
    try {
      return await send();
    } catch (error) {
      const refused = refusalOf(error);
      const wait = refused && waitFor(refused, repeatable, attempt, effects.now());
      if (wait === null || attempt >= MAX_ATTEMPTS) throw error;
      if (wait > MAX_WAIT_MS || waited + wait > MAX_TOTAL_WAIT_MS) throw error;
      waited += wait;
      if (wait > 0) effects.log(waitingText(refused?.status ?? 0, wait));
      await effects.sleep(wait);
    }
  }
}

function waitingText(status: number, ms: number): string {
  const seconds = `${(ms / 1000).toFixed(0)} s`;
  if (status < 300) return `GitHub's response could not be read; the request is retried in ${seconds}.`;
  if (status < 500) return `GitHub asks for a wait of ${seconds} (${status}).`;
  return `GitHub returned ${status}; the request is retried in ${seconds}.`;
}

const SECONDARY_LIMIT = /secondary rate limit|abuse detection/i;

/** Explains the rate limit that refused a request; `null` for any other refusal. */
export function limitOf({ status, headers, message }: RefusedRequest): string | null {
  if (status !== 403 && status !== 429) return null;
  if (SECONDARY_LIMIT.test(message))
    return "GitHub's secondary rate limit is reached: too many concurrent requests";
  const isUsedUp = String(headers["x-ratelimit-remaining"]) === "0" || /rate limit exceeded/i.test(message);
  if (!isUsedUp && status !== 429) return null;
  const reset = Number(headers["x-ratelimit-reset"]);
  const end = reset > 0 ? ` until ${new Date(reset * 1000).toISOString().slice(11, 16)} UTC` : "";
  return `GitHub's rate limit is used up${end}`;
}

/** Returns the delay before the next attempt, in ms; `null` to give up. */
function waitFor(
  { status, headers, message }: RefusedRequest,
  repeatable: boolean,
  attempt: number,
  now: number,
): number | null {
  if (status === 403 || status === 429) {
    const after = Number(headers["retry-after"]);
    if (headers["retry-after"] !== undefined && Number.isFinite(after)) return Math.max(after, 0) * 1000;
    const reset = Number(headers["x-ratelimit-reset"]) * 1000;
    if (String(headers["x-ratelimit-remaining"]) === "0" && Number.isFinite(reset)) {
      return Math.max(reset - now, 0) + 1000;
    }
    if (SECONDARY_LIMIT.test(message)) return SECONDARY_WAIT_MS * 2 ** (attempt - 1);
    return status === 429 ? SECONDARY_WAIT_MS : null;
  }
  return (status >= 500 || status < 300) && repeatable ? FAILURE_WAIT_MS * 2 ** (attempt - 1) : null;
}
