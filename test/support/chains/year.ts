import type { Files } from "./chain.ts";

/** The day on which each change of the year is made. */
export const TODAY = Date.parse("2026-11-23T09:00:00Z");

const DAY = 86_400_000;

/** Returns the date some days after a time in ms since the epoch. */
export function dateAfter(now: number, days: number): string {
  return new Date(now + days * DAY).toISOString().slice(0, 10);
}

/** A change that somebody makes to an organisation's files, and what comes of it. */
export interface YearChange {
  readonly title: string;
  readonly edits: readonly Edit[];
  /** What does it without an edit: a command. */
  readonly command?: string;
  /** The managed users whose passwords the command changes: a glob. */
  readonly rotate?: string;
  /** The day of the plan, in days from now; absent: now. */
  readonly inDays?: number;
  /** Planned as a pull request does: judged by the former files as well. */
  readonly inReview?: true;
  readonly expected: Outcome;
}

/** What a change touches and plans; absent numbers are 0. */
export interface Outcome {
  readonly files: number;
  /** A line that is replaced counts once. */
  readonly lines: number;
  /** The merchants that the change selects, as `--changed-since` does. */
  readonly merchants: number;
  readonly create?: number;
  readonly update?: number;
  readonly delete?: number;
  /** New passwords of managed users. */
  readonly passwords?: number;
  /** Removals that wait until somebody has accepted. */
  readonly deferred?: number;
  /** Memberships that gain or lose permissions. */
  readonly gain?: number;
  readonly lose?: number;
  /** Memberships that gain sensitive permissions. */
  readonly sensitive?: number;
  /** Merchants whose plans are refused, by code. */
  readonly refused?: Readonly<Record<string, number>>;
  /** Merchants whose refusals the files override for this plan, by code. */
  readonly overridden?: Readonly<Record<string, number>>;
  /** Problems of files that `validate` reports and the former files did not have, by code. */
  readonly problems?: Readonly<Record<string, number>>;
}

/** An edit of the files. */
export type Edit = (files: Files) => Files;

/** Replaces a text, which has to be in the file once. */
export function edit(file: string, before: string, after: string): Edit {
  return (files) => {
    const text = textOf(files, file);
    if (text.split(before).length !== 2) throw new Error(`${file} does not have this once:\n${before}`);
    return { ...files, [file]: text.replace(before, () => after) };
  };
}

/** Adds lines at the end of a file. */
export function append(file: string, lines: string): Edit {
  return (files) => ({ ...files, [file]: textOf(files, file) + lines });
}

/** Returns the line of somebody who leaves some days from now. */
export function leaver(email: string, days: number): string {
  return `  - { email: ${email}, from: ${dateAfter(TODAY, days)} }\n`;
}

/** Adds a file. */
export function create(file: string, text: string): Edit {
  return (files) => {
    if (Object.hasOwn(files, file)) throw new Error(`${file} is there already.`);
    return { ...files, [file]: text };
  };
}

/** Removes a file. */
export function remove(file: string): Edit {
  return (files) => {
    const { [file]: _, ...rest } = files;
    return rest;
  };
}

function textOf(files: Files, file: string): string {
  const text = files[file];
  if (text === undefined) throw new Error(`There is no ${file}.`);
  return text;
}
