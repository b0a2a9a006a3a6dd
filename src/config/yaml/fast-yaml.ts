import { load } from "js-yaml";
import { MAX_DEPTH, MAX_LENGTH } from "../schema/limits.ts";
import { controlProblems } from "./control-problems.ts";
import type { Parsed } from "./to-value.ts";
import { yamlPieces } from "./yaml-chunks.ts";

/**
 * What only the thorough reader judges: tabs and rare line breaks, anchors, aliases, tags, merges, directives, several documents, keys that
 * are no words, and plain values that it warns of (numbers that lose digits, words that once were booleans).
 */
const SPECIAL =
  /[\t\u0085\u2028\u2029\ufeff]|\r(?!\n)|__proto__|\\(?:x|u00|U000000)5f|[\]}] *:|<<|^[%?]|^(?:---|\.\.\.)|(?:^|[\s,[{:-])[&*!?]|(?:^|[\s,{[-]):(?=\s|$)|(?:^|[\s,{])(?:null|~|true|false) *:|(?:^|[\s,[{:-])[-+]?(?:0[0-9ox][0-9a-f]*|[0-9]*\.[0-9]*0|[0-9.]+e[-+]?[0-9]+)(?=[\s,\]}:]|$)|(?:: |[[,{] *|- )(?:yes|no|on|off) *(?=$|[,\]}#:])/im;

/** How much of a file is read at a time, in UTF-16 units: what the reader keeps meanwhile stays small. */
const PIECE = 32_000;

/** A piece of a plain text, and the plain value that it stands for by itself. */
export interface PlainPiece {
  readonly text: string;
  readonly value: object;
}

/**
 * Reads plain YAML much faster than the thorough reader does, and means the same by it; or gives it back as null: because
 * it has anything special in it, or is not right, which only the thorough reader can explain.
 */
export function parsePlain(text: string, size: number = PIECE): Parsed | null {
  const pieces = plainPieces(text, size);
  const value = pieces && joined(pieces);
  return value === null ? null : { value, readable: true, problems: [] };
}

/** The pieces of a plain text, of about so many UTF-16 units; null where one of them is not plain, or not right. */
export function plainPieces(text: string, size: number): readonly PlainPiece[] | null {
  if (text.length > MAX_LENGTH) return null;
  const pieces: PlainPiece[] = [];
  for (const piece of yamlPieces(text, size)) {
    const value = loadPlain(piece);
    if (typeof value !== "object" || value === null) return null;
    pieces.push({ text: piece, value });
  }
  return pieces;
}

/** The value of the first piece of a plain text; null as of a text that is not plain. */
export function firstPiece(text: string): PlainPiece | null {
  const [piece = ""] = yamlPieces(text, PIECE);
  const value = loadPlain(piece);
  return typeof value === "object" && value !== null ? { text: piece, value } : null;
}

/** Undefined for what is not plain, or not right. */
function loadPlain(text: string): unknown {
  if (SPECIAL.test(text) || controlProblems(text).length > 0) return undefined;
  try {
    return load(text, { maxDepth: MAX_DEPTH });
  } catch {
    return undefined;
  }
}

/** Puts the pieces together: more members, and after the last of them perhaps other keys. */
export function joined(pieces: readonly PlainPiece[]): object | null {
  const [first, ...more] = pieces.map(({ value }) => value as Readonly<Record<string, unknown>>);
  if (first === undefined || more.length === 0) return first ?? null;
  const lists = [first, ...more].map(({ members }) => members);
  if (!lists.every(Array.isArray)) return null;
  const others = more.flatMap(({ members, ...rest }) => Object.entries(rest));
  const whole: Record<string, unknown> = { ...first, members: lists.flat() };
  for (const [key, value] of others) {
    // A key that is there twice is for the thorough reader to tell of.
    if (Object.hasOwn(whole, key)) return null;
    whole[key] = value;
  }
  return whole;
}
