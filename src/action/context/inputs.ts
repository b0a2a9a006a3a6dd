import { readShard, type Shard } from "../../app/project/shard.ts";
import { RECORD_MODES, type RecordMode } from "../../model/record-modes.ts";
import { ActionError } from "./action-error.ts";

export interface Inputs {
  readonly command: "plan" | "apply" | "due" | "drift" | "validate";
  readonly paths: readonly string[];
  readonly merchants: readonly string[];
  readonly apiKey: string;
  readonly apiKeys: ReadonlyMap<string, string>;
  /** Passwords of managed users by the variable that files name. */
  readonly passwords: ReadonlyMap<string, string>;
  readonly baseUrl: string | null;
  readonly githubToken: string;
  readonly scope: "changed" | "all";
  /** The key of the records; empty for none. */
  readonly approvalSecret: string;
  /** Environment whose reviewers have approved what an earlier job of this run left; empty for none. */
  readonly environment: string;
  /** Prefix of the names of the refs with the records. */
  readonly refs: string;
  /** The place of records of runs; `null` for the setting of the project's file. */
  readonly records: RecordMode | null;
  /** Records runs also in a public repository. */
  readonly allowPublic: boolean;
  readonly allow: readonly string[];
  /** Name of the comment, the statuses and the issue; empty for none. */
  readonly label: string;
  readonly shard: Shard | null;
  readonly concurrency: number;
  readonly maskAddresses: "auto" | "on" | "off";
}

/** The inputs with their defaults in action.yml, where that of the token is an expression. */
export const INPUT_DEFAULTS = {
  command: "",
  paths: "access",
  merchants: "",
  "api-key": "",
  "api-keys": "",
  passwords: "",
  "base-url": "",
  "github-token": "",
  scope: "changed",
  "approval-secret": "",
  environment: "",
  refs: "refs/rolecall",
  records: "",
  "allow-public": "false",
  allow: "",
  label: "",
  shard: "",
  concurrency: "10",
  "mask-addresses": "auto",
} as const;

type InputName = keyof typeof INPUT_DEFAULTS;

/** The environment variables of the action's process. */
export type RunnerEnv = Readonly<Record<string, string | undefined>>;

/** Returns all secrets in the environment, even if the inputs are invalid. */
export function secretsIn(env: RunnerEnv): readonly string[] {
  const lines = raw(env, "api-keys")
    .split("\n")
    .flatMap((line) => [line, line.slice(line.indexOf("=") + 1)]);
  const fromEnv = Object.entries(env).flatMap(([name, value]) =>
    name.startsWith("ROLECALL_API_KEY") ? [value ?? ""] : [],
  );
  const single = [raw(env, "api-key"), raw(env, "github-token"), raw(env, "approval-secret")];
  const pairs = [...single, ...lines, ...fromEnv];
  return [...new Set(pairs.flatMap((text) => text.split(/\r?\n/)).map((text) => text.trim()))].filter(
    (text) => text !== "",
  );
}

/** Returns what may be a password in the input, even if it is invalid. */
export function passwordsIn(env: RunnerEnv): readonly string[] {
  const texts = raw(env, "passwords")
    .split(/\r?\n/)
    .flatMap((line) => [line, line.slice(line.indexOf("=") + 1)])
    .flatMap((text) => [text, text.trim()]);
  // Shorter texts cannot be passwords; masking them would make logs unreadable.
  return [...new Set(texts)].filter((text) => text.trim().length >= SHORTEST_MASK);
}

const SHORTEST_MASK = 4;

/** Parses the inputs; throws an ActionError whose message contains no secret. */
export function readInputs(env: RunnerEnv): Inputs {
  const text = (name: InputName): string => raw(env, name) || INPUT_DEFAULTS[name];
  const words = (name: InputName): readonly string[] =>
    text(name)
      .split(/[\s,]+/)
      .filter(Boolean);
  const lines = (name: InputName): readonly string[] =>
    text(name)
      .split(/\r?\n/)
      .map((line) => line.trim())
      .filter(Boolean);
  const choice = <T extends string>(name: InputName, choices: readonly T[]): T => {
    const choice = choices.find((candidate) => candidate === text(name));
    if (choice !== undefined) return choice;
    throw new ActionError("usage", `The input ${name} takes ${choices.join(", ")}.`);
  };
  const number = (name: InputName, min: number, max: number): number => {
    const value = Number(text(name));
    if (/^\d+$/.test(text(name)) && value >= min && value <= max) return value;
    throw new ActionError("usage", `The input ${name} must be a whole number from ${min} to ${max}.`);
  };
  const shard = text("shard") === "" ? null : readShard(text("shard"));
  if (text("shard") !== "" && shard === null) {
    throw new ActionError("usage", "The input shard must be i/n, such as 2/5, with i from 1 to n.");
  }
  return {
    command: choice("command", ["plan", "apply", "due", "drift", "validate"]),
    paths: lines("paths"),
    merchants: words("merchants"),
    apiKey: text("api-key"),
    apiKeys: keysByMerchant(lines("api-keys")),
    passwords: passwordsByName(text("passwords")),
    baseUrl: text("base-url") || null,
    githubToken: text("github-token"),
    scope: choice("scope", ["changed", "all"]),
    approvalSecret: approvalSecret(text("approval-secret")),
    environment: text("environment"),
    refs: refPrefix(text("refs")),
    records: text("records") === "" ? null : choice("records", RECORD_MODES),
    allowPublic: choice("allow-public", ["true", "false"]) === "true",
    allow: lines("allow"),
    label: label(text("label")),
    shard,
    concurrency: number("concurrency", 1, 64),
    maskAddresses: choice("mask-addresses", ["auto", "on", "off"]),
  };
}

function raw(env: RunnerEnv, name: InputName): string {
  return env[`INPUT_${name.toUpperCase()}`]?.trim() ?? "";
}

/** Shorter ones could be guessed by brute force. */
const SHORTEST_SECRET = 32;

function approvalSecret(secret: string): string {
  if (secret === "" || secret.length >= SHORTEST_SECRET) return secret;
  throw new ActionError(
    "usage",
    `The input approval-secret has fewer than ${SHORTEST_SECRET} characters.`,
    'Create one with "openssl rand -hex 32".',
  );
}

function refPrefix(text: string): string {
  if (/^refs\/(?!heads|tags|pull)[\w-]+(\/[\w-]+)*$/.test(text)) return text;
  throw new ActionError(
    "usage",
    "The input refs must be a prefix of refs, such as refs/rolecall; branches and tags cannot hold records.",
  );
}

function label(text: string): string {
  if (text.length <= MAX_LABEL && !/\p{C}/u.test(text)) return text;
  throw new ActionError("usage", `The input label must be one line of at most ${MAX_LABEL} characters.`);
}

const MAX_LABEL = 60;

/** Parses lines of `NAME=password`; an error names the line only, since it may be a password that lacks its name. */
function passwordsByName(input: string): ReadonlyMap<string, string> {
  const wrong = (line: number, what: string, hint: string | null = null): never => {
    throw new ActionError("usage", `Line ${line} of the input passwords ${what}.`, hint);
  };
  const passwords = new Map<string, { readonly password: string; readonly line: number }>();
  for (const [index, text] of input.split(/\r?\n/).entries()) {
    if (text.trim() === "") continue;
    const line = index + 1;
    const [, name = "", password = ""] = /^\s*([A-Za-z_]\w*)=(.*)$/.exec(text) ?? [];
    if (password === "") {
      wrong(line, "is not NAME=password", "If the line uses a secret, check that the secret is set.");
    }
    if (password !== password.trim()) wrong(line, "has spaces around its password");
    if (/^(?:INPUT|GITHUB|ACTIONS|RUNNER|STATE)_/.test(name)) wrong(line, "names a variable of the runner");
    const earlier = passwords.get(name);
    if (earlier && earlier.password !== password) wrong(line, `has the same name as line ${earlier.line}`);
    passwords.set(name, earlier ?? { password, line });
  }
  return new Map([...passwords].map(([name, { password }]) => [name, password]));
}

function keysByMerchant(lines: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    lines.map((line, index) => {
      const separator = line.indexOf("=");
      const [merchant, key] = [line.slice(0, separator).trim(), line.slice(separator + 1).trim()];
      if (separator < 1 || key === "" || !/^[\w-]{1,64}$/.test(merchant)) {
        throw new ActionError(
          "usage",
          `Line ${index + 1} of the input api-keys is not merchant=key.`,
          "If the line uses a secret, check that the secret is set.",
        );
      }
      return [merchant, key] as const;
    }),
  );
}
