import { CORE_SCHEMA, load } from "js-yaml";
import { MAX_DEPTH } from "./limits.ts";

/** From this length on (UTF-16 units) the faster reader is worth trying. */
export const LARGE = 100_000;

/**
 * What only the thorough reader judges: tabs and rare line breaks, anchors, aliases, tags, merges, directives, several documents, keys that
 * are no words, and plain values that it warns of (numbers that lose digits, words that once were booleans).
 */
const SPECIAL =
  /[\t\u0085\u2028\u2029\ufeff]|\r(?!\n)|__proto__|<<|^[%?]|^(?:---|\.\.\.)|(?:^|[\s,[{:-])[&*!?]|(?:^|[\s,{[-]):(?=\s|$)|(?:^|[\s,{])(?:null|~|true|false) *:|(?:^|[\s,[{:-])[-+]?(?:0[0-9ox][0-9a-f]*|[0-9]*\.[0-9]*0|[0-9.]+e[-+]?[0-9]+)(?=[\s,\]}:]|$)|(?:: |[[,{] *|- )(?:yes|no|on|off) *(?=$|[,\]}#:])/im;

/**
 * Reads a large file of plain YAML much faster than the thorough reader does, or gives it back as null: because it is
 * small, has anything special in it, or is not right, which only the thorough reader can explain.
 */
export function readPlainYaml(text: string, from: number = LARGE): { readonly value: unknown } | null {
  if (text.length < from || SPECIAL.test(text)) return null;
  try {
    const value = load(text, { schema: CORE_SCHEMA, maxDepth: MAX_DEPTH });
    return typeof value === "object" && value !== null ? { value } : null;
  } catch {
    return null;
  }
}
