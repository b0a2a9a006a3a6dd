import fc from "fast-check";
import { expect, test } from "vitest";
import { placeItems } from "../../../src/edit/format/sort-document.ts";
import { editYaml, type YamlEdit } from "../../../src/edit/yaml/edit-yaml.ts";
import { parse } from "../../../src/kernel/yaml/to-value.ts";
import type { JsonValue } from "../../../src/model/json.ts";
import { randomOf, writtenLines } from "../../kernel/read/support/written-yaml.ts";
import { runs } from "../../support/property-runs.ts";

type Keys = readonly (string | number)[];
type Fields = { readonly [key: string]: JsonValue };

const text = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom("a", "b", "catalog_view", "role_owner", "Till 7", "ada@example.com"),
  },
  fc.constantFrom(
    "yes",
    "007",
    "",
    "null",
    "# no",
    "a: b",
    "- x",
    "*",
    "&a",
    "1e3",
    "店長",
    "x #y",
    "a, b]",
    "{",
  ),
  fc.constantFrom(
    "One\nTwo\n",
    "One\nTwo",
    " \u202e",
    "a\tb",
    "'q'",
    '"',
    "2099-01-31",
    "1:30",
    ".5",
    "+.5",
    "<<",
    "a:",
  ),
);
const scalar = fc.oneof({ weight: 5, arbitrary: text }, fc.integer({ min: -5, max: 2000 }), fc.boolean());
const key = fc.constantFrom(
  "email",
  "roles",
  "name",
  "until",
  "a",
  "b c",
  "yes",
  "1",
  "x: y",
  "permissions",
  "id",
);
const { tree } = fc.letrec<{ tree: JsonValue }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    scalar,
    fc.array(scalar, { maxLength: 5 }),
    fc.array(tie("tree"), { maxLength: 4 }),
    fc.dictionary(key, tie("tree"), { maxKeys: 4 }),
  ),
}));
const file = fc
  .record(
    {
      version: fc.constant(1),
      roles: fc.array(fc.dictionary(key, tree, { minKeys: 1, maxKeys: 4 }), { maxLength: 5 }),
      members: fc.array(fc.dictionary(key, tree, { minKeys: 1, maxKeys: 4 }), { maxLength: 5 }),
      guards: fc.dictionary(key, tree, { maxKeys: 3 }),
      checks: fc.array(scalar, { maxLength: 5 }),
    },
    { requiredKeys: ["version"] },
  )
  .map((value) => JSON.parse(JSON.stringify(value)) as Fields);

const style = fc.record({
  seed: fc.integer(),
  aliases: fc.boolean(),
  breaks: fc.constantFrom("\n", "\n", "\r\n", "mixed"),
  mark: fc.constantFrom("", "", "", "\uFEFF"),
  start: fc.constantFrom("", "", "", "---"),
  stop: fc.constantFrom("\n", "\n", "\n", "", "...", "\n\n"),
});

type Style = typeof style extends fc.Arbitrary<infer T> ? T : never;

function join(lines: readonly string[], { seed, breaks, mark, start, stop }: Style): string {
  const random = randomOf(seed + 1);
  const all = [...(start === "" ? [] : [start]), ...lines, ...(stop === "..." ? [stop] : [])];
  const ended = all.map((line) => line + (breaks === "mixed" ? ["\n", "\r\n"][random(2)] : breaks));
  const whole = mark + ended.join("");
  if (stop === "") return whole.replace(/\r?\n$/, "");
  return stop === "\n\n" ? `${whole}\n` : whole;
}

/** Returns the paths of all values but the root. */
function pathsOf(value: JsonValue, path: Keys = []): readonly Keys[] {
  if (typeof value !== "object" || value === null) return path.length === 0 ? [] : [path];
  const inner = Array.isArray(value)
    ? value.flatMap((item: JsonValue, index) => pathsOf(item, [...path, index]))
    : Object.entries(value).flatMap(([name, item]) => pathsOf(item, [...path, name]));
  return path.length === 0 ? inner : [path, ...inner];
}

const at = (value: JsonValue, path: Keys): JsonValue =>
  path.reduce<JsonValue>((inner, segment) => (inner as Fields | null)?.[String(segment)] ?? null, value);

const isBelow = (path: Keys, above: Keys): boolean =>
  above.every((segment, index) => path[index] === segment);

const choice = fc.record({
  which: fc.nat(1000),
  kind: fc.constantFrom("set", "set", "remove", "remove", "append", "key", "items"),
  value: tree,
  name: key,
  drop: fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }),
});

type Choice = typeof choice extends fc.Arbitrary<infer T> ? T : never;

/** Returns edits about values none of which is in another. */
function editsOf(value: Fields, choices: readonly Choice[]): readonly YamlEdit[] {
  const paths = pathsOf(value);
  const edits: YamlEdit[] = [];
  for (const { which, kind, value: fresh, name, drop } of choices) {
    const path = paths[which % Math.max(1, paths.length)];
    if (path === undefined) continue;
    const old = at(value, path);
    const edit = editAt(path, old, kind, fresh, name, drop);
    const taken = edits.some((other) => isBelow(edit.path, other.path) || isBelow(other.path, edit.path));
    if (!taken) edits.push(edit);
  }
  return edits;
}

function editAt(
  path: Keys,
  old: JsonValue,
  kind: Choice["kind"],
  fresh: JsonValue,
  name: string,
  drop: readonly boolean[],
): YamlEdit {
  if (kind === "remove") return { kind, path };
  if (kind === "append" && Array.isArray(old)) return { kind, path, value: fresh };
  if (kind === "key" && typeof old === "object" && old !== null && !Array.isArray(old) && !(name in old)) {
    return { kind: "set", path: [...path, name], value: fresh };
  }
  if (kind === "items" && Array.isArray(old)) {
    const items = old as readonly JsonValue[];
    const added = Array.isArray(fresh) ? (fresh as readonly JsonValue[]) : [fresh];
    return { kind: "set", path, value: [...items.filter((_, index) => drop[index] !== true), ...added] };
  }
  return { kind: "set", path, value: fresh };
}

const REMOVED = "\0removed";

/** Makes the edits in plain data. */
function expectedOf(value: Fields, edits: readonly YamlEdit[]): JsonValue {
  const copy = structuredClone(value) as Record<string, unknown>;
  for (const edit of edits) {
    const last = edit.path.at(-1) ?? "";
    const parent = edit.path
      .slice(0, -1)
      .reduce<Record<string, unknown>>((inner, segment) => inner[segment] as Record<string, unknown>, copy);
    if (edit.kind === "append") {
      const list = parent[last] as JsonValue[];
      const [[after = -1] = []] = placeItems(list, [edit], edit.path);
      list.splice(after + 1, 0, edit.value);
    } else parent[last] = edit.kind === "remove" ? REMOVED : (edit as { value: JsonValue }).value;
  }
  return JSON.parse(JSON.stringify(without(copy)));
}

function without(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((item) => item !== REMOVED).map(without);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== REMOVED)
      .map(([name, item]) => [name, without(item)]),
  );
}

/** Returns whether an edit may change a line of an entry. */
function isTouched(
  owner: Keys,
  kind: string,
  edits: readonly YamlEdit[],
  value: JsonValue,
  expected: JsonValue,
): boolean {
  return edits.some(({ path, kind: what }) => {
    if (isBelow(owner, path)) return what !== "append" || (owner.length === path.length && kind !== "free");
    const container = path.slice(0, -1);
    if (!isBelow(owner, container)) return kind !== "free" && isBelow(container, owner);
    if (JSON.stringify(at(expected, container)).length === 2) return true;
    // The first entry of a block may share its line with a dash.
    const [first, second] = Object.keys((at(value, container) ?? {}) as object);
    const index = String(owner[container.length]);
    const isNew = !(String(path.at(-1)) in ((at(value, container) ?? {}) as object));
    return isNew || owner.length === container.length
      ? kind !== "free" && (index === first || owner.length === container.length)
      : String(path.at(-1)) === first && (index === second || what === "remove");
  });
}

const LONG = 95;

test("edits change the data as they say, and no other line", () => {
  fc.assert(
    fc.property(file, style, fc.array(choice, { minLength: 1, maxLength: 5 }), (value, look, choices) => {
      const lines = writtenLines(value, look.seed, look.aliases);
      const before = join(
        lines.map((line) => line.text),
        look,
      );
      fc.pre(parse(before).readable && JSON.stringify(parse(before).value) === JSON.stringify(value));
      expect(editYaml(before, [])).toEqual({ text: before });
      const edits = editsOf(value, choices);
      const expected = expectedOf(value, edits);
      const edited = editYaml(before, edits);
      if (!("text" in edited))
        throw new Error(`${JSON.stringify(edited)}\n${JSON.stringify(edits)}\n${before}`);
      const after = parse(edited.text);
      expect(
        after.problems.map(({ code }) => code).filter((code) => !["number-form", "yaml-word"].includes(code)),
      ).toEqual([]);
      expect(after.value).toEqual(expected);
      const now = edited.text.replace("\uFEFF", "").split(/\r?\n/);
      let position = 0;
      for (const line of lines) {
        const isFree = line.text.trim() === "" || line.text.length > LONG || /[&*]n\d/.test(line.text);
        if (isFree || isTouched(line.owner, line.kind, edits, value, expected)) continue;
        const found = now.indexOf(line.text, position);
        if (found < 0)
          throw new Error(`lost: ${line.text}\n${JSON.stringify(edits)}\n${before}\n=====\n${edited.text}`);
        position = found + 1;
      }
      const again = Object.entries(expected as Fields).map(
        ([name, item]): YamlEdit => ({ kind: "set", path: [name], value: item }),
      );
      expect(editYaml(edited.text, again)).toEqual({ text: edited.text });
    }),
    { numRuns: runs(150) },
  );
});

test("any target state is reached, and is the same the second time", () => {
  fc.assert(
    fc.property(file, file, style, (value, target, look) => {
      const before = join(
        writtenLines(value, look.seed, look.aliases).map((line) => line.text),
        look,
      );
      fc.pre(parse(before).readable);
      const names = [...new Set([...Object.keys(value), ...Object.keys(target)])];
      const edits = names.map((name): YamlEdit => {
        const wanted = target[name];
        return wanted === undefined
          ? { kind: "remove", path: [name] }
          : { kind: "set", path: [name], value: wanted };
      });
      const edited = editYaml(before, edits);
      if (!("text" in edited))
        throw new Error(`${JSON.stringify(edited)}\n${JSON.stringify(edits)}\n${before}`);
      expect(parse(edited.text).value).toEqual(target);
      const again = Object.entries(target).map(
        ([name, item]): YamlEdit => ({ kind: "set", path: [name], value: item }),
      );
      expect(editYaml(edited.text, again)).toEqual({ text: edited.text });
    }),
    { numRuns: runs(60) },
  );
});
