import { Hono } from "hono";
import { controlRoutes, overview, refuseWebPages } from "./control.ts";
import { createFaults, type FaultSettings } from "./faults/faults.ts";
import { createRateLimiter } from "./http/rate-limit.ts";
import { ConnectionLost, ProblemError, problemResponse, toResponse } from "./http/response.ts";
import { buildSeed, DEFAULT_SEED, generateMembers } from "./seed/build-seed.ts";
import { checkSeedValue, parseSeed, type Seed } from "./seed/parse-seed.ts";
import { adminOperations, keyOperations } from "./serve.ts";
import {
  changeText,
  createGroupCommit,
  createPersistence,
  parseState,
  type StateFile,
  StateInvalid,
  stateText,
} from "./state/persistence.ts";
import type { Snapshot } from "./state/snapshot.ts";
import { applyChange, type OnChange, openStore, type Store } from "./state/store.ts";
import {
  createRequestRecorder,
  DEFAULT_MAX_REQUESTS,
  type HonoEnv,
  logLine,
  type Settings,
  type Trace,
  type World,
} from "./world.ts";

/** Initial state, settings and effects of a sandbox. */
export interface SandboxOptions {
  /** Milliseconds since the epoch. */
  now(): number;
  /** The clock that dates responses, in ms since the epoch; absent: `now`. */
  wallClock?(): number;
  /** Rejects when the signal is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Receives one line for each request. */
  readonly log?: (line: string) => void;
  /** Text in YAML, or the document itself; absent: one merchant `MC0DEMO1` and the key `sk_test_sandbox`. */
  readonly seed?: string | object;
  /** Number of members to generate in the first merchant. */
  readonly generate?: number;
  /** Saved state; takes precedence over the seed. */
  readonly state?: string;
  /** Saves a state durably; the response to a write is sent only after its state is saved. */
  readonly save?: StateFile["save"];
  /** Appends lines to the saved state; absent: each change saves the whole state. */
  readonly append?: StateFile["append"];
  /** Requests per second and key. */
  readonly rateLimit?: number;
  readonly rateLimitKind?: Settings["rateLimitKind"];
  readonly rateLimitBurst?: number;
  readonly retryAfter?: Settings["retryAfter"];
  /** Delay of every response, in ms. */
  readonly latency?: number;
  /** Upper bound of a random delay on top, in ms. */
  readonly jitter?: number;
  readonly strict?: boolean;
  /** Faults that are active from the start. */
  readonly faults?: FaultSettings;
  /** Answers requests for any host name, not only loopback. */
  readonly anyHost?: boolean;
}

/** The service, in this process. */
export interface Sandbox {
  fetch(request: Request): Promise<Response>;
  /** Saves the whole current state, after any save in progress. */
  save(): Promise<void>;
}

function readSeed({ seed }: SandboxOptions): Seed {
  if (seed === undefined) return DEFAULT_SEED;
  return typeof seed === "string" ? parseSeed(seed) : checkSeedValue(seed);
}

function initial(options: SandboxOptions, now: number): Snapshot {
  const snapshot = buildSeed(readSeed(options), now);
  const first = snapshot.accounts.find((account) => account.type === "merchant");
  if (first !== undefined && options.generate !== undefined) {
    first.members = [...first.members, ...generateMembers(options.generate, first, now)];
  }
  return snapshot;
}

function settingsOf(options: SandboxOptions): Settings {
  return {
    rateLimit: options.rateLimit ?? null,
    rateLimitKind: options.rateLimitKind ?? "window",
    rateLimitBurst: options.rateLimitBurst ?? null,
    retryAfter: options.retryAfter ?? "seconds",
    latency: options.latency ?? 0,
    jitter: options.jitter ?? 0,
    strict: options.strict ?? false,
  };
}

const NO_FAULTS: FaultSettings = { seed: 1, rules: [] };

function restoreStore(options: SandboxOptions, onChange: OnChange): Store {
  if (options.state === undefined) return openStore(initial(options, options.now()), onChange);
  const { snapshot, changes } = parseState(options.state);
  const store = openStore(snapshot, onChange);
  for (const [index, change] of changes.entries()) {
    if (!applyChange(store, change)) throw new StateInvalid(`change ${index + 1} does not fit`);
  }
  return store;
}

function createWorld(options: SandboxOptions): { readonly world: World; save(): Promise<void> } {
  const settings = settingsOf(options);
  const faults = options.faults ?? NO_FAULTS;
  const { save, append } = options;
  const persistence = save && createPersistence({ save, append }, () => stateText(world.store));
  const groupCommit = persistence && createGroupCommit(persistence.flush);
  let seeded = (now: number): Snapshot => initial(options, now);
  let offset = 0;
  const restore = (): void => {
    world.store = openStore(seeded(world.now()), onChange);
    persistence?.compactNext();
  };
  const onChange: OnChange = (change) => persistence?.record(() => changeText(change));
  const world: World = {
    store: restoreStore(options, onChange),
    version: 0,
    settings,
    limiter: createRateLimiter(settings),
    faults: createFaults(faults),
    requests: createRequestRecorder(DEFAULT_MAX_REQUESTS),
    now: () => options.now() + offset,
    wallClock: () => (options.wallClock ?? options.now)(),
    setClock: (now) => {
      offset = now - options.now();
    },
    sleep: async (ms, signal) => {
      try {
        await options.sleep(ms, signal);
      } catch (error) {
        if (signal?.aborted) throw new ConnectionLost("the client disconnected first");
        throw error;
      }
    },
    log: (line) => options.log?.(line),
    commit: async () => groupCommit?.commit(),
    whenIdle: async () => groupCommit?.whenIdle(),
    commitWhole: async () => {
      persistence?.compactNext();
      await world.commit();
    },
    plant: (next) => {
      seeded = (now) => buildSeed(next, now);
      restore();
    },
    reset: () => {
      offset = 0;
      restore();
      world.settings = settings;
      world.limiter = createRateLimiter(settings);
      world.faults = createFaults(faults);
      world.requests.clear();
      world.requests.keep(DEFAULT_MAX_REQUESTS);
    },
  };
  return { world, save: () => world.commitWhole() };
}

function recordRequests(app: Hono<HonoEnv>, world: World): void {
  app.use(async (c, next) => {
    const [time, started] = [world.now(), world.wallClock()];
    const trace: Trace = {
      number: world.requests.begin(),
      key: null,
      throughControl: false,
      operation: null,
      merchant: null,
      resource: null,
      name: null,
      committed: false,
      state: null,
      faults: [],
    };
    c.set("trace", trace);
    let responded = false;
    try {
      await next();
      responded = true;
    } finally {
      const url = new URL(c.req.url);
      const entry = {
        number: trace.number,
        time: new Date(time).toISOString(),
        method: c.req.method,
        operation: trace.operation,
        merchant: trace.merchant,
        resource: trace.resource,
        name: trace.name,
        committed: trace.committed,
        state: trace.state,
        path: url.pathname + url.search,
        status: responded ? c.res.status : null,
        key: trace.key,
        somebody_else: trace.throughControl,
        // A request may move the other clock.
        ms: world.wallClock() - started,
        faults: trace.faults,
      };
      world.requests.end(entry);
      world.log(logLine(entry));
    }
  });
}

function handleErrors(app: Hono<HonoEnv>, world: World): void {
  app.notFound((c) => {
    const { trace } = c.var;
    return toResponse(problemResponse(404, `No route matches ${new URL(c.req.url).pathname}.`, trace.number));
  });
  app.onError((error, c) => {
    if (error instanceof ConnectionLost) throw error;
    const { number } = c.var.trace;
    if (error instanceof ProblemError) {
      return toResponse(problemResponse(error.status, error.message, number, error.headers));
    }
    world.log(`error in request ${number}: ${JSON.stringify(error.message)}`);
    return toResponse(
      problemResponse(500, "This is an internal error of the sandbox; its log has the details.", number),
    );
  });
}

/** Creates a sandbox that is driven by `fetch`; throws `DocumentInvalid` or `StateInvalid`. */
export function createSandbox(options: SandboxOptions): Sandbox {
  const { world, save } = createWorld(options);
  const app = new Hono<HonoEnv>();
  recordRequests(app, world);
  handleErrors(app, world);
  app.use(async (c, next) => {
    refuseWebPages(c, options.anyHost ?? false);
    await next();
  });
  const fetch = async (request: Request): Promise<Response> => app.fetch(request);
  app.route("/_sandbox", controlRoutes(world));
  app.get("/_sandbox/", (c) => c.json(overview(world)));
  app.route("/_sandbox", adminOperations(world));
  app.route("/", keyOperations(world, fetch));
  return { fetch, save };
}
