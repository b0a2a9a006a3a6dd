import { Command, InvalidArgumentError } from "commander";
import type { ExitCode, Io } from "../../../app/io/io.ts";
import { warnWithoutEffect, wholeNumber, withMerchantOption, withOutputOptions } from "../../args/options.ts";
import { parseAsOf, parseDays } from "../../args/service-options.ts";
import type { RunsCommandOptions } from "../../runs/past-runs.ts";
import type { PruneOptions } from "../../runs/prune-runs.ts";

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100_000;

/** Declares `runs`. */
export function runsCommand(io: Io, done: (code: ExitCode) => void): Command {
  const command = new Command("runs")
    .summary("list past applies, or show one of them")
    .description(
      "Lists past applies, those of this machine and those that are recorded in git, newest first, or shows one: who ran it, from which commit, and for each merchant the outcome of each write.",
    )
    .argument("[run]", 'a run\'s id, a unique prefix of it, or "latest"; or "verify" or "prune"')
    .option("--limit <n>", "how many to list", wholeNumber(1, MAX_LIMIT), DEFAULT_LIMIT)
    .option("--who <email>", "only runs whose journals contain this address; also with prune", parseAddress)
    .option("--since <time>", "only runs that began on this day or later, or after this time", parseAsOf)
    .option(
      "--older-than <age>",
      "with prune: delete records of runs older than this, such as 400d",
      parseDays,
    )
    .option("-y, --yes", "with prune: do not ask; needed where there is no terminal")
    .option("-v, --verbose", "show each write of a run")
    .addHelpText(
      "after",
      `
Examples:
  rolecall runs                         the last ${DEFAULT_LIMIT} applies
  rolecall runs -m MC4F7K2P             those of one merchant
  rolecall runs --who ben@example.com --since 2026-10-01 --format csv
  rolecall runs latest                  the latest one, in full
  rolecall runs latest -m MC4F7K2P      its part at one merchant
  rolecall runs 2026-11-21T13-05        the run whose id starts with this
  rolecall undo latest                  reverts it
  rolecall runs verify                  checks the records in git
  rolecall runs prune --older-than 400d deletes old records

One apply is one run, even for many merchants. Its journals, one for each
merchant, are in .rolecall/runs in the project root. Each write is recorded
before it is sent, so that after a crash the journal shows which writes have no
known outcome. The output shows identical writes of a long run on one line;
--verbose lists each. Runs of other machines come from the records in the remote
repository and in this clone, which are fetched each time.

"verify" compares the records that apply --records push has made with their
signed list, and names those that are missing, altered or extra. It needs the
key in ROLECALL_APPROVAL_SECRET. "prune" lists the records that are older than
an age, or contain an address, asks, and deletes them; the journals on this
machine stay. See docs/records.md.

Exits 0 if the runs are shown, verified or deleted; 1 if the run cannot be found
or read, or nothing was deleted because it was not confirmed; or 2 if verify
finds a record that is missing, altered or extra.
`,
    )
    .action(async (run: string | undefined, options: RunsCommandOptions & PruneOptions, command: Command) => {
      const warn = (names: readonly string[], reason: string): void =>
        warnWithoutEffect(command, names, reason, io.stderr.write);
      if (run === "prune") {
        warn(["limit", "verbose", "merchant", "since"], 'with "prune"');
        const { pruneRuns } = await import("../../runs/prune-runs.ts");
        return done(await pruneRuns(options, io));
      }
      warn(["olderThan", "yes"], 'without "prune"');
      if (run === "verify") {
        warn(["limit", "verbose", "merchant", "who", "since"], 'with "verify"');
        const { verifyRuns } = await import("../../runs/verify-runs.ts");
        return done(await verifyRuns(options, io));
      }
      if (run !== undefined) warn(["limit", "who", "since"], "with a run");
      else warn(["verbose"], "without a run");
      const { listPastRuns, showPastRun } = await import("../../runs/past-runs.ts");
      done(run === undefined ? await listPastRuns(options, io) : await showPastRun(run, options, io));
    });
  return withOutputOptions(withMerchantOption(command), "answer");
}

function parseAddress(text: string): string {
  if (/^[^\s@]+@[^\s@]+$/.test(text)) return text;
  throw new InvalidArgumentError("It must be an e-mail address.");
}
