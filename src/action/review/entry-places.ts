import { locate } from "../../kernel/yaml/locate.ts";
import type { PlaceOfEntry } from "../../review/judge-merchant.ts";
import type { Sources } from "./annotations.ts";

/** Returns where an entry of a file is, as `file:line`. */
export type LocateEntry = PlaceOfEntry;

/** Creates a function that finds the lines of entries in the texts of files. */
export function entryPlaces(sources: Sources): LocateEntry {
  const texts = new Map(sources.map(({ file, text }) => [file, text]));
  return ({ file, path }) => {
    const span = locate(texts.get(file) ?? "", path);
    return span ? `${file}:${span.line}` : file;
  };
}
