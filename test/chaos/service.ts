import { createSandbox } from "../../src/sandbox/create-sandbox.ts";
import { listen } from "../../src/sandbox/listen.ts";
import { OWNER, type World } from "./scenario.ts";

/** A request that somebody with a key has sent, as the service's own log tells it. */
export interface Sent {
  readonly number: number;
  readonly method: string;
  readonly path: string;
  readonly status: number | null;
  readonly key: string | null;
  readonly somebody_else: boolean;
  /** Whether it changed anything. */
  readonly committed: boolean;
  /** Counts the changes of the service's state. */
  readonly state: number | null;
  /** The id of the role or member that was asked for or created. */
  readonly resource: string | null;
  /** Of a create: what it was to be called. */
  readonly name: string | null;
  readonly faults: readonly string[];
}

/** The service that a scenario runs against, in this process, where every request can be watched. */
export interface Service {
  readonly url: string;
  /** Called before and after each request of the API that comes with a key. */
  watch(hook: Hook | null): void;
  control(method: string, path: string, body?: object): Promise<unknown>;
  requests(): Promise<readonly Sent[]>;
  close(): Promise<void>;
}

/** Called with the number of each request since `watch`, counted from 1. */
export interface Hook {
  before(request: number): Promise<void>;
  after(request: number): Promise<void>;
}

/** Starts it with merchants' worlds by their codes, and these keys, each for everything. */
export async function startService(
  worlds: ReadonlyMap<string, World>,
  keys: readonly string[],
  isTestAccount: boolean,
): Promise<Service> {
  const seed = {
    merchants: [...worlds].map(([code, world]) => ({
      code,
      sandbox: isTestAccount,
      roles: world.roles,
      // The list of a user's memberships spans merchants.
      members: world.members.map((member) => ({ ...member, id: `${member.id}_${code}` })),
    })),
    keys: keys.map((key) => ({ key, owner: OWNER })),
  };
  let hook: Hook | null = null;
  let seen = 0;
  const sandbox = createSandbox({
    now: () => Date.now(),
    sleep: (ms, signal) => later(ms, signal),
    seed: JSON.stringify(seed),
  });
  const watched = async (request: Request): Promise<Response> => {
    if (hook === null || !new URL(request.url).pathname.startsWith("/v0.1/")) return sandbox.fetch(request);
    const watching = hook;
    seen += 1;
    const number = seen;
    await watching.before(number);
    try {
      return await sandbox.fetch(request);
    } finally {
      await watching.after(number);
    }
  };
  const listening = await listen({ ...sandbox, fetch: watched }, { host: "127.0.0.1", port: 0 });
  const control: Service["control"] = async (method, path, body) => {
    const answer = await sandbox.fetch(
      new Request(`http://127.0.0.1/_sandbox${path}`, {
        method,
        ...(body && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
      }),
    );
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  };
  await control("PUT", "/settings", { request_log: 100_000 }).catch(async (error: unknown) => {
    await listening.close();
    throw error;
  });
  return {
    url: listening.url,
    watch: (next) => {
      hook = next;
      seen = 0;
    },
    control,
    requests: async () => ((await control("GET", "/requests")) as { readonly items: readonly Sent[] }).items,
    close: () => listening.close(),
  };
}

function later(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", leave);
      resolve();
    }, ms);
    signal?.addEventListener("abort", leave, { once: true });
  });
}
