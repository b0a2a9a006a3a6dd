import { fieldsOf, listOf } from "../../kernel/values/values.ts";
import { createLocator, indexPositions, type Locator, type Positions } from "../../kernel/yaml/locate.ts";
import { parseText } from "../../kernel/yaml/to-value.ts";
import { memoized } from "../../lib/memoized.ts";
import type { Origin } from "../../model/desired.ts";
import type { SnapshotRole } from "../../model/questions.ts";
import type { FilePlace } from "../../show/questions/answer-formats.ts";

/** Finds lines of files; each file is parsed once, when the first of its lines is needed. */
export interface PlaceFinder {
  /** Returns the place of an entry; `null` if its file was not read. */
  entry(origin: Origin): FilePlace | null;
  /** Returns the places that give a role a permission: in its entry, or in the merchant's adjustment of it. */
  permission(role: SnapshotRole, permission: string): readonly FilePlace[];
}

/** A parsed file. */
interface Indexed {
  readonly locate: Locator;
  readonly positions: Positions;
  readonly value: () => unknown;
}

/** Creates a finder of places in these files. */
export function placeFinder(
  sources: readonly { readonly file: string; readonly text: string }[],
): PlaceFinder {
  const texts = new Map(sources.map(({ file, text }) => [file, text]));
  const indexOf = memoized((file: string): Indexed | null => {
    const text = texts.get(file);
    return text === undefined ? null : indexFile(text);
  });
  const entry = ({ file, path }: Origin): FilePlace | null => {
    const indexed = indexOf(file);
    // A field that only one of several grants of a role has is located near the entries of the others.
    const range =
      indexed?.locate({ at: "value", path }) ?? indexed?.locate({ at: "value", path: path.slice(0, -1) });
    if (!indexed || !range) return null;
    const { line, column } = indexed.positions.span(range.start, range.end);
    return { file, line, column };
  };
  const inList = (
    origin: Origin | null,
    keys: readonly string[],
    permission: string,
  ): readonly FilePlace[] => {
    if (origin === null) return [];
    const path = [...origin.path, ...keys];
    const value = path.reduce<unknown>(
      (outer, key) => (typeof key === "number" ? listOf(outer)[key] : fieldsOf(outer)[key]),
      indexOf(origin.file)?.value(),
    );
    const index = listOf(value).indexOf(permission);
    const place = index < 0 ? null : entry({ file: origin.file, path: [...path, index] });
    return place === null ? [] : [place];
  };
  return {
    entry,
    permission: ({ origin, adjusted }, permission) => [
      ...inList(origin, ["permissions"], permission),
      ...inList(adjusted, ["adjust", "add"], permission),
    ],
  };
}

function indexFile(text: string): Indexed {
  let value: { readonly value: unknown } | undefined;
  return {
    locate: createLocator(text),
    positions: indexPositions(text),
    value: () => {
      value ??= parseText(text);
      return value.value;
    },
  };
}
