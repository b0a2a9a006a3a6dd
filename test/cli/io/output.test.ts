import { expect, test } from "vitest";
import { styleFor } from "../../../src/cli/io/output.ts";
import { testIo } from "../../support/io.ts";

test("a colour within a colour does not end the outer one", () => {
  const { io } = testIo({ env: { FORCE_COLOR: "1" } });
  const { bold, dim, red, green } = styleFor(io.stdout, io, true);
  expect(red(`a${green("b")}c`)).toBe("\x1b[31ma\x1b[32mb\x1b[31mc\x1b[39m");
  expect(bold(`a${dim("b")}c`)).toBe("\x1b[1ma\x1b[2mb\x1b[22m\x1b[1mc\x1b[22m");
});

test("without colours text stays as it is", () => {
  const { io } = testIo({ env: { NO_COLOR: "1" } });
  expect(styleFor(io.stdout, io, true).red("a")).toBe("a");
});
