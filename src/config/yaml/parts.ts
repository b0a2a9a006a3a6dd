import type { Path } from "../diagnostics/problem.ts";
import { fieldsOf, listOf } from "../values.ts";
import { joined, plainPieces } from "./fast-yaml.ts";
import { HEAD } from "./yaml-chunks.ts";

/** A piece of a plain text that means by itself what it means there. */
export interface Part {
  readonly text: string;
  /** Added to a place in the part, gives the place in the whole. */
  readonly shift: number;
  /** The number of its first member among all, and of the first one after it. */
  readonly from: number;
  readonly to: number;
}

/** The parts of a text, of about so many UTF-16 units; null where it is not plain, and can be read as a whole only. */
export function partsOf(text: string, size: number): readonly Part[] | null {
  const pieces = plainPieces(text, size);
  if (pieces === null || joined(pieces) === null) return null;
  const parts: Part[] = [];
  let start = 0;
  for (const piece of pieces) {
    const added = parts.length > 0 ? HEAD.length : 0;
    const from = parts.at(-1)?.to ?? 0;
    const to = from + listOf(fieldsOf(piece.value)["members"]).length;
    parts.push({ text: piece.text, shift: start - added, from, to });
    start += piece.text.length - added;
  }
  return parts;
}

/** Where in a part a path of the whole leads, one after the other to be tried; null where it takes the whole to tell. */
export function pathsIn(
  parts: readonly Part[],
  path: Path,
): readonly { readonly part: Part; readonly path: Path }[] | null {
  const [key, index, ...rest] = path;
  const [first, last] = [parts[0], parts.at(-1)];
  if (first === undefined || last === undefined || key === undefined) return null;
  // What stands beside the members stands before the first or after the last of them.
  if (key !== "members") return [...new Set([first, last])].map((part) => ({ part, path }));
  if (typeof index !== "number") return null;
  const part = parts.find(({ from, to }) => from <= index && index < to);
  return part === undefined ? [] : [{ part, path: [key, index - part.from, ...rest] }];
}
