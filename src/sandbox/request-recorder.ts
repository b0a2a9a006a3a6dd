/** One request that the sandbox answered. */
export interface RequestEntry {
  readonly number: number;
  /** ISO 8601. */
  readonly time: string;
  readonly method: string;
  /** Name of the operation, such as `members.create`; null outside of the contract. */
  readonly operation: string | null;
  /** The merchant's code; null where there is none. */
  readonly merchant: string | null;
  /** The id of the role or member that was asked for or created; null where there is none. */
  readonly resource: string | null;
  /** The e-mail address or role name in a creation's body; null elsewhere. */
  readonly name: string | null;
  /** Whether it changed the state, whatever became of its answer. */
  readonly committed: boolean;
  /** Counts the changes of the state: what a read saw, or what a change made of it; null where neither happened. */
  readonly state: number | null;
  /** Path and query. */
  readonly path: string;
  /** Null where the connection was broken instead of an answer. */
  readonly status: number | null;
  /** What the key is called in logs; null where there was none that the sandbox knows. */
  readonly key: string | null;
  /** True for changes made through the control routes. */
  readonly somebody_else: boolean;
  readonly ms: number;
  /** The kinds of the faults that were put into this answer. */
  readonly faults: readonly string[];
}

/** The latest requests, in the order in which they ended. */
export interface RequestRecorder {
  /** The number of the request that begins now. */
  begin(): number;
  end(entry: RequestEntry): void;
  entries(): readonly RequestEntry[];
  clear(): void;
  /** How many are kept. */
  bound(): number;
  /** Keeps so many from now on. */
  keep(bound: number): void;
}

/** How many requests are kept where nobody says otherwise. */
export const DEFAULT_MAX_REQUESTS = 1000;

/** Keeps the latest requests, and forgets the oldest ones beyond a bound. */
export function createRequestRecorder(initialBound: number): RequestRecorder {
  let count = 0;
  let bound = initialBound;
  let kept: RequestEntry[] = [];
  const latest = () => (bound === 0 ? [] : kept.slice(-bound));
  return {
    begin: () => {
      count += 1;
      return count;
    },
    end: (entry) => {
      kept.push(entry);
      // Cut in bulk: cutting off one at each request would copy the list each time.
      if (kept.length >= bound * 2) kept = latest();
    },
    entries: latest,
    clear: () => {
      kept = [];
    },
    bound: () => bound,
    keep: (next) => {
      bound = next;
      kept = latest();
    },
  };
}

/** A request as one line of text that is safe to print. */
export function logLine({ method, path, status, ms }: RequestEntry): string {
  const line = `${method} ${path} ${status ?? "connection-lost"} ${ms}ms`;
  return line.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (char) => {
    const code = char.codePointAt(0) ?? 0;
    return `\\u{${code.toString(16)}}`;
  });
}
