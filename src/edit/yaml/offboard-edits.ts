import { fieldsOf, listOf, textOf } from "../../kernel/values/values.ts";
import { parseFast } from "../../kernel/yaml/fast-yaml.ts";
import { parse } from "../../kernel/yaml/to-value.ts";
import { type EditedYaml, editYaml, type YamlEdit } from "./edit-yaml.ts";

/** A file without somebody: what is left of its text, and who was in it. */
export interface OffboardedFile {
  readonly edited: EditedYaml;
  /** The addresses in lower case that were members of the file. */
  readonly members: ReadonlySet<string>;
}

/**
 * Removes people from a file: as members, and from the guards and checks that name them. `addresses` are in lower case;
 * returns `null` if the file does not name any of them there.
 */
export function offboardFrom(text: string, addresses: ReadonlySet<string>): OffboardedFile | null {
  const { value } = parseFast(text) ?? parse(text);
  const { members, guards, checks } = fieldsOf(value);
  const leaving = (text: unknown): boolean => addresses.has(textOf(text)?.toLowerCase() ?? "");
  const entries = listOf(members).map((entry) => fieldsOf(entry)["email"]);
  const edits = [
    ...removals(["members"], entries, leaving),
    ...removals(
      ["guards", "protect", "members"],
      listOf(fieldsOf(fieldsOf(guards)["protect"])["members"]),
      leaving,
    ),
    ...listOf(checks).flatMap((check, index): readonly YamlEdit[] => {
      const { only, member } = fieldsOf(check);
      const path = ["checks", index];
      return leaving(member)
        ? [{ kind: "remove", path }]
        : removals([...path, "only"], listOf(only), leaving);
    }),
  ];
  if (edits.length === 0) return null;
  return {
    edited: editYaml(text, edits),
    members: new Set(entries.flatMap((email) => (leaving(email) ? String(email).toLowerCase() : []))),
  };
}

function removals(
  path: readonly (string | number)[],
  items: readonly unknown[],
  isRemoved: (item: unknown) => boolean,
): readonly YamlEdit[] {
  return items.flatMap((item, index) => (isRemoved(item) ? { kind: "remove", path: [...path, index] } : []));
}
