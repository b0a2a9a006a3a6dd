import { Hono } from "hono";
import { ConnectionLost, ProblemError, problemAnswer, toResponse } from "./answer.ts";
import type { FaultSettings } from "./faults/fault-rules.ts";
import { createFaults } from "./faults/faults.ts";
import { createRateLimiter } from "./rate-limit.ts";
import { createRequestRecorder, DEFAULT_MAX_REQUESTS, logLine } from "./request-recorder.ts";
import { controlRoutes, guardControl, overview } from "./routes/control.ts";
import { buildSeed, DEFAULT_SEED, generateMembers } from "./seed/build-seed.ts";
import { parseSeed } from "./seed/parse-seed.ts";
import { adminOperations, keyOperations } from "./serve.ts";
import { createGroupCommit, createPersistence, type StateFile } from "./state/persistence.ts";
import type { Snapshot } from "./state/snapshot.ts";
import { changeText, parseState, StateInvalid, stateText } from "./state/state-text.ts";
import { applyChange, type OnChange, openStore, type Store } from "./state/store.ts";
import type { HonoEnv, Settings, Trace, World } from "./world.ts";

/** What a sandbox starts with, and its ways to the world. */
export interface SandboxOptions {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Rejects when the signal is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Takes one line of text for each request. */
  readonly log?: (line: string) => void;
  /** YAML; absent: one merchant `MC0DEMO1` and the key `sk_test_sandbox`. */
  readonly seed?: string;
  /** How many members to make in the first merchant. */
  readonly generate?: number;
  /** A saved state, which wins over the seed. */
  readonly state?: string;
  /** Keeps a state; a write is answered only when the state with it is kept. */
  readonly save?: StateFile["save"];
  /** Adds lines to the state that was kept last, which is less work; absent: each change saves the whole. */
  readonly append?: StateFile["append"];
  /** Requests per second and key. */
  readonly rateLimit?: number;
  readonly rateLimitKind?: Settings["rateLimitKind"];
  readonly rateLimitBurst?: number;
  readonly retryAfter?: Settings["retryAfter"];
  /** Milliseconds that every answer waits. */
  readonly latency?: number;
  /** Up to so many milliseconds more. */
  readonly jitter?: number;
  /** What goes wrong from the start. */
  readonly faults?: FaultSettings;
  /** Lets control routes answer on every host name, not only on loopback ones. */
  readonly anyHost?: boolean;
}

/** The whole service in this process. */
export interface Sandbox {
  fetch(request: Request): Promise<Response>;
  /** Saves the whole state as it is now, after any save that is under way. */
  save(): Promise<void>;
}

function initial(options: SandboxOptions): Snapshot {
  const document = options.seed === undefined ? DEFAULT_SEED : parseSeed(options.seed);
  const now = options.now();
  const snapshot = buildSeed(document, now);
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
  };
}

const NO_FAULTS: FaultSettings = { seed: 1, rules: [] };

function open(options: SandboxOptions, note: OnChange): Store {
  if (options.state === undefined) return openStore(initial(options), note);
  const { snapshot, changes } = parseState(options.state);
  const store = openStore(snapshot, note);
  for (const [at, change] of changes.entries()) {
    if (!applyChange(store, change)) throw new StateInvalid(`change ${at + 1} does not fit`);
  }
  return store;
}

function createWorld(options: SandboxOptions): { readonly world: World; save(): Promise<void> } {
  const settings = settingsOf(options);
  const faults = options.faults ?? NO_FAULTS;
  const { save, append } = options;
  const keeper = save && createPersistence({ save, append }, () => stateText(world.store));
  const committer = keeper && createGroupCommit(keeper.write);
  const note: OnChange = (change) => keeper?.note(() => changeText(change));
  const world: World = {
    store: open(options, note),
    version: 0,
    settings,
    limiter: createRateLimiter(settings),
    faults: createFaults(faults),
    requests: createRequestRecorder(DEFAULT_MAX_REQUESTS),
    now: () => options.now(),
    sleep: async (ms, signal) => {
      try {
        await options.sleep(ms, signal);
      } catch (error) {
        if (signal?.aborted) throw new ConnectionLost("the client left first");
        throw error;
      }
    },
    log: (line) => options.log?.(line),
    commit: async () => committer?.commit(),
    settle: async () => committer?.settle(),
    reset: () => {
      world.store = openStore(initial(options), note);
      keeper?.fold();
      world.settings = settings;
      world.limiter = createRateLimiter(settings);
      world.faults = createFaults(faults);
      world.requests.clear();
      world.requests.keep(DEFAULT_MAX_REQUESTS);
    },
  };
  return {
    world,
    save: async () => {
      keeper?.fold();
      await world.commit();
    },
  };
}

function recordRequests(app: Hono<HonoEnv>, world: World): void {
  app.use(async (c, next) => {
    const started = world.now();
    const trace: Trace = {
      number: world.requests.begin(),
      key: null,
      somebodyElse: false,
      operation: null,
      merchant: null,
      resource: null,
      name: null,
      committed: false,
      state: null,
      faults: [],
    };
    c.set("trace", trace);
    let answered = false;
    try {
      await next();
      answered = true;
    } finally {
      const url = new URL(c.req.url);
      const entry = {
        number: trace.number,
        time: new Date(started).toISOString(),
        method: c.req.method,
        operation: trace.operation,
        merchant: trace.merchant,
        resource: trace.resource,
        name: trace.name,
        committed: trace.committed,
        state: trace.state,
        path: url.pathname + url.search,
        status: answered ? c.res.status : null,
        key: trace.key,
        somebody_else: trace.somebodyElse,
        ms: world.now() - started,
        faults: trace.faults,
      };
      world.requests.end(entry);
      world.log(logLine(entry));
    }
  });
}

function answerErrors(app: Hono<HonoEnv>, world: World): void {
  app.notFound((c) => {
    const { trace } = c.var;
    return toResponse(
      problemAnswer(404, `There is nothing at ${new URL(c.req.url).pathname}.`, trace.number),
    );
  });
  app.onError((error, c) => {
    if (error instanceof ConnectionLost) throw error;
    const { number } = c.var.trace;
    if (error instanceof ProblemError) {
      return toResponse(problemAnswer(error.status, error.message, number, error.headers));
    }
    world.log(`error in request ${number}: ${JSON.stringify(error.message)}`);
    return toResponse(problemAnswer(500, "The sandbox itself failed; its log says more.", number));
  });
}

/** Makes a sandbox that is driven by `fetch`; throws `DocumentInvalid` and `StateInvalid`. */
export function createSandbox(options: SandboxOptions): Sandbox {
  const { world, save } = createWorld(options);
  const app = new Hono<HonoEnv>();
  recordRequests(app, world);
  answerErrors(app, world);
  app.use("/_sandbox/*", async (c, next) => {
    guardControl(c, options.anyHost ?? false);
    await next();
  });
  const fetch = async (request: Request): Promise<Response> => app.fetch(request);
  app.route("/_sandbox", controlRoutes(world));
  app.get("/_sandbox/", (c) => c.json(overview(world)));
  app.route("/_sandbox", adminOperations(world));
  app.route("/", keyOperations(world, fetch));
  return { fetch, save };
}
