import { memberOfCheck, namesInCheck } from "../../kernel/rules/settings/every-check-setting.ts";
import { fieldsOf, listOf, textOf } from "../../kernel/values/values.ts";
import { parseFast } from "../../kernel/yaml/fast-yaml.ts";
import { parse } from "../../kernel/yaml/to-value.ts";
import { type EditedYaml, editYaml, type YamlEdit } from "./edit-yaml.ts";

/** A file from which people were removed: its new text, and who was in it. */
export interface OffboardedFile {
  readonly edited: EditedYaml;
  /** The current and previous addresses, in lower case, of those who were members of the file. */
  readonly members: ReadonlySet<string>;
}

/**
 * Removes people from a file: as members, also by a previous address, and from the guards and checks that name them.
 * `addresses` are in lower case; returns `null` if the file does not name any of them there.
 */
export function offboardFrom(text: string, addresses: ReadonlySet<string>): OffboardedFile | null {
  const { value } = parseFast(text) ?? parse(text);
  const { members, guards, checks } = fieldsOf(value);
  const leaving = (text: unknown): boolean => addresses.has(textOf(text)?.toLowerCase() ?? "");
  const people = listOf(members).map((entry) => {
    const { email, previously } = fieldsOf(entry);
    return [email, previously].flat();
  });
  const isLeaver = (person: readonly unknown[]): boolean => person.some(leaving);
  const edits = [
    ...removals(["members"], people, isLeaver),
    ...removals(
      ["guards", "protect", "members"],
      listOf(fieldsOf(fieldsOf(guards)["protect"])["members"]),
      leaving,
    ),
    ...listOf(checks).flatMap((check, index): readonly YamlEdit[] => {
      const path = ["checks", index];
      return leaving(memberOfCheck(check))
        ? [{ kind: "remove", path }]
        : namesInCheck(check).flatMap((name) =>
            name.what === "member" && leaving(name.text)
              ? [{ kind: "remove" as const, path: [...path, ...name.path] }]
              : [],
          );
    }),
  ];
  if (edits.length === 0) return null;
  return {
    edited: editYaml(text, edits),
    members: new Set(
      people
        .filter(isLeaver)
        .flat()
        .flatMap((address) => textOf(address)?.toLowerCase() ?? []),
    ),
  };
}

/** Matches the escapes of a double-quoted text that can be part of an address. */
const ESCAPE = /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|\r?\n[ \t]*)/g;

/** Returns whether a text, which need not be valid YAML, contains one of the addresses, also written with escapes. */
export function mentionsAny(text: string, addresses: ReadonlySet<string>): boolean {
  const lower = text
    .replaceAll(ESCAPE, (_, ...[two, four, eight]: readonly (string | undefined)[]) => {
      const code = Number.parseInt(two ?? four ?? eight ?? "", 16);
      return code <= 0x10ffff ? String.fromCodePoint(code) : "";
    })
    .toLowerCase();
  return [...addresses].some((address) => lower.includes(address));
}

function removals<Item>(
  path: readonly (string | number)[],
  items: readonly Item[],
  isRemoved: (item: Item) => boolean,
): readonly YamlEdit[] {
  return items.flatMap((item, index) => (isRemoved(item) ? { kind: "remove", path: [...path, index] } : []));
}
