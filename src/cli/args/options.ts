import { type Command, InvalidArgumentError, Option } from "commander";
import { readShard, type Shard } from "../../app/project/shard.ts";
import { formatsOf } from "../../show/formats/every-format.ts";
import type { Documents } from "../../show/formats/format.ts";

/** Adds `--merchant`: selects merchants of the files. */
export function withMerchantOption(command: Command): Command {
  return command.addOption(
    new Option("-m, --merchant <code>", "only this merchant; repeatable")
      .argParser((code: string, codes: readonly string[]) => [...codes, code])
      .default([], "all"),
  );
}

/** Returns `--approved`: limits an apply to saved plans. */
export function approvedOption(): Option {
  return new Option(
    "--approved <file>",
    "apply only what this saved plan contains; anything new is refused; repeatable, in the order of the merges",
  ).argParser((file: string, files: readonly string[] = []) => [...files, file]);
}

/** Adds `--changed-since`: selects the merchants whose files differ from a commit. */
export function withChangedSinceOption(command: Command): Command {
  return command.option(
    "--changed-since <ref>",
    "only merchants whose files or includes differ from this git commit",
  );
}

/** Adds `--output`. */
export function withOutputFileOption(command: Command): Command {
  return command.option("-o, --output <file>", "write the result to this file instead of stdout");
}

/** Adds `--format`, with the formats that print a kind of document, and `--no-color`. */
export function withOutputOptions(
  command: Command,
  prints: keyof Documents = "result",
  about = "output format",
): Command {
  return command
    .addOption(new Option("--format <format>", about).choices(formatsOf(prints)).default("text"))
    .option("--no-color", "print without colours (also: NO_COLOR)");
}

/** Parses a whole number within bounds. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (!/^\d+$/.test(text) || number < min || number > max) {
      throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
    }
    return number;
  };
}

/** Parses `--shard`: `2/5`. */
export function parseShard(text: string): Shard {
  const shard = readShard(text);
  if (shard === null) throw new InvalidArgumentError("It must be i/n, such as 2/5, with i from 1 to n.");
  return shard;
}

/** Warns of given options that have no effect, by their attribute names; `reason` says when. */
export function warnWithoutEffect(
  command: Command,
  attributes: readonly string[],
  reason: string,
  write: (text: string) => void,
): void {
  for (const attribute of attributes) {
    if (command.getOptionValueSource(attribute) !== "cli") continue;
    const flag = command.options.find((option) => option.attributeName() === attribute)?.long;
    write(`warning: ${flag} has no effect ${reason}.\n`);
  }
}
