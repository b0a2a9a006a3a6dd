import fc from "fast-check";

/** What may stand before, among and after the entries of a list of members, also what only looks like one. */
const around = fc.constantFrom(
  ..."version: 1|members: []|members:|4711:|roles:|note: |note: |-|note: >|'a': 'x|note: \"x|note: [a,|note: { a: 1,".split(
    "|",
  ),
  ..."  - a|- a|  - email: a|    roles: [b, c]|    note: 'd|  e'|    - f|  - - g|    - h|   - i|  g: 1|]|  }|# j|  # k|\"|'".split(
    "|",
  ),
  "",
  " ",
  "note: |",
  "    note: |+",
  "    note: >-",
  "  - |",
);
const entry = fc.constantFrom(
  "  - email: a",
  "  - email: a\n    roles: [b,\n      c]",
  "  - { email: a }",
  "  - note: |\n      x\n\n     \n",
  "  - note: >+\n      - x\n\n",
  "  - 'a\n    - b'",
  "  - a\n   - b",
  "  - - a\n    - b # c",
  "  -\n    a: b",
);
const mostly = <T>(usual: fc.Arbitrary<T>, other: fc.Arbitrary<T>) =>
  fc.oneof({ arbitrary: usual, weight: 12 }, { arbitrary: other, weight: 1 });
/** A text with a list of members, and perhaps something else before and after it. */
export const listed = fc
  .tuple(
    mostly(fc.constantFrom("version: 1", "roles:\n- a\nversion: 1", "# all"), around),
    mostly(fc.constantFrom("members:", "members: "), fc.constantFrom("members: # all", "roles:")),
    fc.array(mostly(entry, around), { minLength: 1, maxLength: 6 }),
    mostly(fc.constantFrom("roles: [a]", "roles:\n  - a\n  - b", "", "# end"), around),
    fc.constantFrom("\n", "\n", "\r\n"),
    fc.constantFrom(0, 1, 2, 3),
  )
  .map(([before, key, entries, after, end, shift]) => {
    const list = entries.join("\n").replaceAll(/^ {2}/gm, " ".repeat(shift));
    return [before, key, list, after, ""].join("\n").replaceAll("\n", end);
  });
