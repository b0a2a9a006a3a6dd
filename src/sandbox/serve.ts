import { Hono } from "hono";
import { admit, authenticate, keyLabel, OPERATIONS } from "./access.ts";
import { readJson } from "./body.ts";
import type { ApiKey } from "./data.ts";
import { type FaultPorts, injectAfter, injectBefore } from "./inject.ts";
import type { Operation } from "./operation.ts";
import { type Answer, ProblemError, problemAnswer, toResponse } from "./problem.ts";
import type { Env, SandboxContext, World } from "./world.ts";

/** May do everything, and is nobody: whoever uses the control routes. */
const SOMEBODY_ELSE: ApiKey = { key: "" };

function throttle(world: World, client: string): void {
  const seconds = world.limiter?.(client, world.now()) ?? null;
  if (seconds === null) return;
  const limit = world.settings.rateLimit;
  throw new ProblemError(429, `More than ${limit} requests in a second.`, { "retry-after": `${seconds}` });
}

async function handle(world: World, operation: Operation, key: ApiKey, c: SandboxContext): Promise<Answer> {
  const { store } = world;
  const writes = operation.method !== "GET";
  try {
    const act = admit(operation, store, key, c.req.param("merchant") ?? "");
    const body = writes && operation.method !== "DELETE" ? await readJson(c.req.raw) : undefined;
    const query = new URLSearchParams(new URL(c.req.url).search);
    const answer = act({ store, id: c.req.param("id") ?? "", query, body, now: world.now() });
    if (writes) await world.commit();
    return answer;
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    // "It is gone already" must stay true: what it is about may still be on its way to the disk.
    if (writes) await world.settle();
    return problemAnswer(error.status, error.message, c.var.trace.number, error.headers);
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
    // Guessing keys has its own budget, so that it cannot use up a real key's.
    if (error instanceof ProblemError && error.status === 401) throttle(world, "");
    throw error;
  }
}

type Fetch = (request: Request) => Promise<Response>;

function faultPorts(world: World, fetch: Fetch, c: SandboxContext): FaultPorts {
  return {
    request: c.var.trace.number,
    sleep: (ms) => world.sleep(ms, c.req.raw.signal),
    asSomebodyElse: async (method, path, body) => {
      const init =
        body === undefined
          ? { method }
          : { method, body: JSON.stringify(body), headers: { "content-type": "application/json" } };
      await fetch(new Request(`http://127.0.0.1/_sandbox${path}`, init));
    },
  };
}

async function answerKey(world: World, fetch: Fetch, operation: Operation, c: SandboxContext) {
  const { trace } = c.var;
  if (world.settings.latency > 0) await world.sleep(world.settings.latency, c.req.raw.signal);
  const key = identify(world, c);
  const rules = world.faults.draw(operation.name);
  if (rules.length === 0) return toResponse(await handle(world, operation, key, c));
  trace.faults = rules.map((rule) => rule.kind);
  const early = await injectBefore(rules, faultPorts(world, fetch, c));
  return early ?? injectAfter(rules, await handle(world, operation, key, c), trace.number);
}

function notAllowed(c: SandboxContext, allowed: readonly string[]): never {
  const allow = allowed.join(", ");
  throw new ProblemError(405, `${c.req.method} is not possible here, only ${allow}.`, { allow });
}

function refuseOtherMethods(app: Hono<Env>): void {
  for (const path of new Set(OPERATIONS.map((operation) => operation.path))) {
    const allowed = OPERATIONS.filter((operation) => operation.path === path).map(({ method }) => method);
    app.all(path, (c) => notAllowed(c, allowed));
  }
}

/** The operations without keys, limits and faults: for changes made by somebody else. */
export function operationsForSomebodyElse(world: World): Hono<Env> {
  const app = new Hono<Env>();
  for (const operation of OPERATIONS) {
    app.on(operation.method, operation.path, async (c) => {
      c.var.trace.somebodyElse = true;
      return toResponse(await handle(world, operation, SOMEBODY_ELSE, c));
    });
  }
  refuseOtherMethods(app);
  return app;
}

/** The operations as the contract has them; `fetch` is the sandbox itself, for the requests of concurrent edits. */
export function operationsForKeys(world: World, fetch: Fetch): Hono<Env> {
  const app = new Hono<Env>();
  for (const operation of OPERATIONS) {
    app.on(operation.method, operation.path, (c) => answerKey(world, fetch, operation, c));
  }
  refuseOtherMethods(app);
  return app;
}
