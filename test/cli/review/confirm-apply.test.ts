import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { askPlainly } from "../../../src/cli/review/confirm-apply.ts";

const QUESTION = { lines: ["2 changes at MC1."], answer: "MC1" };

test.each([
  ["MC1\n", true],
  ["  MC1 \n", true],
  ["mc1\n", false],
  ["\n", false],
  ["", false],
])("on a dumb terminal %j is answered with %s, in plain lines", async (typed, yes) => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  input.end(typed);
  expect(await askPlainly(QUESTION, input as never, output)).toBe(yes);
  const text = String(output.read());
  expect(text).toContain("\n2 changes at MC1.\nType MC1 to continue; anything else cancels: ");
  expect(text).not.toContain("\u001b");
});
