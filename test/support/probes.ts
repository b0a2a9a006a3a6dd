/** A request in the sandbox's log. */
export interface LoggedRequest {
  readonly method: string;
  readonly path: string;
  /** Of a create: what it was to be called. */
  readonly name: string | null;
  readonly somebody_else: boolean;
}

/** Returns whether a request only asks whether the key may make it: it cannot change anything. */
export function isProbe({ method, path, name }: Omit<LoggedRequest, "somebody_else">): boolean {
  return path.endsWith("_rolecallNoSuch") || (method === "POST" && name === null);
}

/** Returns the requests that were to change something, but for those of somebody else. */
export function writesIn(items: readonly LoggedRequest[]): readonly string[] {
  return items
    .filter(
      (one) => one.method !== "GET" && !one.somebody_else && one.path.startsWith("/v0.1") && !isProbe(one),
    )
    .map(({ method, path }) => `${method} ${path}`);
}
