import { expect, test } from "vitest";
import { editYaml, type YamlEdit } from "../../../src/edit/yaml/edit-yaml.ts";
import { newFile } from "../../../src/edit/yaml/new-file.ts";
import { processorTime } from "../../support/processor-time.ts";

/** Returns the edited text, or why it is refused. */
function edited(text: string, ...edits: readonly YamlEdit[]): string {
  const result = editYaml(text, edits, {
    comments: new Map([["role_x", "X\n# y sk_live_abcdefghijkl \u202e"]]),
  });
  return "text" in result ? result.text : `refused: ${result.refused} at ${result.path.join(".")}`;
}

const set = (path: YamlEdit["path"], value: unknown): YamlEdit => ({ kind: "set", path, value }) as YamlEdit;
const append = (path: YamlEdit["path"], value: unknown): YamlEdit =>
  ({ kind: "append", path, value }) as YamlEdit;
const remove = (...path: YamlEdit["path"]): YamlEdit => ({ kind: "remove", path });

test.each<[name: string, text: string, edits: readonly YamlEdit[], expected: string]>([
  [
    "a comment behind a list in brackets stays",
    "m:\n  - roles: [a, b] # why\n",
    [append(["m", 0, "roles"], "c")],
    "m:\n  - roles: [a, b, c] # why\n",
  ],
  [
    "a list in brackets over several lines keeps its lines, with or without a comma at its end",
    "a: [\n    x, # one\n    y # two\n  ]\nb: [\n  x,\n  y,\n]\n",
    [append(["a"], "z"), append(["b"], "z")],
    "a: [\n    x, # one\n    y, # two\n    z\n  ]\nb: [\n  x,\n  y,\n  z,\n]\n",
  ],
  [
    "an item of such a list goes with its comments",
    "a: [\n  x, # one\n  # about y\n  y, # two\n  z # three\n]\n",
    [remove("a", 1)],
    "a: [\n  x, # one\n  z # three\n]\n",
  ],
  [
    "the last item of such a list leaves no comma, which JSON does not allow",
    '{\n  "a": [\n    "x",\n    "y",\n    "z"\n  ]\n}\n',
    [remove("a", 1), remove("a", 2)],
    '{\n  "a": [\n    "x"\n  ]\n}\n',
  ],
  [
    "several entries between blank lines leave one blank line",
    "a:\n  - k: 1\n\n  # two\n  - k: 2\n  - k: 3\n\n  - k: 4\n",
    [remove("a", 1), remove("a", 2)],
    "a:\n  - k: 1\n\n  - k: 4\n",
  ],
  [
    "with CRLF, a comment between items is no blank line",
    "a:\r\n  - x\r\n  # about y\r\n  - y\r\n",
    [append(["a"], "z")],
    "a:\r\n  - x\r\n  # about y\r\n  - y\r\n  - z\r\n",
  ],
  [
    "a comment below a list that becomes a text stays, and is no part of the text",
    "a:\n  - x\n    # below\nb: 1\n",
    [set(["a"], "one\ntwo")],
    "a: |-\n  one\n  two\n# below\nb: 1\n",
  ],
  [
    "an address that is no text is sorted all the same",
    "members:\n  - email: [a]\n  - email: b@x.example\n",
    [append(["members"], { email: [Object.create(null)] })],
    "members:\n  - email: [a]\n  - email: [{}]\n  - email: b@x.example\n",
  ],
  [
    "entries in brackets keep their bytes where another one changes, comes, or goes",
    "{ v: 1, m: [\n  # ours\n  { e: a, r: [x, # one\n     y] },  # a\n\n  {e: b,r:  [ x,y ]}, # b\n  { e: c } ] }\n",
    [remove("m", 0, "r", 0), append(["m", 1, "r"], "z"), set(["m", 2, "r"], ["x"])],
    "{ v: 1, m: [\n  # ours\n  { e: a, r: [\n     y] },  # a\n\n  {e: b,r:  [ x,y, z ]}, # b\n  { e: c, r: [x] } ] }\n",
  ],
  [
    "a new entry on lines in brackets has its comment above it",
    "m: [\n  { e: a }, # a\n  # of c\n  { e: c }\n]\n",
    [
      { kind: "append", path: ["m"], value: { e: "b" }, comment: "why" },
      { kind: "append", path: ["m"], value: { e: "d" } },
      remove("m", 1),
    ],
    "m: [\n  { e: a }, # a\n  # why\n  { e: b },\n  { e: d }\n]\n",
  ],
  [
    "a new entry with a comment makes a block of a list in brackets on one line",
    "m: [{ e: a }]\n",
    [{ kind: "append", path: ["m"], value: { e: "b" }, comment: "why" }],
    "m:\n  - { e: a }\n  # why\n  - { e: b }\n",
  ],
  [
    "commas at the beginnings of lines",
    "a: [ x # one\n   , y # two\n   , z ]\nb: [ x\n   , y ]\n",
    [remove("a", 1), append(["a"], "w"), remove("b", 0)],
    "a: [ x # one\n   , z, w ]\nb: [ y ]\n",
  ],
  [
    "a line in brackets that was too long may get shorter",
    `m:\n  - { e: ${"a".repeat(120)}, r: [x,  y] } # why\n`,
    [remove("m", 0, "r", 1)],
    `m:\n  - { e: ${"a".repeat(120)}, r: [x] } # why\n`,
  ],
  [
    "a pair without braces, a quoted key and an anchor in brackets",
    'a: [ k: 1, "l" : &x 2, *x ]\n',
    [set(["a", 0], { k: 3 }), set(["a", 1, "l"], 4)],
    "a: [ { k: 3 }, { l: 4 }, 2 ]\n",
  ],
  [
    "what is in brackets keeps its spaces",
    "a: {b: 1,  c: 2}\nb: [ x ,y, ]\n",
    [set(["a", "d"], 3), remove("a", "b"), set(["b"], ["x", "z"])],
    "a: {c: 2, d: 3}\nb: [ x, z, ]\n",
  ],
  [
    "the last key of a mapping leaves braces",
    "a:\n  b: 1 # one\nc: 2\n",
    [remove("a", "b")],
    "a: {}\nc: 2\n",
  ],
  ["a list that is not indented", "a:\n- x\n- y\n", [append(["a"], "z"), remove("a", 0)], "a:\n- y\n- z\n"],
  [
    "a list that is not indented does not tell how far a mapping is",
    "a:\n- x\n",
    [append(["a"], { b: { c: { d: 1 } } })],
    "a:\n- x\n- b:\n    c: { d: 1 }\n",
  ],
  [
    "an indentation of four and wide dashes stay, also beside new entries",
    "a:\n    -   b: 1\n        c:\n            d: 2\n",
    [append(["a"], { b: 1, c: { d: [{ e: 1 }] } }), set(["a", 0, "c", "e"], 3)],
    "a:\n    -   b: 1\n        c:\n            d: 2\n            e: 3\n    - b: 1\n      c:\n        d:\n          - e: 1\n",
  ],
  [
    "CRLF, a byte order mark and no line break at the end",
    "\uFEFFa:\r\n  - x # one\r\n  - y",
    [append(["a"], "z")],
    "\uFEFFa:\r\n  - x # one\r\n  - y\r\n  - z",
  ],
  [
    "the last entry of a text without a line break at its end",
    "a:\n  - x\n  - y",
    [remove("a", 1)],
    "a:\n  - x",
  ],
  [
    "a document with its marks",
    "---\na:\n  - x\n...\n",
    [append(["a"], "y")],
    "---\na:\n  - x\n  - y\n...\n",
  ],
  [
    "comments between entries and after the last one",
    "a:\n  - x\n\n  # apart\n\n  # of y\n  - y\n  # end\nb: 1\n",
    [remove("a", 1), append(["a"], "z")],
    "a:\n  - x\n\n  # apart\n\n  - z\n  # end\nb: 1\n",
  ],
  [
    "an entry that is commented out is not of the one below it",
    "a:\n  - email: x\n  # - email: bot\n  #   roles: [b]\n  # of y\n  - email: y\n",
    [remove("a", 1)],
    "a:\n  - email: x\n  # - email: bot\n  #   roles: [b]\n",
  ],
  ["tabs in comments", "a: 1 \t# \tx\n\t# y\nb: 2\n", [set(["a"], 3), remove("b")], "a: 3 \t# \tx\n\t# y\n"],
  [
    "a folded text and one in quotes over several lines",
    'a: >- # why\n  one\n  two\n\n# b\nb: "one\n  two"\nc: |+\n  x\n\nd: 1\n',
    [set(["a"], "three"), set(["b"], "x: y"), set(["c"], "z")],
    'a: three # why\n\n# b\nb: "x: y"\nc: z\nd: 1\n',
  ],
  [
    "a text that keeps its blank lines is no neighbour",
    "a:\n  - |+\n    x\n\n  - y\n",
    [append(["a"], "z")],
    "a:\n  - |+\n    x\n\n  - y\n  - z\n",
  ],
  [
    "keys that look alike are different, in any quotes",
    "'1': a\n\"1 \": b\n? 2\n: c\n",
    [set(["1"], "x"), set(["1 "], "y"), set(["2"], "z")],
    "'1': x\n\"1 \": y\n? 2\n: z\n",
  ],
  [
    "a key that is there twice is not edited",
    "a:\n  b: 1\n  b: 2\n",
    [remove("a", "b")],
    "refused: unsupported at a",
  ],
  ["a value that is not there", "a:\nb: 1\n", [append(["a"], "x"), set(["b"], [])], "a: [x]\nb: []\n"],
  [
    "an anchor stays where its list changes; who needs the old one has it written out",
    "a: &x [1, 2]\nb: *x\nc: { d: *x }\n",
    [set(["a"], [1, 2, 3]), append(["c", "d"], 3)],
    "a: &x [1, 2, 3]\nb: [1, 2]\nc: { d: *x }\n",
  ],
  [
    "what an alias stands for is written out where it changes, in the style of the others",
    "a: &x\n  - b: 1\n    c: [d]\ne: *x # why\n",
    [set(["e", 0, "b"], 2)],
    "a: &x\n  - b: 1\n    c: [d]\ne: # why\n  - b: 2\n    c: [d]\n",
  ],
  [
    "a comment stands above a list in brackets whose last item goes",
    "a: 1\nmembers: [{ email: b }] # c\n",
    [remove("members", 0), { kind: "remark", path: ["members"], value: { email: "d" } }],
    "a: 1\n# - { email: d }\nmembers: [] # c\n",
  ],
  [
    "a value in brackets keeps its bytes beside one that changes, with its alias",
    "a: &x [1]\nb: { c:  [ *x,2 ],d: 1 } # why\ne:\n  - {f: *x}\n  - 2\n",
    [set(["e", 1], 3)],
    "a: &x [1]\nb: { c:  [ *x,2 ],d: 1 } # why\ne:\n  - {f: *x}\n  - 3\n",
  ],
  [
    "an alias in front of another anchor of its name keeps its value",
    "a: &x [1]\nb:\n  - *x\n  - &x [2]\n  - *x\n",
    [set(["a"], [3])],
    "a: &x [3]\nb:\n  - [1]\n  - &x [2]\n  - *x\n",
  ],
  [
    "an anchored entry that goes is written out where it is used, together with one inside it",
    "a:\n  - &x { b: &y [1], c: 2 }\n  - *x\nd: *y\n",
    [remove("a", 0)],
    "a:\n  - { b: [1], c: 2 }\nd: [1]\n",
  ],
  [
    "a new first key in the place of one that a comment follows",
    "members:\n  - roles: [a]\n    # of id\n    id: b\n",
    [set(["members", 0, "email"], "c"), remove("members", 0, "roles")],
    "members:\n  - email: c\n    # of id\n    id: b\n",
  ],
  [
    "an anchored block is replaced below its anchor",
    "a:\n  - &x [1]\n  - *x\n",
    [set(["a", 0], [{ b: 1, c: [{ d: 1 }] }])],
    "a:\n  - &x [{ b: 1, c: [{ d: 1 }] }]\n  - [1]\n",
  ],
  [
    "a merge key is a key",
    "a: &x { b: 1 }\nc:\n  <<: *x\n  d: 2\n",
    [remove("a")],
    "c:\n  <<: { b: 1 }\n  d: 2\n",
  ],
  [
    "JSON stays JSON",
    '{\n\t"version": 1,\n\t"members": [\n\t\t{\n\t\t\t"email": "a"\n\t\t}\n\t]\n}\n',
    [append(["members"], { email: "b" }), set(["merchant"], "MC1")],
    '{\n\t"version": 1,\n\t"merchant": "MC1",\n\t"members": [\n\t\t{\n\t\t\t"email": "a"\n\t\t},\n\t\t{\n\t\t\t"email": "b"\n\t\t}\n\t]\n}\n',
  ],
  [
    "names in comments are on one line, visible, and no keys",
    "members:\n  - email: a\n    roles: [b]\n  - email: c\n    roles:\n      - b\n",
    [append(["members", 0, "roles"], "role_x"), append(["members", 1, "roles"], "role_x")],
    "members:\n  - email: a\n    roles: [b, role_x] # role_x: X\\n# y sk_live_**** \\u{202e}\n  - email: c\n    roles:\n      - b\n      - role_x # X\\n# y sk_live_**** \\u{202e}\n",
  ],
  [
    "edits of one value in another",
    "a: { b: 1 }\n",
    [set(["a"], {}), set(["a", "b"], 2)],
    "refused: overlap at a",
  ],
  ["two edits of one value", "a: 1\n", [set(["a"], 2), remove("a")], "refused: overlap at a"],
  ["what is in no collection", "a: 1\n", [set(["a", "b"], 2)], "refused: missing at a"],
  ["an item beyond the end", "a: [1]\n", [set(["a", 1], 2)], "refused: missing at a.1"],
  ["a text that is no YAML", "a: [1\n", [remove("a")], "refused: unreadable at "],
])("%s", (_, text, edits, expected) => {
  expect(edited(text, ...edits)).toBe(expected);
});

test("a commented-out entry is added once, however it is written", () => {
  const remark: YamlEdit = { kind: "remark", path: ["m"], value: { email: "bot@example.com", roles: ["a"] } };
  const once = edited("m:\n  - email: x\n    roles: [b]\n", remark);
  expect(once).toBe("m:\n  - email: x\n    roles: [b]\n  # - email: bot@example.com\n  #   roles: [a]\n");
  expect(edited(once, remark)).toBe(once);
  const byHand = 'm:\n  - email: x\n  #- { email: "bot@example.com" }\n';
  expect(edited(byHand, remark)).toBe(byHand);
  expect(edited("m: []\n", remark)).toBe("# - email: bot@example.com\n#   roles: [a]\nm: []\n");
  const named = (name: string): YamlEdit => ({ kind: "remark", path: ["m"], value: { name } });
  const both = 'm:\n  - a\n  # - name: Old Lead\n  # - name: "a\\nb"\n';
  expect(edited("m:\n  - a\n", named("Old Lead"), named("a\nb"))).toBe(both);
  expect(edited(both, named("Old Lead"), named("a\nb"))).toBe(both);
  expect(edited(both, named("Old Till"))).toContain("  # - name: Old Till\n");
});

test("2,000 entries take 20 edits in much less than a second", () => {
  const members = Array.from({ length: 2000 }, (_, index) =>
    append(["members"], {
      email: `m${index}@example.com`,
      roles: ["Cashier", "role_x"],
      metadata: { number: String(index) },
    }),
  );
  const file = newFile({ settings: { version: 1, merchant: "MC1" }, lists: ["members"], edits: members });
  const text = "text" in file ? file.text : "";
  const edits = Array.from({ length: 20 }, (_, index): YamlEdit => {
    const path = ["members", index * 100];
    if (index % 3 === 0) return remove(...path);
    return index % 3 === 1
      ? set([...path, "roles"], ["Cashier"])
      : append(["members"], { email: `new${index}@example.com`, roles: ["Cashier"] });
  });
  const before = processorTime();
  const result = edited(text, ...edits);
  expect(processorTime() - before).toBeLessThan(1500);
  expect(result.split("\n")).toHaveLength(text.split("\n").length - 7 * 3 + 6 * 2);
});
