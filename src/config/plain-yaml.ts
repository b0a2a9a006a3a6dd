import { CORE_SCHEMA, load } from "js-yaml";
import { controlProblems } from "./control-problems.ts";
import { MAX_DEPTH, MAX_LENGTH } from "./limits.ts";
import type { Parsed } from "./parse.ts";
import { yamlPieces } from "./yaml-pieces.ts";

/**
 * What only the thorough reader judges: tabs and rare line breaks, anchors, aliases, tags, merges, directives, several documents, keys that
 * are no words, and plain values that it warns of (numbers that lose digits, words that once were booleans).
 */
const SPECIAL =
  /[\t\u0085\u2028\u2029\ufeff]|\r(?!\n)|__proto__|<<|^[%?]|^(?:---|\.\.\.)|(?:^|[\s,[{:-])[&*!?]|(?:^|[\s,{[-]):(?=\s|$)|(?:^|[\s,{])(?:null|~|true|false) *:|(?:^|[\s,[{:-])[-+]?(?:0[0-9ox][0-9a-f]*|[0-9]*\.[0-9]*0|[0-9.]+e[-+]?[0-9]+)(?=[\s,\]}:]|$)|(?:: |[[,{] *|- )(?:yes|no|on|off) *(?=$|[,\]}#:])/im;

/** How much of a file is read at a time, in UTF-16 units. */
const PIECE = 250_000;

/**
 * Reads plain YAML much faster than the thorough reader does, and means the same by it; or gives it back as null: because
 * it has anything special in it, or is not right, which only the thorough reader can explain.
 */
export function parsePlain(text: string, piece: number = PIECE): Parsed | null {
  if (text.length > MAX_LENGTH || SPECIAL.test(text) || controlProblems(text).length > 0) return null;
  try {
    const [first, ...rest] = Array.from(yamlPieces(text, piece), (part) =>
      load(part, { schema: CORE_SCHEMA, maxDepth: MAX_DEPTH }),
    );
    if (typeof first !== "object" || first === null) return null;
    return rest.every((part) => isJoined(first, part))
      ? { value: first, readable: true, problems: [] }
      : null;
  } catch {
    return null;
  }
}

/** Adds what a later piece holds to the first: more members, and after the last of them perhaps other keys. */
function isJoined(whole: object, part: unknown): boolean {
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
