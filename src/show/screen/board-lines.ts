import { grouped } from "../../lib/text.ts";
import type { Paint, Style } from "../style.ts";
import { type RequestMetrics, spanText, type Wait } from "../view/reading-progress.ts";
import { rateNumber } from "../view/wait-text.ts";
import { line, type Piece, padded, type Size, shown, widthOf } from "./terminal-text.ts";

/** The content of a board, which `boardLines` lays out for a terminal. */
export interface BoardContent {
  /** From long to short; the longest that fits is shown. */
  readonly titles: readonly string[];
  readonly elapsedMs: number;
  readonly leftMs: number | null;
  /** The share that is done, from 0 to 1. */
  readonly share: number;
  /** The count beside the bar, as in "31/60 merchants", and in short as in "31/60". */
  readonly counts: readonly [long: string, short: string];
  /** The most important ones first; those that do not fit are left out. */
  readonly facts: readonly string[];
  readonly tallies: readonly Tally[];
  /** Rows of what has a request on the wire, of what has begun and waits, and of what comes next. */
  readonly onWire: readonly Row[];
  readonly waiting: readonly Row[];
  readonly next: readonly Row[];
  /** Rows of what ended last, the latest one last. */
  readonly ended: readonly Row[];
  /** Rows of failures, the latest one last. */
  readonly failed: readonly Row[];
  readonly waits: readonly Wait[];
  /** Number of merchants that have not ended. */
  readonly unfinished: number;
  /** The widest name and count of any row, also of those to come: columns stay where they are. */
  readonly nameWidth: number;
  readonly countWidth: number;
}

/** A number of a kind, as in "✓ 31 done". */
export interface Tally {
  readonly mark: string;
  readonly count: number;
  readonly word: string;
  readonly paint: Paint;
  /** Left out where the words would not fit with it. */
  readonly isOptional?: true;
}

/** A row of a board. */
export interface Row {
  readonly mark: string;
  readonly paint: Paint;
  /** Empty where all rows are about one merchant. */
  readonly name: string;
  /** From 0 to 1; `null` without a bar. */
  readonly share: number | null;
  readonly count: string;
  readonly text: string;
  /** The time that it has taken or waits, at the end of the row. */
  readonly time: string;
}

/** A wider board is hard to read: its ends are too far from each other. */
const WIDEST = 120;
const WIDEST_NAME = 24;
const TIME_WIDTH = 11;
const ROW_BAR = 10;

/** Lays a board out: what is not the same on every screen keeps its column and its line while it changes. */
export function boardLines(content: BoardContent, { columns, rows }: Size, style: Style): readonly string[] {
  // One cell is left free: a terminal may count the cells of a letter in another way.
  const width = Math.min(columns - 1, WIDEST);
  const isRoomy = rows >= 16;
  const head = [
    titleLine(content, width, style),
    barLine(content, width, style),
    ...(content.tallies.length === 0 ? [] : [tallyLine(content.tallies, width, style)]),
  ];
  const [gap, trouble] = isRoomy ? [1, 3] : [0, 1];
  const waits = content.waits.slice(0, isRoomy ? 2 : 1).map((wait) => waitLine(wait, content, width, style));
  const failed = content.failed.slice(Math.max(content.failed.length - trouble + waits.length, 0));
  const foot = [...failed.map((row) => rowLine(row, content, width, style)), ...waits];
  const gaps = foot.length === 0 ? gap : 2 * gap;
  const room = Math.max(rows - 1 - head.length - gaps - foot.length, 0);
  const body = bodyRows(content, room).map((row) => rowLine(row, content, width, style));
  const blank = Array.from({ length: gap }, () => "");
  return [
    ...head,
    ...(body.length === 0 ? [] : [...blank, ...body]),
    ...(foot.length === 0 ? [] : [...blank, ...foot]),
  ];
}

/** Returns the rows that there is room for: on the wire, waiting, ended with the latest one first, and next. */
function bodyRows({ onWire, waiting, ended, next }: BoardContent, room: number): readonly Row[] {
  const busy = [...onWire, ...waiting];
  if (busy.length <= room || room < 2) return [...busy, ...ended.toReversed(), ...next].slice(0, room);
  const visible = busy.slice(0, room - 1);
  const hidden = Math.max(onWire.length - visible.length, 0);
  return [...visible, moreRow(hidden, busy.length - visible.length - hidden)];
}

function moreRow(onWire: number, waiting: number): Row {
  const parts = [
    onWire > 0 ? `${grouped(onWire)} more under way` : "",
    waiting > 0 ? `${grouped(waiting)} more waiting` : "",
  ];
  const text = `and ${parts.filter((part) => part !== "").join(", ")}`;
  return { mark: " ", paint: (plain) => plain, name: text, share: null, count: "", text: "", time: "" };
}

/** The widest time left and time that has passed, for which the title leaves room from the start. */
const BOTH_TIMES = "~00:00 left · 00:00".length;

/** The title at the left, and the times at the right end, which never move. */
function titleLine({ titles, elapsedMs, leftMs, waits }: BoardContent, width: number, style: Style): string {
  const pause = waits.find(({ isShared }) => isShared);
  const passed = clock(elapsedMs);
  const remaining = pause ? `waits ${spanText(pause.ms)}` : leftMs === null ? "" : `~${clock(leftMs)} left`;
  const roomy = titles.find((text) => widthOf(text) + BOTH_TIMES + 2 <= width);
  const right = roomy !== undefined && remaining !== "" ? `${remaining} · ${passed}` : remaining || passed;
  const short = titles.find((text) => widthOf(text) + widthOf("~00:00 left") + 2 <= width);
  const text = roomy ?? short ?? titles.at(-1) ?? "";
  const space = Math.max(width - widthOf(text) - widthOf(right), 1);
  return line([[text, style.bold], [" ".repeat(space)], [right, style.dim]], width);
}

function barLine({ share, counts, facts }: BoardContent, width: number, style: Style): string {
  const cells = width >= 100 ? 36 : width >= 70 ? 26 : width >= 50 ? 20 : 14;
  const count = width >= 50 ? counts[0] : counts[1];
  const pieces: Piece[] = [...barPieces(share, cells, style), [` ${count}`, style.bold]];
  let room = width - cells - 1 - widthOf(count);
  for (const fact of facts) {
    if (fact === "") continue;
    const text = `${pieces.length === 3 ? "   " : " · "}${fact}`;
    if (widthOf(text) > room) break;
    room -= widthOf(text);
    pieces.push([text]);
  }
  return line(pieces, width);
}

function tallyLine(everyTally: readonly Tally[], width: number, style: Style): string {
  const digits = Math.max(...everyTally.map(({ count }) => grouped(count).length));
  const number = (count: number): string => grouped(count).padStart(digits);
  const fits = (some: readonly Tally[]): boolean =>
    some.map(({ mark, count, word }) => `${mark} ${number(count)} ${word}`).join("   ").length <= width;
  const most = everyTally.filter(({ isOptional }) => !isOptional);
  const tallies = fits(everyTally) || !fits(most) ? everyTally : most;
  const isLong = fits(tallies);
  const pieces = tallies.flatMap(({ mark, count, word, paint }, index): readonly Piece[] => [
    [index === 0 ? "" : "   "],
    // A zero is not worth a colour.
    [`${mark} ${number(count)}${isLong ? ` ${word}` : ""}`, count === 0 ? style.dim : paint],
  ]);
  return line(pieces, width);
}

function rowLine(
  { mark, paint, name, share, count, text, time }: Row,
  content: BoardContent,
  width: number,
  style: Style,
): string {
  const names = Math.min(content.nameWidth, WIDEST_NAME, Math.floor(width / 3));
  if (share === null && count === "" && text === "")
    return line(
      [
        [`${mark} `, paint],
        [name, style.dim],
      ],
      width,
    );
  const start: Piece[] = [
    [`${mark} `, paint],
    [names === 0 ? "" : `${padded(shown(name), names)}  `],
    ...(share === null || width < 70 ? [] : [...barPieces(share, ROW_BAR, style), [" "] as const]),
    // The reason of a failure takes the place of the numbers.
    [share === null || content.countWidth === 0 ? "" : `${count.padStart(content.countWidth)}  `],
  ];
  const room = width - start.reduce((sum, [piece]) => sum + widthOf(piece), 0);
  const isReason = share === null && names > 0;
  if (time === "" || isReason || width < 50)
    return line([...start, [shown(text), isReason ? paint : undefined]], width);
  return line(
    [...start, [padded(shown(text), room - TIME_WIDTH)], [time.padStart(TIME_WIDTH), style.dim]],
    width,
  );
}

function waitLine(
  { reason, ms, merchants, addresses, isShared }: Wait,
  { unfinished }: BoardContent,
  width: number,
  style: Style,
): string {
  const begin = `waiting ${spanText(ms)}`;
  const why = shown(reason);
  const count = isShared ? Math.max(unfinished, merchants.length) : merchants.length;
  const [first = ""] = addresses;
  const more = addresses.length > 1 ? ` and ${grouped(addresses.length - 1)} more` : "";
  const address = first === "" ? [] : [` · ${shown(first)}${more}`];
  const who = count > 1 ? [` · ${grouped(count)} merchants`] : [];
  // The reason says more than who waits for it, but not more than the address that is refused.
  const ends = [
    ...address.map((text) => why + text),
    ...address.map((text) => why.replace("the service asks for ", "") + text),
    ...who.map((text) => why + text),
  ];
  const end = ends.find((text) => widthOf(begin) + 2 + widthOf(text) <= width) ?? why;
  return line([[begin, style.yellow], [`: ${end}`]], width);
}

/** Returns a bar of so many cells; in part it can be read without colours too. */
function barPieces(share: number, cells: number, style: Style): readonly [Piece, Piece] {
  const full = Math.min(Math.floor(share * cells), cells);
  return [
    ["█".repeat(full), style.green],
    ["░".repeat(cells - full), style.dim],
  ];
}

/** Returns a time as on a clock: "01:12", "1:02:05". */
function clock(ms: number): string {
  const seconds = Math.max(Math.round(ms / 1000), 0);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const two = (number: number): string => String(number).padStart(2, "0");
  return `${hours > 0 ? `${hours}:` : ""}${two(minutes)}:${two(seconds % 60)}`;
}

/** Returns a short time, as in "0.4 s", "12 s" or "1:05". */
export function briefTime(ms: number): string {
  if (ms >= 60_000) return clock(ms).replace(/^0/, "");
  return ms < 9_950 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 1000)} s`;
}

/** Returns what the requests say: how fast, the measured limit, and how often they waited. */
export function requestFacts({ pace, waited }: RequestMetrics, rate: string): readonly string[] {
  return [
    rate,
    pace === null ? "" : `limit ${rateNumber(pace)}/s`,
    waited === 0 ? "" : `${grouped(waited)} ${waited === 1 ? "wait" : "waits"}`,
  ];
}
