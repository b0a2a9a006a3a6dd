import { expect, test } from "vitest";
import { terminalOf } from "../../../src/cli/io/output.ts";

const at = (isTTY: boolean, stdinIsTTY: boolean, env: Record<string, string> = {}) =>
  terminalOf({ env, stdinIsTTY, stderr: { isTTY, columns: undefined, write: () => undefined } });

test("a terminal is drawn on and asked on, also where CI or NO_COLOR is set, and where stdout is piped away", () => {
  for (const env of [{}, { CI: "true" }, { NO_COLOR: "1" }, { TERM: "xterm" }])
    expect(at(true, true, env)).toEqual({ draws: true, asks: true });
});

test("a dumb terminal is asked on, but nothing is drawn over", () => {
  expect(at(true, true, { TERM: "dumb" })).toEqual({ draws: false, asks: true });
});

test("without a terminal nothing is drawn, and nobody is asked", () => {
  expect(at(false, false)).toEqual({ draws: false, asks: false });
  expect(at(true, false)).toEqual({ draws: true, asks: false });
  expect(at(false, true)).toEqual({ draws: false, asks: false });
});
