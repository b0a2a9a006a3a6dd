import { spanFinder } from "../../kernel/yaml/locate.ts";
import type { Origin } from "../../model/desired.ts";
import type { PlaceOfEntry } from "../../review/judge-merchant.ts";
import type { Annotation } from "../context/action-log.ts";

/** The files' texts with their displayed names. */
export type Sources = readonly { readonly file: string; readonly text: string }[];

/** A line of a file; `null` if unknown. */
export type Place = Pick<Annotation, "file" | "line">;

/** Creates a function that finds the lines of entries in the texts of files. */
export function entryPlaces(sources: Sources): (origin: Pick<Origin, "file" | "path">) => Place {
  const spans = new Map(sources.map(({ file, text }) => [file, spanFinder(text)]));
  return ({ file, path }) => ({ file, line: spans.get(file)?.(path)?.line ?? null });
}

/** Creates a function that returns where an entry is, as `file:line`. */
export function placeTexts(sources: Sources): PlaceOfEntry {
  const placeOf = entryPlaces(sources);
  return (origin) => {
    const { file, line } = placeOf(origin);
    return line === null ? origin.file : `${file}:${line}`;
  };
}
