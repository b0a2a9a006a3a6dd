import fc from "fast-check";
import { expect, test } from "vitest";
import { oneLine, toCsv, withoutCommand } from "../../src/lib/escape.ts";
import { anyCharacter } from "../support/any-character.ts";

test("ordinary text of any script stays as it is", () => {
  for (const text of ["Ada Lovelace", "Zoë", "山田 太郎", "مريم", "👩‍💻 Till", "a: b / c", "नमस्ते"]) {
    expect(oneLine(text)).toBe(text);
  }
});

test("control characters are shown, not sent", () => {
  expect(oneLine("a\u001b[31mb\u0000c\u009b1md\re\tf\ng")).toBe("a\\u{1b}[31mb\\u{0}c\\u{9b}1md\\re\\tf\\ng");
});

test("overrides of the reading direction and invisible marks are shown", () => {
  expect(oneLine("user\u202egpj.exe\u2066\u200b\ufeff\u2028")).toBe(
    "user\\u{202e}gpj.exe\\u{2066}\\u{200b}\\u{feff}\\u{2028}",
  );
});

test("a text cannot begin a workflow command", () => {
  expect(oneLine("::error::gone")).toBe(":\\:error::gone");
  expect(oneLine("  ::set-output name=x::y")).toBe("  :\\:set-output name=x::y");
  expect(oneLine("a ##[error]b")).toBe("a #\\#[error]b");
  expect(oneLine("a ##vso[task.setvariable variable=x]b")).toBe("a #\\#vso[task.setvariable variable=x]b");
  expect(oneLine("##teamcity[testFailed]")).toBe("#\\#teamcity[testFailed]");
  expect(oneLine("## a [link]")).toBe("## a [link]");
});

test("a cell of a sheet has its text, and its line is no workflow command", () => {
  expect(toCsv(["a"], [["::error::gone", "crate::module", "x ::y"]])).toBe(
    'a\n"::error::gone",crate::module,"x ::y"\n',
  );
  expect(toCsv(["##[error]gone"], [])).toBe("#\\#[error]gone\n");
});

test("only a line that begins a workflow command changes", () => {
  expect(withoutCommand("+ note: a ::b, ::c")).toBe("+ note: a ::b, ::c");
  for (const line of ["::error::gone", " \t\u00a0::stop-commands::x", " ::::"]) {
    const shown = withoutCommand(line);
    expect(shown.trimStart()).toMatch(/^:\\:/);
    expect(shown.replace("\\", "")).toBe(line);
  }
  expect(withoutCommand("+ # ##[group]")).toBe("+ # #\\#[group]");
});

test("whatever the text, no line of a sheet begins a workflow command or a formula", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: anyCharacter }), { minLength: 1 }), (row) => {
      const lines = toCsv(["head"], [row]).split("\n");
      expect(lines).toHaveLength(3);
      for (const line of lines) expect(line).not.toMatch(/^[\s\p{Cf}]*(?:::|[=+@-])|##\w*\[/u);
    }),
  );
});

test("whatever the text, one line without control characters comes out", () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (text) => {
      const shown = oneLine(text);
      expect(shown).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u);
      expect(shown.trimStart().startsWith("::")).toBe(false);
    }),
  );
});
