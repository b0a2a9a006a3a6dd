import { EventEmitter } from "node:events";
import { PassThrough } from "node:stream";
import xterm from "@xterm/headless";
import { render } from "ink-testing-library";
import { describe, expect, test } from "vitest";
import {
  answerLines,
  askList,
  Checklist,
  initialListState,
  List,
  type ListKey,
  type ListQuestion,
  type ListState,
  pressInList,
} from "../../../../src/show/screen/browse/list-prompt.tsx";
import type { Size } from "../../../../src/show/screen/second-screen.ts";
import { PLAIN } from "../../../../src/show/style.ts";
import { eventually } from "../../../support/eventually.ts";
import { linesOf } from "../../../support/lines-of.ts";

const MERCHANTS: ListQuestion = {
  title: "Which merchants?",
  choices: [
    { label: "MC1", note: "Harbour" },
    { label: "MC2", note: "Station" },
    { label: "MC3", note: "Airport" },
  ],
};

const NONE: ListKey = {
  ctrl: false,
  escape: false,
  backspace: false,
  delete: false,
  upArrow: false,
  downArrow: false,
  pageUp: false,
  pageDown: false,
  return: false,
};

const DOWN = { ...NONE, downArrow: true };
const UP = { ...NONE, upArrow: true };
const ENTER = { ...NONE, return: true };
const ESCAPE = { ...NONE, escape: true };

/** Returns the lines of a list as they are drawn, without those that are blank at its end. */
function listLines(question: ListQuestion, state: ListState, size: Size): readonly string[] {
  const lines = linesOf(<Checklist question={question} state={state} size={size} />, size);
  return lines.slice(0, lines.findLastIndex((text) => text !== "") + 1);
}

/** Presses keys one after another: a letter, or a special key. */
function pressed(question: ListQuestion, ...keys: readonly (string | ListKey)[]): ListState {
  return keys.reduce<ListState>(
    (state, key) =>
      typeof key === "string"
        ? pressInList(question, state, key, NONE)
        : pressInList(question, state, "", key),
    initialListState(question),
  );
}

describe("a list to tick", () => {
  test("answers with what is ticked", () => {
    expect(pressed(MERCHANTS, " ", DOWN, DOWN, " ", ENTER).answer).toEqual([0, 2]);
    expect(pressed(MERCHANTS, DOWN, " ", " ", " ", ENTER).answer).toEqual([1]);
    expect(pressed(MERCHANTS, "a", UP, " ", ENTER).answer).toEqual([1, 2]);
    expect(pressed(MERCHANTS, "a", "a", " ", ENTER).answer).toEqual([0]);
  });

  test("begins with what is ticked already", () => {
    expect(pressed({ ...MERCHANTS, ticked: [1] }, ENTER).answer).toEqual([1]);
  });

  test("does not end with nothing ticked, and says why", () => {
    const state = pressed(MERCHANTS, ENTER);
    expect(state.answer).toBeUndefined();
    expect(listLines(MERCHANTS, state, { columns: 80, rows: 24 }).at(-1)).toContain("Nothing is selected");
  });

  test("ticks all that a filter leaves, and keeps the others", () => {
    const filtered = pressed(MERCHANTS, " ", "/", "a", "i", "r", ENTER);
    expect(listLines(MERCHANTS, filtered, { columns: 80, rows: 24 })).toEqual([
      "Which merchants? (1 of 3 ticked)",
      "> [ ] MC3  Airport",
      "/air",
      "space tick · a all · / filter · enter · q leave",
    ]);
    const all = pressInList(MERCHANTS, filtered, "a", NONE);
    expect(pressInList(MERCHANTS, all, "", ENTER).answer).toEqual([0, 2]);
  });

  test("shows everything again when the filter is left", () => {
    const state = pressed(MERCHANTS, "/", "zzz", ESCAPE);
    expect(state.filter).toBe("");
    expect(listLines(MERCHANTS, pressed(MERCHANTS, "/", "zzz"), { columns: 80, rows: 24 })[1]).toContain(
      "Nothing matches",
    );
  });

  test("shows everything again with Escape, also after the filter was accepted", () => {
    const filtered = pressed(MERCHANTS, "/", "a", ENTER, "a", ESCAPE);
    expect([filtered.answer, filtered.filter]).toEqual([undefined, ""]);
    expect(pressInList(MERCHANTS, filtered, "", ESCAPE).answer).toBeNull();
  });

  test("breaks a title that is wider than the window", () => {
    const question = { ...MERCHANTS, title: "Share 2 roles of 51 merchants in shared/roles.yaml?" };
    const lines = listLines(question, initialListState(question), { columns: 40, rows: 10 });
    expect(lines.slice(0, 3)).toEqual([
      "Share 2 roles of 51 merchants in",
      "shared/roles.yaml? (0 of 3 ticked)",
      "> [ ] MC1  Harbour",
    ]);
  });

  test.each([["q"], [ESCAPE]])("is left with %j", (key) => {
    expect(pressed(MERCHANTS, " ", key).answer).toBeNull();
  });

  test("is left with Ctrl-C, also while filtering", () => {
    const state = pressed(MERCHANTS, "/", "a");
    expect(pressInList(MERCHANTS, state, "c", { ...NONE, ctrl: true }).answer).toBeNull();
  });

  test.each([
    [120, 30],
    [80, 24],
    [40, 10],
    [12, 6],
    [40, 4],
    [40, 3],
  ])("keeps below the height of the window and within its width (%i × %i)", (columns, rows) => {
    const choices = Array.from({ length: 60 }, (_, index) => ({
      label: `MC${index}`,
      note: `Shop ${index} \u{1f600} with a long name`,
    }));
    const question = { title: "Which merchants?", choices };
    const state = pressed(question, ...Array.from({ length: 45 }, () => DOWN));
    const lines = listLines(question, state, { columns, rows });
    expect(lines.length).toBeLessThan(rows);
    expect(lines.some((text) => text.startsWith("> [ ] MC45"))).toBe(true);
    expect(Math.max(...lines.map((text) => [...text].length))).toBeLessThanOrEqual(columns);
  });

  test("makes hostile names harmless", () => {
    const question = { title: "?", choices: [{ label: "MC1", note: "\u001b[31mred\u202e" }] };
    const lines = listLines(question, initialListState(question), { columns: 80, rows: 24 });
    expect(lines.join("")).not.toContain("\u001b");
    expect(lines.join("")).not.toContain("\u202e");
  });
});

test("a list to choose one of answers with the item under the cursor", () => {
  const question: ListQuestion = { title: "Start", choices: MERCHANTS.choices, single: true, ticked: [1] };
  expect(pressed(question, ENTER).answer).toEqual([1]);
  expect(pressed(question, DOWN, " ", ENTER).answer).toEqual([2]);
});

test("a narrow list to choose one of has its notes on lines of their own", () => {
  const question: ListQuestion = { title: "Start", choices: MERCHANTS.choices.slice(0, 2), single: true };
  expect(listLines(question, initialListState(question), { columns: 40, rows: 24 })).toEqual([
    "Start",
    "> MC1",
    "    Harbour",
    "  MC2",
    "    Station",
    "↑↓ move · enter choose · q leave",
  ]);
});

test("a narrow list to choose one of keeps below the height of the window", () => {
  const choices = Array.from({ length: 20 }, (_, index) => ({ label: `MC${index}`, note: "Shop" }));
  const question: ListQuestion = { title: "Start", choices, single: true };
  const state = pressed(question, ...Array.from({ length: 15 }, () => DOWN));
  for (const rows of [3, 6, 10]) {
    const lines = listLines(question, state, { columns: 40, rows });
    expect(lines.length).toBeLessThan(rows);
    expect(lines).toContain("> MC15");
  }
});

test("the list on a screen hands its answer on once", async () => {
  const answers: (readonly number[] | null)[] = [];
  const { stdin, lastFrame } = render(
    <List question={MERCHANTS} onAnswer={(chosen) => answers.push(chosen)} />,
  );
  await eventually(() => {
    if (!lastFrame()?.includes("3 of 3 ticked")) stdin.write("a");
    expect(lastFrame()).toContain("3 of 3 ticked");
  });
  stdin.write("\r");
  await eventually(() => expect(answers).toEqual([[0, 1, 2]]));
  expect(answerLines(MERCHANTS, [0, 1, 2], PLAIN)).toEqual(["Which merchants? MC1, MC2, MC3"]);
  expect(answerLines(MERCHANTS, null, PLAIN)).toEqual(["Which merchants? left"]);
});

test("a window that is made lower than the list keeps its history", async () => {
  const terminal = new xterm.Terminal({ cols: 40, rows: 12, scrollback: 100, allowProposedApi: true });
  const bytes: string[] = [];
  const stderr = Object.assign(new EventEmitter(), {
    isTTY: true,
    columns: 40,
    rows: 12,
    write(text: string) {
      bytes.push(text);
      terminal.write(text.replaceAll("\n", "\r\n"));
      return true;
    },
  });
  stderr.write(Array.from({ length: 30 }, (_, index) => `line ${index}\n`).join(""));
  const stdin = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: () => stdin,
    ref: () => stdin,
    unref: () => stdin,
  });
  const streams = { stdin, stderr } as never;
  const choices = Array.from({ length: 40 }, (_, index) => ({ label: `MC${index}` }));
  const asked = askList({ title: "Which?", choices }, PLAIN, streams);
  await eventually(() => expect(bytes.join("")).toContain("MC5"));
  terminal.resize(40, 5);
  Object.assign(stderr, { rows: 5 }).emit("resize");
  await eventually(() => expect(bytes.join("").split("MC0").length).toBeGreaterThan(2));
  stdin.write("q");
  expect(await asked).toBeNull();
  await new Promise<void>((done) => terminal.write("", done));
  expect(terminal.buffer.active.getLine(0)?.translateToString(true)).toBe("line 0");
  for (const erasing of ["\u001b[2J", "\u001b[3J"]) expect(bytes.join("")).not.toContain(erasing);
});
