import { load } from "js-yaml";
import { escapeText } from "../../lib/escape.ts";
import type { Path, Problem, YamlProblem } from "../problems/problem.ts";
import { MAX_DEPTH, MAX_LENGTH } from "../values/limits.ts";
import { fieldsOf, listOf } from "../values/values.ts";

/** Matches the beginning of a plain scalar that is not a word: the two parsers read such a key as different texts. */
const OTHER = String.raw`(?:(?:null|true|false)(?![^\s,:{}[\]])|[^\sa-z_"'\u0080-\uffff,:{}[\]#])`;

/** Matches, line by line, what needs the full parser: on all other texts, both parsers agree. */
const SPECIAL = new RegExp(
  [
    // So many spaces that the other patterns, which search from each of them, would be slow.
    " {1000}",
    // Tabs, rare line breaks, and line breaks that are escaped.
    String.raw`[\t\u0085\u2028\u2029\ufeff]|\r(?!\n)|\\\r?$`,
    String.raw`__proto__|\\(?:x|u00|U000000)5f`,
    // Directives, further documents, indentation indicators, complex and merged keys.
    String.raw`^ *(?:[%?]|---|\.\.\.)|[|>][-+]?[1-9]|[\]}] *:|<<`,
    // Anchors, aliases and tags, and numbers that lose digits.
    String.raw`(?:^|[\s,[{:-])(?:[&*!?]|[-+]?(?:0[0-9ox][0-9a-f]*|[0-9]*\.[0-9]*0|[0-9.]+e[-+]?[0-9]+)(?=[\s,\]}:]|$))`,
    // Former booleans.
    String.raw`(?:: |[[,{] *|- )(?:yes|no|on|off) *(?=$|[,\]}#:])`,
    // Keys that are not words, with and without a colon.
    String.raw`(?:^|[\s,{[])(?:${OTHER}[^\s,{}[\]]*)? *:(?=[\s,[\]{}]|$)`,
    String.raw`[{\]}](?:[^{}[\]]*,)?\s*${OTHER}[^,:{}[\]]*(?=[,}])`,
    // Text behind a quotation or a bracket.
    String.raw`^[ -]*(?:"[^"\n]*"|'[^'\n]*'|\{[^\n]*\}|\[[^\n]*\]) *[^\s,:}\]#]`,
  ].join("|"),
  "im",
);

/** Size of a chunk, in UTF-16 units; small, to save memory. */
const CHUNK_SIZE = 32_000;

/** A file's plain value and its YAML problems; if `readable` is false, the value is meaningless. */
export interface ParsedYaml {
  readonly value: unknown;
  readonly readable: boolean;
  readonly problems: readonly Problem<YamlProblem>[];
}

/** A chunk of a plain text, and its plain value. */
interface YamlChunk {
  readonly text: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/**
 * Parses plain YAML much faster than the full parser, with the same result. Returns `null` for text with special
 * features or errors, which need the full parser.
 */
export function parseFast(text: string, size: number = CHUNK_SIZE): ParsedYaml | null {
  const chunks = parseChunks(text, size);
  const value = chunks && mergeChunks(chunks);
  return value && { value, readable: true, problems: [] };
}

/** Parses a plain text in chunks of about `size` UTF-16 units; null if any chunk is not plain or not valid. */
function parseChunks(text: string, size: number): readonly YamlChunk[] | null {
  if (text.length > MAX_LENGTH) return null;
  const chunks: YamlChunk[] = [];
  for (const piece of yamlChunks(text, size)) {
    const chunk = parseChunk(piece);
    if (chunk === null) return null;
    chunks.push(chunk);
  }
  return chunks;
}

function parseChunk(text: string): YamlChunk | null {
  if (SPECIAL.test(text) || controlProblems(text).length > 0) return null;
  try {
    const value = load(text, { maxDepth: MAX_DEPTH });
    return typeof value === "object" && value !== null ? { text, value: value as YamlChunk["value"] } : null;
  } catch {
    return null;
  }
}

/** Merges chunks: further members, and after the last of them perhaps other keys. */
function mergeChunks(chunks: readonly YamlChunk[]): object | null {
  const [first, ...more] = chunks.map(({ value }) => value);
  if (first === undefined || more.length === 0) return first ?? null;
  const lists = [first, ...more].map(({ members }) => members);
  if (!lists.every(Array.isArray)) return null;
  const otherEntries = more.flatMap(({ members, ...rest }) => Object.entries(rest));
  const whole: Record<string, unknown> = { ...first, members: lists.flat() };
  for (const [key, value] of otherEntries) {
    // The full parser reports a duplicate key.
    if (Object.hasOwn(whole, key)) return null;
    whole[key] = value;
  }
  return whole;
}

/** Prepended to each chunk after the first, so that it parses as a mapping of its own. */
const CHUNK_PREFIX = "members:\n";

/** Matches the key `members` on a line of its own, followed by an entry at any indentation. */
const MEMBERS = /^members: *\r?\n(?=( *)- )/m;

/**
 * Cuts a text of plain YAML between entries of its members into pieces of about this many characters, so that reading
 * them one after the other takes only the memory for one. Each piece begins with the key of the members, except the
 * first, which begins as the text does; the last ends as the text does. A cut inside a quotation, a bracket or a block
 * leaves a piece that is not YAML, so a text that can be read in pieces means the same as the whole.
 */
export function* yamlChunks(text: string, size: number): Generator<string> {
  if (text.length <= size) {
    yield text;
    return;
  }
  const header = MEMBERS.exec(text);
  const begin = header === null ? text.length : header.index + header[0].length;
  const entry = `\n${header?.[1] ?? ""}- `;
  const end = endOfList(text, begin, header?.[1] === "");
  let start = 0;
  for (;;) {
    const next = text.indexOf(entry, Math.max(start, begin) + size) + 1;
    if (next === 0 || next >= end) break;
    yield start === 0 ? text.slice(0, next) : CHUNK_PREFIX + text.slice(start, next);
    start = next;
  }
  yield start === 0 ? text : CHUNK_PREFIX + text.slice(start);
}

/** Returns the offset of the first line after the list of members. */
function endOfList(text: string, begin: number, flush: boolean): number {
  const line = flush ? /^(?!- |[ #\r\n])/gm : /^[^ #\r\n]/gm;
  line.lastIndex = begin;
  return line.exec(text)?.index ?? text.length;
}

/** A chunk of a plain text that can be located by itself. */
export interface TextPart {
  readonly text: string;
  /** The offset to add to a position in the part to get the position in the text. */
  readonly shift: number;
  /** The index of its first member, and of the first member after it. */
  readonly from: number;
  readonly to: number;
}

/** Divides a text into parts of about `size` UTF-16 units; null if it is not plain and must be read as a whole. */
export function partsOf(text: string, size: number): readonly TextPart[] | null {
  const chunks = parseChunks(text, size);
  if (chunks === null || mergeChunks(chunks) === null) return null;
  const parts: TextPart[] = [];
  let start = 0;
  for (const chunk of chunks) {
    const added = parts.length > 0 ? CHUNK_PREFIX.length : 0;
    const from = parts.at(-1)?.to ?? 0;
    const to = from + listOf(fieldsOf(chunk.value)["members"]).length;
    parts.push({ text: chunk.text, shift: start - added, from, to });
    start += chunk.text.length - added;
  }
  return parts;
}

/** Returns the parts that may hold a path, with the path inside each; null if the whole text is needed. */
export function pathsIn(
  parts: readonly TextPart[],
  path: Path,
): readonly { readonly part: TextPart; readonly path: Path }[] | null {
  const [key, index, ...rest] = path;
  const [first, last] = [parts[0], parts.at(-1)];
  if (first === undefined || last === undefined || key === undefined) return null;
  // Other keys come before the first or after the last member.
  if (key !== "members") return [...new Set([first, last])].map((part) => ({ part, path }));
  if (typeof index !== "number") return null;
  const part = parts.find(({ from, to }) => from <= index && index < to);
  return part === undefined ? [] : [{ part, path: [key, index - part.from, ...rest] }];
}

// Matches characters that YAML does not allow, and lone surrogates.
const CONTROL = /[^\P{Cc}\t\n\r\u0085]|[\ufffe\uffff]|\p{Cs}/gu;

/** Reports the first control character of a text, and the number of further ones. */
export function controlProblems(text: string): readonly Problem<YamlProblem>[] {
  let first: number | null = null;
  let count = 0;
  for (const { index } of text.matchAll(CONTROL)) {
    first ??= index;
    count += 1;
  }
  if (first === null) {
    return [];
  }
  return [
    {
      code: "yaml-control",
      character: escapeText(text.charAt(first)),
      more: count - 1,
      location: { at: "text", start: first, end: first + 1 },
    },
  ];
}
