import { createSandbox, type Sandbox, type SandboxOptions } from "../../src/sandbox/create-sandbox.ts";

/** When the tests' clock begins. */
export const START = Date.parse("2026-06-01T12:00:00.000Z");

/** A member as answers have it, as far as tests look at it. */
export interface MemberBody {
  readonly id: string;
  readonly status: string;
  readonly roles: readonly string[];
  readonly created_at: string;
  readonly updated_at: string;
  readonly metadata?: object;
  readonly user?: Readonly<Record<string, unknown>>;
  readonly invite?: { readonly email: string; readonly expires_at: string };
}

/** An answer, read whole. */
export interface Got {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every form.
  readonly body: any;
}

/** What a request may say besides method and path. */
interface Ask {
  /** Null sends none. */
  readonly key?: string | null;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A sandbox with a clock that only moves when a test says so. */
export interface Harness {
  readonly sandbox: Sandbox;
  readonly clock: { now: number };
  readonly lines: string[];
  /** How long the sandbox slept, each time. */
  readonly waits: number[];
  call(method: string, path: string, ask?: Ask): Promise<Got>;
}

function requestOf(method: string, path: string, ask: Ask): Request {
  const { key = "sk_test_sandbox", body } = ask;
  const headers: Record<string, string> = {};
  if (key !== null) headers["authorization"] = `Bearer ${key}`;
  if (body !== undefined) headers["content-type"] = "application/json";
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return new Request(`http://127.0.0.1${path}`, {
    method,
    headers: { ...headers, ...ask.headers },
    ...(body !== undefined && { body: text }),
  });
}

/** Starts a sandbox for a test. */
export function start(options: Partial<SandboxOptions> = {}): Harness {
  const clock = { now: START };
  const lines: string[] = [];
  const waits: number[] = [];
  const sandbox = createSandbox({
    now: () => clock.now,
    sleep: async (ms) => {
      waits.push(ms);
    },
    log: (line) => lines.push(line),
    ...options,
  });
  const call = async (method: string, path: string, ask: Ask = {}): Promise<Got> => {
    const response = await sandbox.fetch(requestOf(method, path, ask));
    const text = await response.text();
    const json = response.headers.get("content-type")?.includes("json") && text !== "";
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: json ? tryJson(text) : undefined,
    };
  };
  return { sandbox, clock, lines, waits, call };
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The default merchant's collections. */
export const ROLES = "/v0.1/merchants/MC0DEMO1/roles";
export const MEMBERS = "/v0.1/merchants/MC0DEMO1/members";

/** The kind at the end of a Problem's type. */
export function kindOf({ body }: Got): string {
  return String(body.type).replace("https://rolecall.invalid/problem/", "");
}
