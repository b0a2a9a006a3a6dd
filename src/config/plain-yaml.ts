import { controlProblems } from "./control-problems.ts";
import { MAX_LENGTH } from "./limits.ts";
import type { Parsed } from "./parse.ts";
import { plainValue } from "./plain-value.ts";
import { atOnce } from "./steps.ts";
import { yamlPieces } from "./yaml-pieces.ts";

/**
 * What only the thorough reader judges: tabs and rare line breaks, anchors, aliases, tags, merges, directives, several documents, keys that
 * are no words, and plain values that it warns of (numbers that lose digits, words that once were booleans).
 */
const SPECIAL =
  /[\t\u0085\u2028\u2029\ufeff]|\r(?!\n)|__proto__|<<|^[%?]|^(?:---|\.\.\.)|(?:^|[\s,[{:-])[&*!?]|(?:^|[\s,{[-]):(?=\s|$)|(?:^|[\s,{])(?:null|~|true|false) *:|(?:^|[\s,[{:-])[-+]?(?:0[0-9ox][0-9a-f]*|[0-9]*\.[0-9]*0|[0-9.]+e[-+]?[0-9]+)(?=[\s,\]}:]|$)|(?:: |[[,{] *|- )(?:yes|no|on|off) *(?=$|[,\]}#:])/im;

/** How much of a file is read at a time, in UTF-16 units: some milliseconds of work, and little that is kept meanwhile. */
const PIECE = 32_000;

/** What has been read of a file so far: a plain value, from so many of its UTF-16 units. */
export interface PlainPart {
  readonly value: object;
  readonly length: number;
}

/**
 * Reads plain YAML much faster than the thorough reader does, and means the same by it; or gives it back as null: because
 * it has anything special in it, or is not right, which only the thorough reader can explain. Each step reads a piece
 * and tells what is known after it, so that other work can be done in between.
 */
export function* readPlain(text: string, piece: number = PIECE): Generator<PlainPart, Parsed | null> {
  if (text.length > MAX_LENGTH) return null;
  let value: object | null = null;
  let length = 0;
  for (const part of yamlPieces(text, piece)) {
    const read = loadPlain(part);
    if (typeof read !== "object" || read === null) return null;
    if (value === null) value = read;
    else if (!isJoined(value, read)) return null;
    length += part.length;
    yield { value, length };
  }
  return value === null ? null : { value, readable: true, problems: [] };
}

/** Reads plain YAML in one go. */
export function parsePlain(text: string, piece?: number): Parsed | null {
  return atOnce(readPlain(text, piece));
}

/** Undefined for what is not plain, or not right. */
function loadPlain(part: string): unknown {
  if (SPECIAL.test(part) || controlProblems(part).length > 0) return undefined;
  try {
    return plainValue(part);
  } catch {
    return undefined;
  }
}

/** Adds what a later piece holds to the first: more members, and after the last of them perhaps other keys. */
function isJoined(whole: object, part: object): boolean {
  const target = whole as Record<string, unknown>;
  const { members, ...others } = part as Readonly<Record<string, unknown>>;
  const known = target["members"];
  if (!Array.isArray(known) || !Array.isArray(members)) return false;
  for (const member of members) known.push(member);
  // A key that is there twice is for the thorough reader to tell of.
  if (Object.keys(others).some((key) => Object.hasOwn(target, key))) return false;
  Object.assign(target, others);
  return true;
}
