import { Hono } from "hono";
import type { AdminRequest } from "./faults/concurrent-edits.ts";
import { type FaultPorts, injectAfter, injectBefore } from "./faults/fault-injection.ts";
import { retryAfterHeaders } from "./http/rate-limit.ts";
import { ProblemError, problemResponse, type ResponseData, toResponse } from "./http/response.ts";
import { admit, authenticate, CONTRACT_OPERATIONS, keyLabel } from "./routes/authorize.ts";
import { type ContractOperation, readJson, type UncheckedCall } from "./routes/operation.ts";
import type { ApiKey } from "./state/snapshot.ts";
import { type HonoEnv, noteChange, type SandboxContext, type Trace, type World } from "./world.ts";

/** The key of requests through the control routes: every permission, no owner. */
const ADMIN_KEY: ApiKey = { key: "" };

function throttle(world: World, client: string): void {
  const wait = world.limiter?.(client, world.now()) ?? null;
  if (wait === null) return;
  const { rateLimit, retryAfter } = world.settings;
  const headers = retryAfterHeaders(retryAfter, wait, world.wallClock());
  throw new ProblemError(429, `More than ${rateLimit} requests per second.`, headers);
}

function idOf(body: object | undefined): string | null {
  return body !== undefined && "id" in body && typeof body.id === "string" ? body.id : null;
}

/** Returns the only part of a body that is logged; never a password. */
function nameIn(body: unknown): string | null {
  const { email, name }: { email?: unknown; name?: unknown } = Object(body);
  const label = email ?? name;
  return typeof label === "string" ? label : null;
}

function begin(operation: ContractOperation, c: SandboxContext): Trace {
  const { trace } = c.var;
  trace.operation = operation.name;
  trace.merchant = c.req.param("merchant") ?? null;
  trace.resource = c.req.param("id") ?? null;
  return trace;
}

async function handle(
  world: World,
  operation: ContractOperation,
  key: ApiKey,
  c: SandboxContext,
  behaviour: Pick<UncheckedCall, "expired" | "invitations" | "replacing" | "unassignable"> = {},
): Promise<ResponseData> {
  const { store } = world;
  const { trace } = c.var;
  const writes = operation.method !== "GET";
  try {
    const act = admit(operation, store, key, c.req.param("merchant") ?? "");
    const body = writes && operation.method !== "DELETE" ? await readJson(c.req.raw) : undefined;
    if (operation.method === "POST") trace.name = nameIn(body);
    const query = new URLSearchParams(new URL(c.req.url).search);
    const { strict } = world.settings;
    const id = c.req.param("id") ?? "";
    const response = act({ store, id, query, body, strict, ...behaviour, now: world.now() });
    trace.state = world.version;
    if (writes) {
      noteChange(world, trace);
      trace.resource ??= idOf(response.body);
      await world.commit();
    }
    return response;
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    // A 404 or 409 may depend on a change that is not saved yet, and would be wrong after a crash.
    if (writes) await world.whenIdle();
    return problemResponse(error.status, error.message, trace.number, error.headers);
  }
}

function identify(world: World, c: SandboxContext): ApiKey {
  const { trace } = c.var;
  const header = c.req.header("authorization");
  try {
    const key = authenticate(world.store, header);
    trace.key = keyLabel(key);
    throttle(world, key.key);
    return key;
  } catch (error) {
    // Failed authentication has its own budget, so that guessing cannot exhaust that of a real key.
    if (error instanceof ProblemError && error.status === 401) throttle(world, "");
    throw error;
  }
}

type Fetch = (request: Request) => Promise<Response>;

/** Returns a copy of a creation's body for a concurrent request; the original stays readable. */
async function bodyOf(operation: ContractOperation, c: SandboxContext): Promise<unknown> {
  if (operation.method !== "POST") return undefined;
  return readJson(c.req.raw.clone()).catch(() => undefined);
}

function toControlRequest({ method, path, body }: AdminRequest): Request {
  const sent =
    body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
  return new Request(`http://127.0.0.1/_sandbox${path}`, { method, ...sent });
}

function faultPorts(
  world: World,
  fetch: Fetch,
  operation: ContractOperation,
  query: URLSearchParams,
  c: SandboxContext,
): FaultPorts {
  const { number } = c.var.trace;
  return {
    request: number,
    wallClock: () => world.wallClock(),
    sleep: (ms) => world.sleep(ms, c.req.raw.signal),
    account: () => world.store.merchants.get(c.req.param("merchant") ?? ""),
    hit: async () => ({
      number,
      operation: operation.name,
      merchant: c.req.param("merchant") ?? "",
      id: c.req.param("id") ?? "",
      query,
      body: await bodyOf(operation, c),
    }),
    send: async (request) => {
      await fetch(toControlRequest(request));
    },
  };
}

async function handleWithKey(world: World, fetch: Fetch, operation: ContractOperation, c: SandboxContext) {
  const trace = begin(operation, c);
  const { latency, jitter } = world.settings;
  const wait = latency + (jitter > 0 ? Math.floor(world.faults.random() * (jitter + 1)) : 0);
  if (wait > 0) await world.sleep(wait, c.req.raw.signal);
  const key = identify(world, c);
  const query = new URL(c.req.url).searchParams;
  const hits = world.faults.draw(operation.name, query);
  if (hits.length === 0) return toResponse(await handle(world, operation, key, c));
  trace.faults = hits.map(({ rule }) => rule.kind);
  const ports = faultPorts(world, fetch, operation, query, c);
  const early = await injectBefore(hits, ports);
  const expired = hits.flatMap(({ rule }) => (rule.kind === "expired-invitation" ? rule.answer : []))[0];
  const invitations = hits.flatMap((hit) => hit.invitations ?? []);
  const replacing = hits.some(({ rule }) => rule.kind === "replacing-put");
  const unassignable = hits.some(({ rule }) => rule.kind === "unassignable-roles");
  const behaviour = { expired, invitations, replacing, unassignable };
  const response = early ?? (await handle(world, operation, key, c, behaviour));
  return toResponse(await injectAfter(hits, response, ports));
}

function notAllowed(c: SandboxContext, allowed: readonly string[]): never {
  const allow = allowed.join(", ");
  throw new ProblemError(405, `${c.req.method} is not allowed here, only ${allow}.`, { allow });
}

function refuseOtherMethods(app: Hono<HonoEnv>): void {
  for (const path of new Set(CONTRACT_OPERATIONS.map((operation) => operation.path))) {
    const allowed = CONTRACT_OPERATIONS.filter((operation) => operation.path === path).map(
      ({ method }) => method,
    );
    app.all(path, (c) => notAllowed(c, allowed));
  }
}

/** Creates the operations under the control routes: without keys, limits and faults. */
export function adminOperations(world: World): Hono<HonoEnv> {
  const app = new Hono<HonoEnv>();
  for (const operation of CONTRACT_OPERATIONS) {
    app.on(operation.method, operation.path, async (c) => {
      begin(operation, c).throughControl = true;
      return toResponse(await handle(world, operation, ADMIN_KEY, c));
    });
  }
  refuseOtherMethods(app);
  return app;
}

/** Creates the operations of the contract; `fetch` reaches the sandbox itself, for concurrent requests. */
export function keyOperations(world: World, fetch: Fetch): Hono<HonoEnv> {
  const app = new Hono<HonoEnv>();
  for (const operation of CONTRACT_OPERATIONS) {
    app.on(operation.method, operation.path, (c) => handleWithKey(world, fetch, operation, c));
  }
  refuseOtherMethods(app);
  return app;
}
