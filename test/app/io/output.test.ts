import { link, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { checkOutputs, standardStream } from "../../../src/app/io/output.ts";
import { styleFor, terminalOf } from "../../../src/app/io/terminal.ts";
import { testIo } from "../../support/io.ts";
import { sourceFiles } from "../../support/source-files.ts";

test("a colour within a colour does not end the outer one", () => {
  const { io } = testIo({ env: { FORCE_COLOR: "1" } });
  const { bold, dim, red, green } = styleFor(io.stdout, io, true);
  const [begin, inner, end] = ["\x1b[38;5;161m", "\x1b[38;5;28m", "\x1b[39m"];
  expect(red(`a${green("b")}c`)).toBe(`${begin}a${inner}b${begin}c${end}`);
  expect(bold(`a${bold("b")}c`)).toBe("\x1b[1ma\x1b[1mb\x1b[22m\x1b[1mc\x1b[22m");
  expect(bold(`a${dim("b")}c`)).toBe(`\x1b[1ma\x1b[38;5;243mb${end}c\x1b[22m`);
});

test("without colours text stays as it is", () => {
  const { io } = testIo({ env: { NO_COLOR: "1" } });
  expect(styleFor(io.stdout, io, true).red("a")).toBe("a");
});

test.each([
  [{ NO_COLOR: "1", FORCE_COLOR: "1", TERM: "xterm-256color" }, false],
  [{ NO_COLOR: "", TERM: "xterm-256color" }, true],
  [{ FORCE_COLOR: "0", TERM: "xterm-256color" }, false],
  [{ FORCE_COLOR: "1", TERM: "dumb" }, true],
  [{ TERM: "dumb" }, false],
  [{}, true],
])("on a terminal with %o there are colours: %s", (env, colors) => {
  const { io } = testIo({ env });
  const terminal = { ...io.stdout, isTTY: true };
  expect(styleFor(terminal, io, true).red("a") !== "a").toBe(colors);
  expect(styleFor(terminal, io, false).red("a")).toBe("a");
  const pipe = { ...io.stdout, isTTY: false };
  expect(styleFor(pipe, io, true).red("a") !== "a").toBe("FORCE_COLOR" in env && colors);
});

/** The style in use on a terminal, each colour by the parameters of its sequence; `null` for plain text. */
function colorsOn(TERM: string) {
  const { io } = testIo({ env: { TERM } });
  const { columns: _, onTerminal: __, ...paints } = styleFor({ ...io.stdout, isTTY: true }, io, true);
  return Object.fromEntries(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what an escape sequence begins with
    Object.entries(paints).map(([name, paint]) => [name, /^\u001b\[([\d;]+)m/.exec(paint("a"))?.[1] ?? null]),
  );
}

const USUAL = {
  bold: "1",
  inverse: "7",
  dim: "38;5;243",
  red: "38;5;161",
  green: "38;5;28",
  yellow: "38;5;130",
  cyan: "38;5;30",
};
const BASIC = { bold: "1", inverse: "7", dim: null, red: "31", green: null, yellow: "35", cyan: null };

test("there are no colours but these", () => {
  expect(colorsOn("xterm-256color")).toEqual(USUAL);
  expect(colorsOn("linux")).toEqual(BASIC);
});

type Rgb = readonly [red: number, green: number, blue: number];

/** Returns a colour of the cube or of the greys among 256 colours, as every terminal has them. */
function cubeColor(index: number): Rgb {
  const level = (step: number): number => (step === 0 ? 0 : 55 + 40 * step);
  const grey = 8 + 10 * (index - 232);
  if (index >= 232) return [grey, grey, grey];
  const at = index - 16;
  return [level(Math.floor(at / 36)), level(Math.floor(at / 6) % 6), level(at % 6)];
}

/** Returns the contrast of two colours by WCAG 2. */
function contrast(one: Rgb, other: Rgb): number {
  const luminance = (rgb: Rgb): number => {
    const [red, green, blue] = rgb.map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    }) as [number, number, number];
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

const [WHITE, BLACK]: readonly [Rgb, Rgb] = [
  [255, 255, 255],
  [0, 0, 0],
];
/** The grounds of themes in wide use: Solarized, GNOME, VS Code, Windows Terminal. */
const GROUNDS: readonly Rgb[] = [
  [0xfd, 0xf6, 0xe3],
  [0x00, 0x2b, 0x36],
  [0x30, 0x0a, 0x24],
  [0x1e, 0x1e, 0x1e],
  [0x0c, 0x0c, 0x0c],
];

test("every colour can be read on white, on black and on the grounds of common themes", () => {
  for (const code of Object.values(colorsOn("xterm-256color"))) {
    const index = /^38;5;(\d+)$/.exec(code ?? "")?.[1];
    if (index === undefined) continue;
    const color = cubeColor(Number(index));
    for (const ground of [WHITE, BLACK]) expect(contrast(color, ground)).toBeGreaterThan(4);
    for (const ground of GROUNDS) expect(contrast(color, ground)).toBeGreaterThan(2.8);
  }
});

/** Red and magenta of xterm, VGA, VS Code (light) and Windows Terminal. */
const PALETTES: Readonly<Record<string, readonly Rgb[]>> = {
  31: [
    [205, 0, 0],
    [170, 0, 0],
    [205, 49, 49],
    [197, 15, 31],
  ],
  35: [
    [205, 0, 205],
    [170, 0, 170],
    [188, 5, 188],
    [136, 23, 152],
  ],
};

test("so can those of terminals with 16 colours, which choose them", () => {
  for (const code of Object.values(colorsOn("linux")))
    for (const color of PALETTES[code ?? ""] ?? [])
      for (const ground of [WHITE, BLACK]) expect(contrast(color, ground)).toBeGreaterThan(2.5);
});

test("nothing else paints", async () => {
  const painting = sourceFiles().filter(
    ({ path, code }) =>
      path !== "app/io/terminal.ts" &&
      !path.startsWith("show/html/") &&
      /\\(?:x1b|u001b)\[[\d;]*m|dimColor|backgroundColor|\bcolor="|styleText/.test(code),
  );
  expect(painting.map(({ path }) => path)).toEqual([]);
});

let cwd = "";
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "rolecall-outputs-"));
  await mkdir(join(cwd, "access"));
  await writeFile(join(cwd, "access/shop.yaml"), "version: 1\n");
});
afterEach(() => rm(cwd, { recursive: true }));

const check =
  (...outputs: readonly string[]) =>
  () =>
    checkOutputs(outputs, ["access/shop.yaml", undefined], cwd);

test("- is stdout, and so is every other name that it has", () => {
  for (const name of ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"]) {
    expect(standardStream(name)).toBe("stdout");
  }
  expect(["/dev/stderr", "/dev/fd/2"].map(standardStream)).toEqual(["stderr", "stderr"]);
  expect(["./-", "out", "/dev/fd/3", "/dev/null"].map(standardStream)).toEqual([null, null, null, null]);
});

test("an input is never written over, under none of its names", async () => {
  await link(join(cwd, "access/shop.yaml"), join(cwd, "hard"));
  await symlink("access/shop.yaml", join(cwd, "soft"));
  for (const path of ["access/shop.yaml", "./access/../access/shop.yaml", "hard", "soft"]) {
    expect(check(path)).toThrow(`${path} is read by this command, and would be overwritten.`);
  }
});

test("two results do not go to one place", () => {
  expect(check("plan.json", "./plan.json")).toThrow("Two results would be written to ./plan.json.");
  expect(check("-", "/dev/stdout")).toThrow("Two results would be written to /dev/stdout.");
  expect(check("plan.json", "plan.html", "-")).not.toThrow();
  expect(check("/dev/null", "/dev/null")).not.toThrow();
});

test("an impossible output file is reported before the work begins", () => {
  expect(check("none/plan.json")).toThrow("none/plan.json cannot be written: its folder does not exist.");
  expect(check("")).toThrow("The name of the output file is empty.");
  expect(check("access")).toThrow("access cannot be written: it is a folder.");
  expect(check("access/shop.yaml/plan.json")).toThrow("a part of its path is not a folder");
});

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
