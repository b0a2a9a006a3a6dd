/** A part of a file's members that can be read by itself, as a mapping of its own. */
export const HEAD = "members:\n";

/** The first piece takes no more than this of the members: it tells whose the file is, and somebody waits for that. */
const FIRST = 2_000;

/** The key of the members with nothing beside it, and the first entry below it, at whatever indent. */
const MEMBERS = /^members: *\r?\n(?=( *)- )/m;

/**
 * Cuts a text of plain YAML between entries of its members into pieces of about this many characters, so that reading
 * them one after the other takes the memory of one. Each piece begins with the key of the members but the first, which
 * begins as the text does; the last ends as the text does. A cut inside a quotation, a bracket or a block leaves a
 * piece that is no YAML: what can be read in pieces means the same as the whole.
 */
export function* yamlPieces(text: string, size: number): Generator<string> {
  const found = MEMBERS.exec(text);
  const begin = found === null ? text.length : found.index + found[0].length;
  const entry = `\n${found?.[1] ?? ""}- `;
  const end = endOfList(text, begin, found?.[1] === "");
  let start = 0;
  for (;;) {
    const length = start === 0 ? Math.min(size, FIRST) : size;
    const next = text.indexOf(entry, Math.max(start, begin) + length) + 1;
    if (next === 0 || next >= end) break;
    yield start === 0 ? text.slice(0, next) : HEAD + text.slice(start, next);
    start = next;
  }
  yield start === 0 ? text : HEAD + text.slice(start);
}

/** Whether a text of plain YAML ends with the list of its members: no key comes after it. */
export function endsWithMembers(text: string): boolean {
  const found = MEMBERS.exec(text);
  return found !== null && endOfList(text, found.index + found[0].length, found[1] === "") === text.length;
}

/** Where the first line begins that stands as far left as the key and is no entry of its list. */
function endOfList(text: string, begin: number, flush: boolean): number {
  const line = flush ? /^(?!- |[ #\r\n])/gm : /^[^ #\r\n]/gm;
  line.lastIndex = begin;
  return line.exec(text)?.index ?? text.length;
}
