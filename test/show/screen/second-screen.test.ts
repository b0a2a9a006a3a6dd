import { expect, test } from "vitest";
import { secondScreen, shown } from "../../../src/show/screen/second-screen.ts";

test("what is unsafe in a text is visible, and joined emoji are as wide everywhere as one by one", () => {
  expect(shown("ada")).toBe("ada");
  expect(shown("a\u202eb\u001b[2J")).toBe("a\\u{202e}b\\u{1b}[2J");
  expect(shown("👩‍👩‍👧")).toBe("👩👩👧");
});

/** What reaches the terminal of what is written to the second screen. */
function written(text: string): string {
  let all = "";
  const stream = { write: (more: string) => (all += more) };
  secondScreen(stream as unknown as NodeJS.WriteStream).write(text);
  return all;
}

test("a frame overwrites the one before line by line, and erases neither the history nor the whole screen", () => {
  expect(written("\u001b[2K\u001b[1A\u001b[2K\u001b[Gone\ntwo\n")).toBe(
    "\u001b[H\u001b[Kone\r\n\u001b[Ktwo\r\n\u001b[K\u001b[J",
  );
  expect(written("\u001b[2J\u001b[3J\u001b[Hone\n")).toBe("\u001b[H\u001b[Kone\r\n\u001b[K\u001b[J");
  expect(written("\u001b[?25l")).toBe("\u001b[?25l");
});

test("a name that is written from right to left is kept from turning its neighbours around", () => {
  expect(written("▶ سلام عليكم  3/4  ada\n")).toContain("▶ \u2068سلام عليكم\u2069  3/4  ada");
});
