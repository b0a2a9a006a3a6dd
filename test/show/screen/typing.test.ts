import { expect, test } from "vitest";
import { typeInto } from "../../../src/show/screen/typing.ts";

const NONE = { ctrl: false, escape: false, backspace: false, delete: false };

test.each([
  ["yes\r", "sent with the Enter of a terminal"],
  ["yes\n", "sent with the line break of a paste"],
  ["yes\r\n", "sent with both"],
  ["yes\rand more", "sent, and what comes after Enter is dropped"],
])("a text that arrives at once with Enter (%j) is %s", (input) => {
  expect(typeInto("", input, NONE)).toEqual({ state: "sent", text: "yes" });
});

test("Enter alone sends what was typed before", () => {
  for (const enter of ["\r", "\n"])
    expect(typeInto("yes", enter, NONE)).toEqual({ state: "sent", text: "yes" });
});

test("the last character is taken back, also within a piece of input", () => {
  expect(typeInto("yes🙂", "", { ...NONE, backspace: true })).toEqual({ state: "open", text: "yes" });
  expect(typeInto("yes!", "", { ...NONE, delete: true })).toEqual({ state: "open", text: "yes" });
  expect(typeInto("", "yez\u007fs\r", NONE)).toEqual({ state: "sent", text: "yes" });
});

test("Ctrl-U empties the line, other control keys change nothing", () => {
  expect(typeInto("no", "u", { ...NONE, ctrl: true })).toEqual({ state: "open", text: "" });
  expect(typeInto("no", "a", { ...NONE, ctrl: true })).toEqual({ state: "open", text: "no" });
  expect(typeInto("no", "\t\u0001", NONE)).toEqual({ state: "open", text: "no" });
});

test("Escape, Ctrl-C and Ctrl-D leave, also within a piece of input", () => {
  expect(typeInto("yes", "", { ...NONE, escape: true }).state).toBe("left");
  expect(typeInto("yes", "c", { ...NONE, ctrl: true }).state).toBe("left");
  expect(typeInto("yes", "d", { ...NONE, ctrl: true }).state).toBe("left");
  expect(typeInto("", "yes\u0003\r", NONE).state).toBe("left");
});

test("the marks around pasted text are ignored", () => {
  expect(typeInto("", "[200~", NONE)).toEqual({ state: "open", text: "" });
  expect(typeInto("yes", "[201~", NONE)).toEqual({ state: "open", text: "yes" });
});
