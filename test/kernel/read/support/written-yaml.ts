import { stringify } from "yaml";
import type { JsonValue } from "../../../../src/model/json.ts";

type Keys = readonly (string | number)[];

/** A line of a written file with the entry that it belongs to. */
export interface WrittenLine {
  readonly text: string;
  readonly owner: Keys;
  /** `opening`: a key or dash with nothing but a block below it; `free`: belongs to no entry of its block. */
  readonly kind: "entry" | "opening" | "free";
}

/** A pseudo-random number generator. */
export function randomOf(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** How a file is written. */
interface Hand {
  readonly random: (below: number) => number;
  readonly step: number;
  readonly listStep: number;
  readonly lines: WrittenLine[];
  comments: number;
  anchors: number;
  /** Texts that an alias may stand for, by their JSON. */
  readonly known: Map<string, string>;
  readonly aliases: boolean;
  readonly plain: boolean;
}

/** Writes a mapping as a file in a random style, with random comments; returns its lines without line breaks. */
export function writtenLines(
  value: JsonValue,
  seed: number,
  aliases: boolean,
  plain = false,
): readonly WrittenLine[] {
  const random = randomOf(seed);
  const step = random(4) === 0 && !plain ? 4 : 2;
  const hand: Hand = {
    random,
    step,
    listStep: random(3) === 0 && !plain ? 0 : step,
    lines: [],
    comments: 0,
    anchors: 0,
    known: new Map(),
    aliases,
    plain,
  };
  if (random(3) === 0)
    hand.lines.push({ text: `# head`, owner: [], kind: "free" }, { text: "", owner: [], kind: "free" });
  block(hand, value, [], 0, "");
  return hand.lines;
}

const scalar = (hand: Hand, value: JsonValue): string => {
  const type = (["PLAIN", "PLAIN", "QUOTE_DOUBLE", "QUOTE_SINGLE"] as const)[hand.random(4)];
  const text = stringify(value, { defaultStringType: type ?? "PLAIN", lineWidth: 0 }).trimEnd();
  return /\n/.test(text) || (type === "PLAIN" && /[,[\]{}]/.test(text)) ? JSON.stringify(value) : text;
};

function flow(hand: Hand, value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map((item: JsonValue) => flow(hand, item)).join(", ")}]`;
  if (typeof value !== "object" || value === null) return scalar(hand, value);
  const pairs = Object.entries(value).map(([key, item]) => `${scalar(hand, key)}: ${flow(hand, item)}`);
  return pairs.length === 0 ? "{}" : `{ ${pairs.join(", ")} }`;
}

const isFilled = (value: JsonValue): boolean =>
  typeof value === "object" && value !== null && Object.keys(value).length > 0;

function comment(hand: Hand): string {
  hand.comments += 1;
  return `# ${["note", "- item:", "a: b,", "\tx ]"][hand.random(hand.plain ? 1 : 4)]} ${hand.comments}`;
}

/** Writes a list or mapping as a block; `lead` stands in front of its first entry. */
function block(hand: Hand, value: JsonValue, path: Keys, column: number, lead: string): void {
  const entries: readonly (readonly [string | number, JsonValue])[] = Array.isArray(value)
    ? value.map((item: JsonValue, index) => [index, item] as const)
    : Object.entries(value as object);
  const spaced = hand.random(3) === 0;
  const pad = " ".repeat(column);
  for (const [index, [key, item]] of entries.entries()) {
    const owner = [...path, key];
    if (index > 0) between(hand, path, pad, spaced);
    // A comment above the first key is the file's.
    while ((index > 0 || (lead === "" && column > 0)) && hand.random(5) === 0) {
      hand.lines.push({ text: pad + comment(hand).replace("- ", ""), owner, kind: "entry" });
    }
    entry(hand, item, owner, column, index === 0 && lead !== "" ? lead : pad);
  }
  // At the indentation of a list that has none, a comment is the next key's.
  if (hand.random(6) === 0 && column > 0 && !(Array.isArray(value) && hand.listStep === 0)) {
    hand.lines.push({ text: pad + comment(hand), owner: path, kind: "free" });
  }
}

/** Writes what stands between two entries and belongs to neither. */
function between(hand: Hand, path: Keys, pad: string, spaced: boolean): void {
  const blank: WrittenLine = { text: "", owner: path, kind: "free" };
  if (spaced || hand.random(8) === 0) hand.lines.push(blank);
  if (hand.random(12) === 0) {
    hand.lines.push({ text: pad + comment(hand).replace("- ", ""), owner: path, kind: "free" }, blank);
  }
}

type Push = (text: string, kind?: WrittenLine["kind"]) => void;

function entry(hand: Hand, value: JsonValue, owner: Keys, column: number, lead: string): void {
  const key = owner.at(-1);
  const mark = typeof key === "number" ? "-" : `${scalar(hand, key ?? "")}:`;
  const push: Push = (text, kind = "entry") => hand.lines.push({ text, owner, kind });
  const json = JSON.stringify(value);
  const known = hand.known.get(json);
  if (known !== undefined && hand.random(2) === 0) {
    push(`${lead}${mark} *${known}${end(hand)}`);
  } else if (typeof value === "string" && /^\S.*\n\S.*\n$/.test(value) && hand.random(2) === 0) {
    push(`${lead}${mark} |${end(hand)}`);
    for (const line of value.trimEnd().split("\n")) push(" ".repeat(column + hand.step) + line);
  } else {
    const isAnchored = hand.aliases && hand.random(4) === 0 && isFilled(value);
    if (isAnchored) hand.anchors += 1;
    const name = `n${hand.anchors}`;
    writeValue(hand, value, owner, column, [lead, mark, isAnchored ? ` &${name}` : ""], push);
    if (isAnchored) hand.known.set(json, name);
  }
}

const end = (hand: Hand): string => (hand.random(5) === 0 ? ` ${comment(hand)}` : "");

function writeValue(
  hand: Hand,
  value: JsonValue,
  owner: Keys,
  column: number,
  [lead, mark, anchor]: readonly [string, string, string],
  push: Push,
): void {
  const isItem = mark === "-";
  if (!isFilled(value) || hand.random(3) === 0) {
    writeFlow(hand, value, lead + mark + anchor, column, push);
  } else if (isItem && anchor === "" && hand.random(3) > 0) {
    const width = hand.plain ? 2 : 2 + hand.random(2);
    block(hand, value, owner, column + width, `${lead}-${" ".repeat(width - 1)}`);
  } else {
    push(lead + mark + anchor + end(hand), anchor === "" ? "opening" : "entry");
    const step = Array.isArray(value) ? hand.listStep : hand.step;
    block(hand, value, owner, column + (isItem ? 2 : step), "");
  }
}

/** Writes a value on one line, or a list in brackets on several. */
function writeFlow(hand: Hand, value: JsonValue, head: string, column: number, push: Push): void {
  const behind = end(hand);
  if (!Array.isArray(value) || value.length === 0 || hand.plain || hand.random(3) > 0) {
    push(`${head} ${flow(hand, value)}${behind}`);
    return;
  }
  const pad = " ".repeat(column + hand.step + 2);
  const trailing = hand.random(2) === 0;
  push(`${head} [${hand.random(4) === 0 ? ` ${comment(hand)}` : ""}`);
  for (const [index, item] of value.entries()) {
    if (hand.random(6) === 0) push(pad + comment(hand));
    const comma = index < value.length - 1 || trailing ? "," : "";
    push(`${pad}${flow(hand, item as JsonValue)}${comma}${hand.random(5) === 0 ? ` ${comment(hand)}` : ""}`);
  }
  push(`${" ".repeat(column + hand.step)}]${behind}`);
}
