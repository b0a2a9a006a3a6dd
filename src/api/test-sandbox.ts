import { libraryIo } from "../app/io/node-io.ts";
import { suggest } from "../lib/suggest.ts";
import { createSandbox } from "../sandbox/create-sandbox.ts";
import { type FaultSettings, parseFaults, parseFaultsValue } from "../sandbox/faults/faults.ts";
import { type Listening, listen } from "../sandbox/listen.ts";
import { parseSeed } from "../sandbox/seed/parse-seed.ts";
import type { SandboxKey, SandboxMerchant, SandboxSeed } from "./sandbox-seed.ts";

/** Initial state and settings of a sandbox; the settings can be changed by `PUT /_sandbox/settings`. */
export interface TestSandboxOptions {
  /** The seed, or its text in YAML or JSON; absent: one merchant `MC0DEMO1` and the key `sk_test_sandbox`. */
  readonly seed?: SandboxSeed | string;
  /** Fault rules and the seed of their random numbers, or their text in YAML or JSON. */
  readonly faults?: { readonly seed?: number; readonly rules: readonly object[] } | string;
  /** Time at which the sandbox's clock begins, in ISO 8601; absent: the real time. */
  readonly now?: string;
  /** Refuses query parameters that an operation does not have; absent: ignores them. */
  readonly strict?: boolean;
  /** Requests per second and key; absent: no limit. */
  readonly rateLimit?: number;
  /** Delay of every response, in ms; absent: none. */
  readonly latency?: number;
  /** Receives one line for each request. */
  readonly log?: (line: string) => void;
}

/** The service in this process; any number of them can run side by side. */
export interface TestSandbox {
  /** Answers a request without a socket, like the global `fetch`; a path such as `/v0.1/memberships` is enough. */
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>;
  /** Listens on a port of 127.0.0.1, by default a free one; returns the base URL, without a slash at the end. */
  listen(port?: number): Promise<string>;
  /** Stops listening and breaks open connections. */
  close(): Promise<void>;
  /** Adds a merchant with its roles and members. */
  addMerchant(merchant: SandboxMerchant): Promise<void>;
  /** Adds an API key, or replaces what it may do. */
  addKey(key: SandboxKey): Promise<void>;
  /** Replaces all merchants, members, roles and keys by those of a seed, or of its text in YAML or JSON. */
  plant(seed: SandboxSeed | string): Promise<void>;
  /** Restores the seed and the initial settings, faults and clock. */
  reset(): Promise<void>;
  /** Moves the clock on by a duration such as `8d`, `2h`, `15m` or `30s`; invitations expire after 7 days. */
  advance(duration: string): Promise<void>;
  /** Accepts an invitation, given by its address or the member's id. */
  accept(merchant: string, member: string): Promise<void>;
  /** Sends any control request, such as `PUT` to `/faults`, and returns its JSON; rejects if it is refused. */
  control(method: string, path: string, body?: object): Promise<unknown>;
}

/**
 * Creates a sandbox.
 *
 * @throws Error if the seed or the faults are not valid, with every problem, or if an option does not exist or has a wrong value.
 */
export function createTestSandbox(options: TestSandboxOptions = {}): TestSandbox {
  checkOptions(options);
  const { now, faults, ...settings } = options;
  const io = libraryIo({});
  const offset = now === undefined ? 0 : Date.parse(now) - io.now();
  const sandbox = createSandbox({
    ...settings,
    now: () => io.now() + offset,
    wallClock: io.now,
    sleep: io.sleep,
    ...(faults !== undefined && { faults: readFaults(faults) }),
  });
  let listening: Listening | null = null;

  const fetch: TestSandbox["fetch"] = async (input, init) => {
    const request = new Request(typeof input === "string" ? new URL(input, "http://127.0.0.1") : input, init);
    const { signal } = request;
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      sandbox.fetch(request).then(resolve, reject);
    });
  };

  const control: TestSandbox["control"] = async (method, path, body) => {
    const response = await fetch(`/_sandbox${path}`, {
      method,
      ...(body !== undefined && {
        body: JSON.stringify(body),
        headers: { "content-type": "application/json" },
      }),
    });
    const answer: unknown = await response.json();
    if (response.ok) return answer;
    throw new Error(String(Object(answer).detail));
  };

  return {
    fetch,
    control,
    listen: async (port = 0) => {
      if (listening !== null) throw new Error(`The sandbox already listens on ${listening.url}.`);
      listening = await listen(sandbox, { host: "127.0.0.1", port });
      return listening.url;
    },
    close: async () => {
      await listening?.close();
      listening = null;
    },
    addMerchant: async (merchant) => {
      await control("POST", "/merchants", merchant);
    },
    addKey: async (key) => {
      await control("POST", "/keys", key);
    },
    plant: async (seed) => {
      await control("PUT", "/seed", typeof seed === "string" ? parseSeed(seed) : seed);
    },
    reset: async () => {
      await control("POST", "/reset");
    },
    advance: async (duration) => {
      await control("PUT", "/clock", { advance: duration });
    },
    accept: async (merchant, member) => {
      const path = [merchant, "members", member].map(encodeURIComponent).join("/");
      await control("POST", `/merchants/${path}/accept`);
    },
  };
}

/** What the value of an option must be. */
interface OptionRule {
  readonly what: string;
  readonly fits: (value: unknown) => boolean;
}

const DOCUMENT: OptionRule = {
  what: "an object or text",
  fits: (value) => typeof value === "string" || (typeof value === "object" && value !== null),
};

function integer(least: number, most: number): OptionRule {
  return {
    what: `a whole number from ${least} to ${most}`,
    fits: (value) => Number.isInteger(value) && Number(value) >= least && Number(value) <= most,
  };
}

function ofType(type: "boolean" | "function", what: string): OptionRule {
  return { what, fits: (value) => typeof value === type };
}

const OPTIONS: Readonly<Record<keyof TestSandboxOptions, OptionRule>> = {
  seed: DOCUMENT,
  faults: DOCUMENT,
  now: {
    what: "a time such as 2026-01-05T09:00:00Z",
    fits: (value) => typeof value === "string" && !Number.isNaN(Date.parse(value)),
  },
  strict: ofType("boolean", "true or false"),
  rateLimit: integer(1, 1_000_000),
  latency: integer(0, 3_600_000),
  log: ofType("function", "a function"),
};

function checkOptions(options: TestSandboxOptions): void {
  const rules = new Map<string, OptionRule>(Object.entries(OPTIONS));
  for (const [name, value] of Object.entries(options)) {
    const rule = rules.get(name);
    if (rule === undefined) {
      const meant = suggest(name, rules.keys());
      const hint =
        meant === null ? `The options are ${[...rules.keys()].join(", ")}.` : `Did you mean ${meant}?`;
      throw new TypeError(`The sandbox has no option ${name}. ${hint}`);
    }
    if (value !== undefined && !rule.fits(value)) throw new TypeError(`${name} must be ${rule.what}.`);
  }
}

function readFaults(faults: NonNullable<TestSandboxOptions["faults"]>): FaultSettings {
  const { seed = 1, rules } = typeof faults === "string" ? parseFaults(faults) : parseFaultsValue(faults);
  return { seed, rules };
}
