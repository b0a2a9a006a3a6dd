import type { RolecallError } from "../../src/model/errors.ts";
import type { LiveEvent } from "../../src/model/events.ts";
import { connectProbe, type Probe } from "../../src/service/probe-operations.ts";
import { connect, type Service } from "../../src/service/service.ts";
import { type Clock, createClock } from "../support/clock.ts";
import { inProcess } from "../support/in-process.ts";

export const KEY = "sk_test_very_secret_key";
export const ROLES = "/v0.1/merchants/MC1/roles";
export const MEMBERSHIPS = "/v0.1/memberships";
export const MEMBERS = "/v0.1/merchants/MC1/members";

/** One request as a handler got it. */
export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every form.
  readonly body: any;
}

/** Answers a request; `count` says the how-manieth with this method and path it is, from 1. */
export type Handler = (seen: Seen, count: number) => Response | Promise<Response>;

/** A connected client whose service is a handler. */
export interface Harness extends Service, Probe {
  readonly seen: readonly Seen[];
  readonly events: readonly LiveEvent[];
  readonly clock: Clock;
}

interface HarnessOptions {
  readonly concurrency?: number;
  readonly retryForMs?: number;
  readonly maxItems?: number;
  readonly signal?: AbortSignal;
  /** The wall clock, where it is not the one that waits. */
  readonly now?: () => number;
}

/**
 * Connects a client to a handler.
 * The caller's memberships are answered beside it, with none, and not counted: few tests are about them.
 */
export function connectTo(
  handler: Handler,
  options: HarnessOptions & { readonly memberships?: Handler } = {},
): Harness {
  const { memberships, ...rest } = options;
  const seen: Seen[] = [];
  const counts = new Map<string, number>();
  return connectToFetch(
    async (request) => {
      const url = new URL(request.url);
      const text = await request.text();
      const one: Seen = {
        method: request.method,
        path: url.pathname,
        query: url.searchParams,
        headers: request.headers,
        body: text === "" ? undefined : JSON.parse(text),
      };
      if (one.path === MEMBERSHIPS && !memberships) return json({ items: [], total_count: 0 });
      seen.push(one);
      const line = `${one.method} ${one.path}`;
      const count = (counts.get(line) ?? 0) + 1;
      counts.set(line, count);
      return one.path === MEMBERSHIPS && memberships ? memberships(one, count) : handler(one, count);
    },
    { ...rest, seen },
  );
}

/** Connects a client to anything that is driven by `fetch`. */
export function connectToFetch(
  fetch: (request: Request) => Promise<Response>,
  options: HarnessOptions & { readonly seen?: readonly Seen[]; readonly key?: string } = {},
): Harness {
  const events: LiveEvent[] = [];
  const clock = createClock();
  const connection = {
    baseUrl: "https://api.example.com",
    key: options.key ?? KEY,
    keySource: "RETAIL_API_KEY",
    userAgent: "rolecall/1.2.3 node/24.1.0",
    concurrency: options.concurrency ?? 8,
    now: options.now ?? clock.now,
    monotonic: clock.now,
    sleep: clock.sleep,
    later: () => () => undefined,
    random: () => 0.5,
    emit: (event: LiveEvent) => events.push(event),
    transport: inProcess(fetch),
    ...(options.retryForMs !== undefined && { retryForMs: options.retryForMs }),
    ...(options.maxItems !== undefined && { maxItems: options.maxItems }),
    ...(options.signal && { signal: options.signal }),
  };
  return { ...connectProbe(connection), ...connect(connection), seen: options.seen ?? [], events, clock };
}

/** A JSON answer. */
export function json(body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json", ...headers },
  });
}

/** A Problem as the contract has it. */
export function problem(
  status: number,
  fields: object = {},
  headers: Readonly<Record<string, string>> = {},
): Response {
  return json({ type: "https://example.com/problem/some-kind", status, ...fields }, status, {
    "content-type": "application/problem+json",
    ...headers,
  });
}

/** A web page where JSON belongs. */
export function page(status = 200): Response {
  return new Response("<!doctype html><title>Sign in</title><p>Please sign in.", {
    status,
    headers: { "content-type": "text/html" },
  });
}

/** A role as the service sends it. */
export function wireRole(id: string, more: object = {}): object {
  return {
    id,
    name: `Name of ${id}`,
    permissions: ["catalog_view"],
    is_predefined: false,
    created_at: "2026-01-01T00:00:00Z",
    updated_at: "2026-01-02T00:00:00Z",
    ...more,
  };
}

/** A member as the service sends it. */
export function wireMember(id: string, more: object = {}): object {
  return {
    id,
    roles: [],
    permissions: [],
    status: "accepted",
    created_at: "2026-01-01T00:00:00Z",
    updated_at: "2026-01-02T00:00:00Z",
    user: {
      id: `user of ${id}`,
      email: `${id}@example.com`,
      mfa_on_login_enabled: true,
      virtual_user: false,
      service_account_user: false,
    },
    ...more,
  };
}

/** Members `mem_0`, `mem_1` and so on. */
export function wireMembers(count: number): readonly object[] {
  return Array.from({ length: count }, (_, index) => wireMember(`mem_${index}`));
}

/** The page of a list that a request asks for, from a service that gives no more than `most` at a time. */
export function pageOf(
  members: readonly object[],
  { query }: Seen,
  most = 25,
): { items: readonly object[]; total_count: number } {
  const offset = Number(query.get("offset"));
  const limit = Math.min(Number(query.get("limit")), most);
  return { items: members.slice(offset, offset + limit), total_count: members.length };
}

/** A service that holds these and answers every read well. */
export function holding(members: readonly object[], roles: readonly object[] = []): Handler {
  return (seen) => {
    if (seen.path === MEMBERS) return json(pageOf(members, seen));
    if (seen.path === ROLES) return json({ items: roles });
    return problem(404);
  };
}

/** What a promise rejects with. */
export async function failureOf(promise: Promise<unknown>): Promise<RolecallError> {
  try {
    await promise;
  } catch (error) {
    return error as RolecallError;
  }
  throw new Error("it did not fail");
}
