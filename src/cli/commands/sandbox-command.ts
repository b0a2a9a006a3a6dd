import { Command, Option } from "commander";
import { warnWithoutEffect } from "../args/option-hints.ts";
import { wholeNumber } from "../args/options.ts";
import { ExitCode } from "../exit-code.ts";
import type { Io } from "../io/io.ts";
import type { SandboxCommandOptions } from "../session/run-sandbox.ts";
import { DEFAULT_PORT, SANDBOX_HELP } from "./sandbox-help.ts";

const MAX_GENERATED = 1_000_000;
const MAX_LATENCY_MS = 3_600_000;
const MAX_SEED = 4_294_967_295;

/** Declares `sandbox`. */
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
    .option(
      "--state <file>",
      "keep everything in this file across restarts; once it exists, it takes precedence over --seed",
    )
    .option(
      "--generate <n>",
      "generate this many members, always the same, in the first merchant",
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
        "count in each second of the clock, or from a bucket that refills steadily",
      ).choices(["window", "bucket"]),
    )
    .option(
      "--rate-limit-burst <n>",
      "how much a full bucket holds (default: as much as --rate-limit)",
      wholeNumber(1, 1_000_000),
    )
    .addOption(
      new Option("--retry-after <form>", "form of Retry-After in a 429").choices(["seconds", "date", "none"]),
    )
    .option("--latency <ms>", "delay each response by this much", wholeNumber(0, MAX_LATENCY_MS))
    .option(
      "--jitter <ms>",
      "delay each response by up to this much more, at random",
      wholeNumber(0, MAX_LATENCY_MS),
    )
    .option("--faults <file>", "YAML or JSON file with fault rules")
    .option(
      "--fault-seed <n>",
      "seed of everything random (default: the file's seed, or 1)",
      wholeNumber(0, MAX_SEED),
    )
    .addHelpText("after", SANDBOX_HELP)
    .action(async (options: SandboxCommandOptions, command: Command) => {
      warnWithoutEffect(command, unusedOptions(options), io.stderr.write);
      const { runSandbox } = await import("../session/run-sandbox.ts");
      await runSandbox(options, io);
      done(ExitCode.ok);
    });
}

/** Returns why options have no effect, by attribute name. */
function unusedOptions({
  rateLimit,
  rateLimitKind,
  faults,
}: SandboxCommandOptions): Parameters<typeof warnWithoutEffect>[1] {
  const unlimited = "as long as there is no rate limit";
  return {
    ...(rateLimit === undefined && { rateLimitKind: unlimited, retryAfter: unlimited }),
    ...(rateLimitKind !== "bucket" && { rateLimitBurst: "without --rate-limit-kind bucket" }),
    ...(faults === undefined && { faultSeed: "as long as there are no faults" }),
  };
}
