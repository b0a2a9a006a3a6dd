import fc from "fast-check";
import { expect, test } from "vitest";
import { editYaml, type YamlEdit } from "../../../src/edit/yaml/edit-yaml.ts";
import { parse } from "../../../src/kernel/yaml/to-value.ts";
import { runs } from "../../support/property-runs.ts";

/** An entry as somebody wrote it, with the comments and line breaks around it. */
const entry = fc.record({
  text: fc.constantFrom(
    "{ e: NAME }",
    "{e: NAME,r: [a,b]}",
    "{ e: NAME,\n      r: [ a, # of a\n b ] }",
    '{"e": "NAME"}',
  ),
  above: fc.constantFrom("", "", "\n  ", "\n  # above NAME\n  ", "\n\n  "),
  comma: fc.constantFrom(",", ", ", " , # behind NAME\n  ", ",\n  ", "\n  , "),
});
const list = fc.record({
  entries: fc.array(entry, { minLength: 1, maxLength: 5 }),
  end: fc.constantFrom("]", " ]", "\n]", ",]", ", # end\n]", "\n  # end\n]"),
});
const choice = fc.record({
  kind: fc.constantFrom("remove", "append", "comment", "set", "grow", "shrink"),
  which: fc.nat(4),
});

const NAMES = ["ann", "bob", "cy", "dan", "eva"];

type Entries = readonly { readonly text: string; readonly above: string; readonly comma: string }[];

/** Gives each entry its name, and returns them with the text of the list in a file. */
function written(entries: Entries, end: string): { readonly named: Entries; readonly before: string } {
  const named = entries.map(({ text, above, comma }, index) => {
    const nameIn = (part: string): string => part.replace("NAME", NAMES[index] ?? "");
    return { text: nameIn(text), above: nameIn(above), comma: nameIn(comma) };
  });
  const inside = named.map(
    ({ text, above, comma }, index) => above + text + (index < named.length - 1 ? comma : ""),
  );
  return { named, before: `v: 1\nm: [${inside.join("")}${end}\nw: 2 # w\n` };
}

function editOf(kind: string, index: number, hasRoles: boolean, number: number): YamlEdit | null {
  switch (kind) {
    case "remove":
      return { kind, path: ["m", index] };
    case "append":
      return { kind, path: ["m"], value: { e: `zoe${number}` } };
    case "comment":
      return { kind: "append", path: ["m"], value: { e: `zoe${number}` }, comment: `reason ${number}` };
    case "set":
      return { kind, path: ["m", index, "x"], value: 1 };
    case "grow":
      return hasRoles ? { kind: "append", path: ["m", index, "r"], value: "c" } : null;
    default:
      return hasRoles ? { kind: "remove", path: ["m", index, "r", 0] } : null;
  }
}

/** Returns edits of different entries, by the index of the entry, or `new` and a number. */
function editsOf(
  value: unknown,
  choices: readonly { readonly kind: string; readonly which: number }[],
): ReadonlyMap<string, YamlEdit> {
  const { m } = value as { readonly m: readonly { readonly r?: readonly string[] }[] };
  const edits = choices.flatMap(({ kind, which }, number): readonly (readonly [string, YamlEdit])[] => {
    const index = which % m.length;
    const edit = editOf(kind, index, m[index]?.r !== undefined, number);
    if (edit === null) return [];
    return [[edit.kind === "append" && edit.path.length === 1 ? `new ${number}` : `${index}`, edit]];
  });
  return new Map(edits);
}

test("of a list in brackets, only the entries change that are edited, and no comment is lost", () => {
  fc.assert(
    fc.property(list, fc.array(choice, { minLength: 1, maxLength: 3 }), ({ entries, end }, choices) => {
      const { named, before } = written(entries, end);
      const { value, readable } = parse(before);
      fc.pre(readable);
      const edits = editsOf(value, choices);
      const edited = editYaml(before, [...edits.values()]);
      if (!("text" in edited)) throw new Error(`${JSON.stringify([edited, [...edits]])}\n${before}`);
      const after = edited.text;
      const context = `${JSON.stringify([...edits])}\n${before}=====\n${after}`;
      const comments = [...edits.values()].flatMap((edit) =>
        "comment" in edit ? [`# ${edit.comment}\n`] : [],
      );
      // A list on one line becomes a block for a comment.
      const isPrinted =
        !before.slice(before.indexOf("["), -"\nw: 2 # w\n".length).includes("\n") && comments.length > 0;
      const kept = named.filter((_, index) => !edits.has(`${index}`));
      for (const part of [
        ...kept.flatMap(({ text, above }) => [above.trim(), isPrinted ? "" : text]),
        ...comments,
      ]) {
        expect(after, context).toContain(part);
      }
      expect(after, context).toMatch(/^v: 1\nm:.*\nw: 2 # w\n$/s);
    }),
    { numRuns: runs(300) },
  );
});
