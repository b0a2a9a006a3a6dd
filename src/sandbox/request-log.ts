/** One request that the sandbox answered. */
export interface RequestEntry {
  readonly number: number;
  /** ISO 8601. */
  readonly time: string;
  readonly method: string;
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

/** The latest requests, oldest first. */
export interface RequestLog {
  /** The number of the request that begins now. */
  begin(): number;
  end(entry: RequestEntry): void;
  entries(): readonly RequestEntry[];
  clear(): void;
}

/** Keeps the latest requests, and forgets the oldest ones beyond a bound. */
export function createRequestLog(bound = 1000): RequestLog {
  let count = 0;
  let kept: RequestEntry[] = [];
  return {
    begin: () => {
      count += 1;
      return count;
    },
    end: (entry) => {
      kept.push(entry);
      // Cut in bulk: cutting off one at each request would copy the list each time.
      if (kept.length >= bound * 2) kept = kept.slice(-bound);
    },
    entries: () => kept.slice(-bound),
    clear: () => {
      kept = [];
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
