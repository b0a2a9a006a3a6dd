import fc from "fast-check";
import { expect, test } from "vitest";
import { codeFor, imageOf } from "../../src/start/image.ts";

const bytes = fc.uint8Array({ maxLength: 40 }).map((some) => Buffer.from(some));
const some = fc.uint8Array({ minLength: 1, maxLength: 40 }).map((code) => Buffer.from(code));

test("an image gives the code for the text that it was compiled of", () => {
  fc.assert(
    fc.property(bytes, some, (text, code) => {
      expect(codeFor(text, imageOf(text, code))).toEqual(code);
    }),
  );
});

test("an image gives nothing for any other text, however alike", () => {
  fc.assert(
    fc.property(bytes, bytes, some, (text, other, code) => {
      fc.pre(!text.equals(other));
      expect(codeFor(other, imageOf(text, code))).toBeUndefined();
    }),
  );
});

test("an image gives nothing where a bit of its code is another one", () => {
  fc.assert(
    fc.property(bytes, some, fc.nat(), fc.nat(7), (text, code, at, bit) => {
      const image = imageOf(text, code);
      const place = image.length - text.length - 1 - (at % code.length);
      image[place] = (image[place] ?? 0) ^ (1 << bit);
      expect(codeFor(text, image)).toBeUndefined();
    }),
  );
});

test("an image that was cut short gives nothing", () => {
  fc.assert(
    fc.property(bytes, some, fc.nat(), (text, code, cut) => {
      const image = imageOf(text, code);
      expect(codeFor(text, image.subarray(0, cut % image.length))).toBeUndefined();
    }),
  );
});
