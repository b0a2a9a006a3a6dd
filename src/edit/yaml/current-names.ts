import { isError } from "../../kernel/problems/rule-table.ts";
import type { PreviousName } from "../../kernel/read/load-merchants.ts";
import { fieldsOf } from "../../kernel/values/values.ts";
import { createLocator } from "../../kernel/yaml/locate.ts";
import { parse } from "../../kernel/yaml/to-value.ts";

/** Writes the current names of roles at the places of previous ones, except where that is not possible. */
export function writeCurrentNames(text: string, places: readonly PreviousName[]): string {
  if (places.length === 0) return text;
  return (
    withNames(text, places) ?? places.reduce((current, place) => withNames(current, [place]) ?? current, text)
  );
}

/** Returns the text with all current names; `null` if it would mean something else. */
function withNames(text: string, places: readonly PreviousName[]): string | null {
  const locate = createLocator(text);
  const splices = places.flatMap((place) => {
    const range = locate(place.location);
    const written = range && currentToken(text.slice(range.start, range.end), place);
    return written ? [{ ...range, written }] : [];
  });
  let after = text;
  for (const { start, end, written } of splices.toSorted((a, b) => b.start - a.start)) {
    after = after.slice(0, start) + written + after.slice(end);
  }
  const { value, readable, problems } = parse(after);
  const expected = places.reduce(withCurrentName, parse(text).value);
  return readable && !problems.some(isError) && JSON.stringify(value) === JSON.stringify(expected)
    ? after
    : null;
}

/** Returns a scalar with the current name, quoted as it is; `null` if it is not written plainly. */
function currentToken(token: string, { role, name }: PreviousName): string | null {
  const [, quote = "", inner = ""] = /^(["']?)(.*)\1$/s.exec(token) ?? [];
  const renamed = currentText(inner, { role, name });
  if (renamed === inner) return null;
  if (quote === "'") return `'${renamed.replaceAll("'", "''")}'`;
  return quote === "" && PLAIN_NAME.test(renamed) ? renamed : JSON.stringify(renamed);
}

/** Matches a name that needs no quotes. */
const PLAIN_NAME =
  /^(?!(?:true|false|null|yes|no|on|off|y|n)$)\p{L}[\p{L}\p{N}_.-]*(?: [\p{L}\p{N}_.-]+)*$/iu;

/** Returns a name, or an entry such as `role:Name`, with the current name. */
function currentText(text: string, { role, name }: Pick<PreviousName, "role" | "name">): string {
  if (text === role) return name;
  const [, prefix = "", rest] = /^(role:\s*)(.*)$/.exec(text) ?? [];
  return rest?.trim() === role ? prefix + name : text;
}

/** Returns the plain value of a file with the current name at one place. */
function withCurrentName(value: unknown, { location, ...names }: PreviousName): unknown {
  if (!("path" in location)) return value;
  const { path, at } = location;
  const rename = (inner: unknown, depth: number): unknown => {
    if (depth === path.length) return typeof inner === "string" ? currentText(inner, names) : inner;
    const key = path[depth];
    if (Array.isArray(inner))
      return inner.map((item, index) => (index === key ? rename(item, depth + 1) : item));
    const isKey = at === "key" && depth === path.length - 1;
    return Object.fromEntries(
      Object.entries(fieldsOf(inner)).map(([field, item]) => {
        if (field !== key) return [field, item];
        return isKey ? [currentText(field, names), item] : [field, rename(item, depth + 1)];
      }),
    );
  };
  return rename(value, 0);
}
