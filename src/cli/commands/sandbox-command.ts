import { resolve } from "node:path";
import { Command, Option } from "commander";
import { RolecallError } from "../../model/errors.ts";
import type { Sandbox } from "../../sandbox/create-sandbox.ts";
import type { FaultSettings } from "../../sandbox/faults/fault-rules.ts";
import type { RateLimit } from "../../sandbox/rate-limit.ts";
import { warnWithoutEffect } from "../args/option-hints.ts";
import { wholeNumber } from "../args/options.ts";
import { ExitCode } from "../exit-code.ts";
import { checkOutputs } from "../files/output-path.ts";
import type { Io } from "../io/io.ts";
import { DEFAULT_PORT, SANDBOX_HELP } from "./sandbox-help.ts";

interface Options {
  readonly port: number;
  readonly host: string;
  readonly seed?: string;
  readonly state?: string;
  readonly generate?: number;
  readonly rateLimit?: number;
  readonly rateLimitKind?: RateLimit["rateLimitKind"];
  readonly rateLimitBurst?: number;
  readonly retryAfter?: RateLimit["retryAfter"];
  readonly latency?: number;
  readonly jitter?: number;
  readonly faults?: string;
  readonly faultSeed?: number;
}

const MAX_GENERATED = 1_000_000;
const MAX_LATENCY_MS = 3_600_000;
const MAX_SEED = 4_294_967_295;

/** `sandbox`: the whole service on this machine, for tests, demos and a first try. */
export function sandboxCommand(io: Io, done: (code: ExitCode) => void): Command {
  return new Command("sandbox")
    .summary("run the service itself on this machine")
    .description(
      "Runs the whole service on this machine, for tests, demos and a first try. " +
        "It prints its URL when it listens, logs each request on stderr, and runs until Ctrl-C.",
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
    .addOption(
      new Option(
        "--rate-limit-kind <kind>",
        "count in each second of the clock, or from a bucket that fills up steadily",
      ).choices(["window", "bucket"]),
    )
    .option(
      "--rate-limit-burst <n>",
      "how much a full bucket holds (default: as much as --rate-limit)",
      wholeNumber(1, 1_000_000),
    )
    .addOption(
      new Option("--retry-after <form>", "how a 429 says when to come again").choices([
        "seconds",
        "date",
        "none",
      ]),
    )
    .option("--latency <ms>", "wait this long before each answer", wholeNumber(0, MAX_LATENCY_MS))
    .option(
      "--jitter <ms>",
      "wait up to this much longer, drawn anew each time",
      wholeNumber(0, MAX_LATENCY_MS),
    )
    .option("--faults <file>", "YAML or JSON file that says what goes wrong, and when")
    .option(
      "--fault-seed <n>",
      "what all chances are drawn from (default: the file's seed, or 1)",
      wholeNumber(0, MAX_SEED),
    )
    .addHelpText("after", SANDBOX_HELP)
    .action(async (options: Options, command: Command) => {
      warnWithoutEffect(command, unusedOptions(options), io.stderr.write);
      await runSandbox(options, io);
      done(ExitCode.ok);
    });
}

/** Returns why options have no effect, by attribute name. */
function unusedOptions({
  rateLimit,
  rateLimitKind,
  faults,
}: Options): Parameters<typeof warnWithoutEffect>[1] {
  const unlimited = "as long as there is no rate limit";
  return {
    ...(rateLimit === undefined && { rateLimitKind: unlimited, retryAfter: unlimited }),
    ...(rateLimitKind !== "bucket" && { rateLimitBurst: "without --rate-limit-kind bucket" }),
    ...(faults === undefined && { faultSeed: "as long as there are no faults" }),
  };
}

async function runSandbox(options: Options, io: Io): Promise<void> {
  const [{ isLoopback }, { listen }] = await Promise.all([
    import("../../sandbox/routes/control.ts"),
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
  const [{ createSandbox }, { StateInvalid }, files, { writeAtomically }] = await Promise.all([
    import("../../sandbox/create-sandbox.ts"),
    import("../../sandbox/state/state-text.ts"),
    import("../files/state-file.ts"),
    import("../files/atomic-write.ts"),
  ]);
  checkOutputs([options.state], [options.seed, options.faults], io.cwd);
  const { generate, rateLimit, rateLimitKind, rateLimitBurst, retryAfter, latency, jitter } = options;
  const state = options.state === undefined ? null : resolve(io.cwd, options.state);
  const kept = state === null ? null : await reading(files.readIfThere(state), state);
  const seed = options.seed === undefined ? null : await readFile(files.readIfThere, options.seed, io);
  const faults = await readFaults(files.readIfThere, options, io);
  if (kept !== null && (seed !== null || generate !== undefined)) {
    io.stderr.write(`${options.state} is there already: it wins over --seed and --generate.\n`);
  }
  const open = (): Sandbox =>
    createSandbox({
      now: io.now,
      sleep: io.sleep,
      log: (line) => io.stderr.write(`${line}\n`),
      anyHost,
      faults,
      ...(seed !== null && { seed }),
      ...(kept !== null && { state: kept }),
      ...(state !== null && {
        save: (text: string) => writeAtomically(state, text, { shown: options.state ?? state }),
        append: (lines: string) => files.appendDurably(state, lines),
      }),
      ...(generate !== undefined && { generate }),
      ...(rateLimit !== undefined && { rateLimit }),
      ...(rateLimitKind !== undefined && { rateLimitKind }),
      ...(rateLimitBurst !== undefined && { rateLimitBurst }),
      ...(retryAfter !== undefined && { retryAfter }),
      ...(latency !== undefined && { latency }),
      ...(jitter !== undefined && { jitter }),
    });
  try {
    const sandbox = await placing(open, "The seed", options.seed ?? "");
    // At once, so that a file that cannot be written is told now and not at the first change.
    await sandbox.save();
    return sandbox;
  } catch (error) {
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

type Read = (path: string) => Promise<string | null>;

async function readFaults(read: Read, options: Options, io: Io): Promise<FaultSettings> {
  const { faults: file, faultSeed } = options;
  if (file === undefined) return { seed: faultSeed ?? 1, rules: [] };
  const text = await readFile(read, file, io);
  const { parseFaults } = await import("../../sandbox/faults/fault-rules.ts");
  const { seed, rules } = await placing(() => parseFaults(text), "The fault file", file);
  return { seed: faultSeed ?? seed ?? 1, rules };
}

/** Tells what is wrong in a file with each place in it. */
async function placing<T>(parse: () => T, what: string, file: string): Promise<T> {
  const { DocumentInvalid } = await import("../../sandbox/seed/parse-document.ts");
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof DocumentInvalid)) throw error;
    const places = error.problems.map(({ line, column, message }) => `${file}:${line}:${column}: ${message}`);
    throw new RolecallError("file-invalid", `${what} cannot be used.\n${places.join("\n")}`);
  }
}

async function readFile(read: Read, file: string, io: Io): Promise<string> {
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
