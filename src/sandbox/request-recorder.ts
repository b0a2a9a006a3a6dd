/** A request in the log. */
export interface RequestEntry {
  readonly number: number;
  /** ISO 8601. */
  readonly time: string;
  readonly method: string;
  /** Name of the operation, such as `members.create`; null if it is not part of the contract. */
  readonly operation: string | null;
  /** Merchant code, or null. */
  readonly merchant: string | null;
  /** Id of the requested or created role or member, or null. */
  readonly resource: string | null;
  /** E-mail address or role name in the body of a creation; otherwise null. */
  readonly name: string | null;
  /** Whether the request changed the state, even if its answer was lost. */
  readonly committed: boolean;
  /** Version of the state that was read or written; null if neither. */
  readonly state: number | null;
  /** Path with query. */
  readonly path: string;
  /** Null if the connection was broken instead of an answer. */
  readonly status: number | null;
  /** Label of the API key; null if missing or unknown. */
  readonly key: string | null;
  /** True for requests through the control routes. */
  readonly somebody_else: boolean;
  readonly ms: number;
  /** Kinds of the faults that hit the request. */
  readonly faults: readonly string[];
}

/** A log of the latest requests, in the order in which they ended. */
export interface RequestRecorder {
  /** Returns the number of a new request. */
  begin(): number;
  end(entry: RequestEntry): void;
  entries(): readonly RequestEntry[];
  clear(): void;
  /** Returns the maximum number of entries. */
  bound(): number;
  /** Sets the maximum number of entries. */
  keep(bound: number): void;
}

/** Default size of the log. */
export const DEFAULT_MAX_REQUESTS = 1000;

/** Creates a request log of a limited size. */
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
      // Trim in bulk: trimming on each request would copy the list each time.
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

/** Formats a request as one line that is safe to print. */
export function logLine({ method, path, status, ms }: RequestEntry): string {
  const line = `${method} ${path} ${status ?? "connection-lost"} ${ms}ms`;
  return line.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (char) => {
    const code = char.codePointAt(0) ?? 0;
    return `\\u{${code.toString(16)}}`;
  });
}
