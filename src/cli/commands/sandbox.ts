import { resolve } from "node:path";
import { Command } from "commander";
import { RolecallError } from "../../model/errors.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { ExitCode } from "../exit-code.ts";
import type { Io } from "../io.ts";
import { wholeNumber } from "../options.ts";

interface Options {
  readonly port: number;
  readonly host: string;
  readonly seed?: string;
  readonly state?: string;
  readonly generate?: number;
  readonly rateLimit?: number;
  readonly latency?: number;
}

const DEFAULT_PORT = 4010;
const MAX_GENERATED = 1_000_000;
const MAX_LATENCY_MS = 3_600_000;

/** `sandbox`: the whole service on this machine, for tests, demos and a first try. */
export function sandboxCommand(io: Io, done: (code: ExitCode) => void): Command {
  return new Command("sandbox")
    .summary("run the service itself on this machine")
    .description(
      "Runs the whole service on this machine, for tests, demos and a first try. " +
        "It prints its URL when it listens, tells each request on stderr, and runs until Ctrl-C.",
    )
    .option("--port <n>", "port to listen on; 0 picks a free one", wholeNumber(0, 65_535), DEFAULT_PORT)
    .option("--host <host>", "address to listen on; any but loopback opens it to the network", "127.0.0.1")
    .option("--seed <file>", "YAML file with the merchants, roles, members and keys to start with")
    .option("--state <file>", "keep everything in this file across restarts; once there, it wins over --seed")
    .option(
      "--generate <n>",
      "make this many members, always the same ones, in the first merchant",
      wholeNumber(0, MAX_GENERATED),
    )
    .option(
      "--rate-limit <n>",
      "answer 429 beyond this many requests per second and key",
      wholeNumber(1, 1_000_000),
    )
    .option("--latency <ms>", "wait this long before each answer", wholeNumber(0, MAX_LATENCY_MS))
    .addHelpText("after", HELP)
    .action(async (options: Options) => {
      await runSandbox(options, io);
      done(ExitCode.ok);
    });
}

const HELP = `
Examples:
  rolecall sandbox                                   one merchant, MC0DEMO1
  rolecall sandbox --generate 5000 --latency 50      a big merchant, a slow service
  rolecall sandbox --seed shops.yaml --state shops.json

Without --seed there is the merchant MC0DEMO1, whose owner has the key sk_test_sandbox:
  export ROLECALL_BASE_URL=http://127.0.0.1:${DEFAULT_PORT} ROLECALL_API_KEY=sk_test_sandbox

A seed:
  merchants:
    - code: MC4F7K2P
      roles: [{ name: Shift Lead, permissions: [refunds_create] }]
      members:
        - { email: ada@example.com, roles: [role_owner] }
        - { email: bob@example.com, roles: [Shift Lead], status: pending }
  keys:                     without them: sk_test_sandbox, for everything
    - { key: sk_test_ada, owner: ada@example.com, permissions: [roles_list, merchant_read] }
A merchant is a test account unless it says sandbox: false.

What no API request can do goes through control routes (no key needed, loopback only):
  GET    /_sandbox                                       which merchants there are
  POST   /_sandbox/merchants/CODE/members/ID/accept      also expire, disable; ID or e-mail address
  PUT    /_sandbox/merchants/CODE/members/ID/status      {"status": "unknown"}
  *      /_sandbox/v0.1/...                              any API request, as somebody else
  GET    /_sandbox/requests                              the request log; DELETE clears it
  PUT    /_sandbox/settings                              {"rate_limit": 5, "latency_ms": 100}
  PUT    /_sandbox/faults                                {"rules": [{"kind": "status", "status": 503, "nth": 3}]}
  POST   /_sandbox/reset                                 back to the seed
A body is sent as JSON, with its content type:
  curl -X PUT http://127.0.0.1:${DEFAULT_PORT}/_sandbox/settings -H 'content-type: application/json' \\
    -d '{"rate_limit": 5}'
`;

async function runSandbox(options: Options, io: Io): Promise<void> {
  const [{ isLoopback }, { listen }] = await Promise.all([
    import("../../sandbox/browser-guard.ts"),
    import("../../sandbox/listen.ts"),
  ]);
  const sandbox = await openSandbox(options, !isLoopback(options.host), io);
  const { url, close } = await listen(sandbox, options).catch((error: unknown) => {
    throw cannotListen(options, error);
  });
  const stopped = new Promise<void>((resolve) => {
    const ignore = io.onStopSignal(() => {
      ignore();
      resolve();
    });
  });
  io.stdout.write(`rolecall sandbox listening on ${url}\n`);
  await stopped;
  await close();
  // A save that is under way ends before the process does, so that no draft is left lying about.
  await sandbox.save();
}

async function openSandbox(options: Options, anyHost: boolean, io: Io): Promise<Sandbox> {
  const [{ createSandbox }, { StateInvalid }, { SeedInvalid }, files] = await Promise.all([
    import("../../sandbox/sandbox.ts"),
    import("../../sandbox/state.ts"),
    import("../../sandbox/seed-parse.ts"),
    import("../state-file.ts"),
  ]);
  const { generate, rateLimit, latency } = options;
  const state = options.state === undefined ? null : resolve(io.cwd, options.state);
  const kept = state === null ? null : await reading(files.readIfThere(state), state);
  const seed = options.seed === undefined ? null : await readSeed(files.readIfThere, options.seed, io);
  if (kept !== null && (seed !== null || generate !== undefined)) {
    io.stderr.write(`${options.state} is there already: it wins over --seed and --generate.\n`);
  }
  try {
    const sandbox = createSandbox({
      now: io.now,
      sleep: io.sleep,
      log: (line) => io.stderr.write(`${line}\n`),
      anyHost,
      ...(seed !== null && { seed }),
      ...(kept !== null && { state: kept }),
      ...(state !== null && { save: (text: string) => files.writeAtomically(state, text) }),
      ...(generate !== undefined && { generate }),
      ...(rateLimit !== undefined && { rateLimit }),
      ...(latency !== undefined && { latency }),
    });
    // At once, so that a file that cannot be written is told now and not at the first change.
    await sandbox.save().catch((error: unknown) => {
      throw new RolecallError("file-unreadable", `${options.state} cannot be written: ${reason(error)}`);
    });
    return sandbox;
  } catch (error) {
    if (error instanceof SeedInvalid) {
      const places = error.problems.map(
        ({ line, column, message }) => `${options.seed}:${line}:${column}: ${message}`,
      );
      throw new RolecallError("file-invalid", `The seed cannot be used.\n${places.join("\n")}`);
    }
    if (error instanceof StateInvalid) {
      throw new RolecallError(
        "file-invalid",
        `The state in ${options.state} cannot be used: ${error.message}.`,
        {
          hint: "Move the file away to start from the seed again.",
        },
      );
    }
    throw error;
  }
}

async function readSeed(
  read: (path: string) => Promise<string | null>,
  file: string,
  io: Io,
): Promise<string> {
  const text = await reading(read(resolve(io.cwd, file)), file);
  if (text === null) throw new RolecallError("file-unreadable", `There is no file ${file}.`);
  return text;
}

async function reading(text: Promise<string | null>, file: string): Promise<string | null> {
  try {
    return await text;
  } catch (error) {
    throw new RolecallError("file-unreadable", `${file} cannot be read: ${reason(error)}`, { cause: error });
  }
}

function cannotListen({ host, port }: Options, error: unknown): RolecallError {
  if (error instanceof Error && "code" in error && error.code === "EADDRINUSE") {
    return new RolecallError("port-taken", `Port ${port} of ${host} is taken.`, {
      hint: "Stop what listens there, or choose another port: --port 0 picks a free one.",
    });
  }
  return new RolecallError("usage", `Cannot listen on port ${port} of ${host}: ${reason(error)}`);
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
