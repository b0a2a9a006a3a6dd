import { type Command, InvalidArgumentError, Option } from "commander";
import { PROGRESS_MODES } from "../../app/io/terminal.ts";
import type { PastTime } from "../../app/project/command-options.ts";
import { RECORD_MODES } from "../../model/record-modes.ts";
import { DEFAULT_REVIEW_SIZE, MIN_REVIEW_SIZE } from "../../show/markdown/markdown-blocks.ts";
import {
  parseShard,
  warnWithoutEffect,
  wholeNumber,
  withChangedSinceOption,
  withMerchantOption,
  withOutputFileOption,
  withOutputOptions,
} from "./options.ts";

const DEFAULT_CONCURRENCY = 10;
const MAX_CONCURRENCY = 64;
const MAX_SIZE = 100_000_000;
const DEFAULT_MAX_ITEMS = 250_000;

/** Adds `--reinvite`: renews expired invitations regardless of the files. */
export function withReinviteOption(command: Command): Command {
  return command.addOption(
    new Option(
      "--reinvite <email>",
      "invite this listed member again: after an expired invitation, regardless of sync.reinvite, or after they left; repeatable",
    )
      .argParser((email: string, emails: readonly string[]) => [...emails, email])
      .default([], "none"),
  );
}

/** Adds `--only`: a part of the changes. */
export function withOnlyOption(command: Command): Command {
  return command.addOption(
    new Option(
      "--only <what>",
      "only these changes; due: those that follow from dates in the files, such as the end of access",
    )
      .choices(["due"])
      .conflicts(["reinvite"]),
  );
}

/** Adds the options of the commands that talk to the service for all merchants. */
export function withServiceOptions(command: Command): Command {
  return withConnectionOptions(withChangedSinceOption(withMerchantOption(command))).option(
    "--shard <i/n>",
    "only this part of the merchants, such as 2/5",
    parseShard,
  );
}

/** Adds `--records` and `--allow-public`. */
export function withRecordOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        "--records <where>",
        "record the run in git besides its journals: push in the remote repository, local in this clone, off nowhere (default: records in rolecall.yaml, else off)",
      ).choices(RECORD_MODES),
    )
    .option("--allow-public", "record it even in a repository that everybody can read");
}

/** Adds the options of the connection to the service. */
export function withConnectionOptions(command: Command): Command {
  return command
    .option(
      "--base-url <url>",
      "base URL of the service (default: the file's api.base_url, else ROLECALL_BASE_URL)",
    )
    .option(
      "--concurrency <n>",
      "concurrent requests for each service and key",
      wholeNumber(1, MAX_CONCURRENCY),
      DEFAULT_CONCURRENCY,
    )
    .option(
      "--retry-for <duration>",
      "how long to retry a request, such as 90s, 5m or 1h; 0 sends it once (default: 5m)",
      parseDuration,
    )
    .option(
      "--max-items <n>",
      "fail for an account with more members, roles or memberships than this",
      wholeNumber(1, MAX_SIZE),
      DEFAULT_MAX_ITEMS,
    )
    .addOption(
      new Option(
        "--progress <how>",
        "auto: a board on a terminal, lines elsewhere; plain: lines everywhere (also: ROLECALL_PROGRESS)",
      ).choices(PROGRESS_MODES),
    )
    .option("-v, --verbose", "show every merchant and full lists, and log each request on stderr");
}

/** Adds `--quiet`: totals, errors and refusals only. */
export function withQuietOption(command: Command): Command {
  return command.addOption(
    new Option("-q, --quiet", "print only totals, errors and refusals, and no progress").conflicts("verbose"),
  );
}

/** Adds `--output`, and `--max-size` for Markdown. */
export function withDocumentOptions(command: Command): Command {
  return withOutputFileOption(command).option(
    "--max-size <n>",
    "with --format markdown: maximum length in UTF-16 code units; omits the least important parts if needed",
    wholeNumber(MIN_REVIEW_SIZE, MAX_SIZE),
    DEFAULT_REVIEW_SIZE,
  );
}

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };

const LONGEST_MS = 24 * 3_600_000;

/** Parses a duration such as `90s`, `5m`, `1h`, or seconds without a unit; in ms. */
export function parseDuration(text: string): number {
  const [, digits, unit = "s"] = /^(\d{1,9})([smh])?$/.exec(text) ?? [];
  const ms = Number(digits) * (UNITS[unit] ?? Number.NaN);
  if (!(ms <= LONGEST_MS)) {
    throw new InvalidArgumentError("It must be a duration such as 90s, 5m or 1h, up to 24h.");
  }
  return ms;
}

const HOUR_MS = 60 * 60 * 1000;

const MOST_DAYS = 3660;

/** Parses a number of days or hours, such as `14d` or `12h`; in ms. */
export function parseDays(text: string): number {
  const [, digits, unit] = /^(\d{1,5})([dh])$/.exec(text) ?? [];
  const ms = Number(digits) * (unit === "d" ? 24 * HOUR_MS : HOUR_MS);
  if (!(ms <= MOST_DAYS * 24 * HOUR_MS)) {
    throw new InvalidArgumentError(`It must be in days or hours, such as 14d or 12h, up to ${MOST_DAYS}d.`);
  }
  return ms;
}

/** Parses `--as-of`, a day (its start in UTC) or a timestamp; in ms since the epoch. */
export function parseAsOf(text: string): number {
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text);
  const isMoment = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/.test(text);
  const time = isDay || isMoment ? Date.parse(text) : Number.NaN;
  const exists = !isDay || Number.isNaN(time) || new Date(time).toISOString().startsWith(text);
  if (Number.isNaN(time) || !exists) {
    throw new InvalidArgumentError(
      "It must be a day such as 2027-02-01, or a time such as 2027-02-01T08:00:00Z.",
    );
  }
  return time;
}

/** Parses `--at`, a day or a timestamp. */
export function parseAt(text: string): PastTime {
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text);
  return { text, moment: parseAsOf(text) + (isDay ? DAY_MS - 1 : 0) };
}

const DAY_MS = 24 * 3_600_000;

/** Adds the options of the commands that answer questions about access, declared, live or in the past. */
export function withQuestionOptions(command: Command): Command {
  const asking = command
    .option("--live", "answer from the live state instead of the files")
    .addOption(
      new Option(
        "--at <time>",
        "answer from the files in git on this day or at this time; with --live, from the recorded live state",
      )
        .argParser(parseAt)
        .conflicts("changedSince"),
    );
  return withOutputFileOption(withOutputOptions(withServiceOptions(asking), "answer"));
}

/** The attributes of the options of `withConnectionOptions` that only concern requests. */
export const REQUEST_OPTIONS = ["baseUrl", "concurrency", "retryFor", "maxItems", "progress"] as const;

/** Warns of service options that were given without `--live`. */
export function warnIfOffline(command: Command, live: boolean, write: (text: string) => void): void {
  if (!live) warnWithoutEffect(command, REQUEST_OPTIONS, "without --live: no request is sent", write);
}
