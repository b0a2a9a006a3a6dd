import fc from "fast-check";

const FIRST_SURROGATE = 0xd800;
const SURROGATES = 0x800;

/** Any character but lone surrogates: fast-check's own unit "binary", which first lists all of them for a second. */
export const anyCharacter: fc.Arbitrary<string> = fc.integer({ min: 0, max: 0x10_ffff - SURROGATES }).map(
  (index) => String.fromCodePoint(index < FIRST_SURROGATE ? index : index + SURROGATES),
  (text) => {
    const code = typeof text === "string" ? text.codePointAt(0) : undefined;
    if (code === undefined || String.fromCodePoint(code) !== text) throw new Error("this is no character");
    return code < FIRST_SURROGATE ? code : code - SURROGATES;
  },
);
