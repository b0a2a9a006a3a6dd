import type { PreviousName } from "../../kernel/read/load-merchants.ts";
import { textOf, valueAt } from "../../kernel/values/values.ts";
import { parseFast } from "../../kernel/yaml/fast-yaml.ts";
import { parse } from "../../kernel/yaml/to-value.ts";
import { editYaml, type YamlEdit } from "./edit-yaml.ts";

/** Writes the current names of roles at the places of previous ones, except where that is not possible. */
export function writeCurrentNames(text: string, places: readonly PreviousName[]): string {
  const { value } = parseFast(text) ?? parse(text);
  const edits = places.flatMap((place) => renaming(place, value));
  const together = editYaml(text, edits);
  if ("text" in together) return together.text;
  return edits.reduce((current, edit) => {
    const edited = editYaml(current, [edit]);
    return "text" in edited ? edited.text : current;
  }, text);
}

/** Returns the edit that writes a current name, at a key or a value. */
function renaming({ location, role, name }: PreviousName, value: unknown): readonly YamlEdit[] {
  if (!("path" in location)) return [];
  const { path, at } = location;
  const before = at === "key" ? String(path.at(-1)) : (textOf(valueAt(value, path)) ?? "");
  const after = currentText(before, role, name);
  if (after === before) return [];
  return [at === "key" ? { kind: "rename", path, key: after } : { kind: "set", path, value: after }];
}

/** Returns a name, or an entry such as `role:Name`, with the current name. */
function currentText(text: string, role: string, name: string): string {
  if (text === role) return name;
  const [, prefix = "", rest] = /^(role:\s*)(.*)$/.exec(text) ?? [];
  return rest?.trim() === role ? prefix + name : text;
}
