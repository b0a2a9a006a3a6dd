import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { resolve } from "node:path";
import { writeAtomically } from "../../app/io/atomic-write.ts";
import type { Io } from "../../app/io/io.ts";
import { checkOutputs } from "../../app/io/output.ts";
import { readTextFile } from "../../app/io/read-text.ts";
import { RolecallError } from "../../model/errors.ts";
import { isLoopback } from "../../sandbox/control.ts";
import { createSandbox, type Sandbox } from "../../sandbox/create-sandbox.ts";
import { type FaultSettings, parseFaults } from "../../sandbox/faults/faults.ts";
import type { RateLimit } from "../../sandbox/http/rate-limit.ts";
import { listen } from "../../sandbox/listen.ts";
import { DocumentInvalid } from "../../sandbox/seed/parse-document.ts";
import { StateInvalid } from "../../sandbox/state/persistence.ts";

/** The options of `sandbox`. */
export interface SandboxCommandOptions {
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
  readonly strict?: boolean;
  readonly faults?: string;
  readonly faultSeed?: number;
}

/** Runs the sandbox until a signal stops it. */
export async function runSandbox(options: SandboxCommandOptions, io: Io): Promise<void> {
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
  // Waits for a save in progress, so that no temporary file is left.
  await sandbox.save();
}

async function openSandbox(options: SandboxCommandOptions, anyHost: boolean, io: Io): Promise<Sandbox> {
  checkOutputs([options.state], [options.seed, options.faults], io.cwd);
  const { generate, rateLimit, rateLimitKind, rateLimitBurst, retryAfter, latency, jitter, strict } = options;
  const state = options.state === undefined ? null : resolve(io.cwd, options.state);
  const kept = state === null ? null : await reading(readIfThere(state), state);
  const seed = options.seed === undefined ? null : await readText(options.seed, io);
  const faults = await readFaults(options, io);
  if (kept !== null && (seed !== null || generate !== undefined)) {
    io.stderr.write(`${options.state} already exists: it takes precedence over --seed and --generate.\n`);
  }
  const openSandbox = (): Sandbox =>
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
        append: (lines: string) => appendDurably(state, lines),
      }),
      ...(generate !== undefined && { generate }),
      ...(rateLimit !== undefined && { rateLimit }),
      ...(rateLimitKind !== undefined && { rateLimitKind }),
      ...(rateLimitBurst !== undefined && { rateLimitBurst }),
      ...(retryAfter !== undefined && { retryAfter }),
      ...(latency !== undefined && { latency }),
      ...(jitter !== undefined && { jitter }),
      ...(strict !== undefined && { strict }),
    });
  try {
    const sandbox = await placing(openSandbox, "The seed", options.seed ?? "");
    // Saved at once, so that an unwritable file is reported now and not at the first change.
    await sandbox.save();
    return sandbox;
  } catch (error) {
    if (error instanceof StateInvalid) {
      throw new RolecallError(
        "file-invalid",
        `The state in ${options.state} cannot be used: ${error.message}.`,
        {
          hint: "To start from the seed again, move the file away.",
        },
      );
    }
    throw error;
  }
}

async function readFaults(options: SandboxCommandOptions, io: Io): Promise<FaultSettings> {
  const { faults: file, faultSeed } = options;
  if (file === undefined) return { seed: faultSeed ?? 1, rules: [] };
  const text = await readText(file, io);
  const { seed, rules } = await placing(() => parseFaults(text), "The fault file", file);
  return { seed: faultSeed ?? seed ?? 1, rules };
}

/** Throws RolecallError with the location of each problem in a file. */
async function placing<T>(parse: () => T, what: string, file: string): Promise<T> {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof DocumentInvalid)) throw error;
    const places = error.problems.map(({ line, column, message }) => `${file}:${line}:${column}: ${message}`);
    throw new RolecallError("file-invalid", `${what} cannot be used.\n${places.join("\n")}`);
  }
}

async function readText(file: string, io: Io): Promise<string> {
  const text = await reading(readIfThere(resolve(io.cwd, file)), file);
  if (text === null) throw new RolecallError("file-unreadable", `There is no file ${file}.`);
  return text;
}

async function reading(text: Promise<string | null>, file: string): Promise<string | null> {
  try {
    return await text;
  } catch (error) {
    throw new RolecallError("file-unreadable", `${file} cannot be read: ${reason(error)}.`, { cause: error });
  }
}

function cannotListen({ host, port }: SandboxCommandOptions, error: unknown): RolecallError {
  if (error instanceof Error && "code" in error && error.code === "EADDRINUSE") {
    return new RolecallError("port-taken", `Port ${port} of ${host} is already in use.`, {
      hint: "Stop the program that uses it, or choose another port; --port 0 picks a free one.",
    });
  }
  return new RolecallError("usage", `Cannot listen on port ${port} of ${host}: ${reason(error)}`);
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Reads a file; `null` if it does not exist. */
async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readTextFile(path);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

/** Appends to an existing file and syncs it. */
async function appendDurably(path: string, text: string): Promise<void> {
  // Never creates the file: appended text alone would look like a complete file. Opens it each time, since it may have
  // been replaced.
  const file = await open(path, constants.O_WRONLY | constants.O_APPEND);
  try {
    await file.writeFile(text);
    await file.datasync();
  } finally {
    await file.close();
  }
}
