import { EventEmitter } from "node:events";
import xterm from "@xterm/headless";
import { expect, test } from "vitest";
import { type OpenBoard, openBoard } from "../../../src/show/screen/open-board.tsx";
import { PLAIN } from "../../../src/show/style.ts";
import { readingProgress } from "../../../src/show/view/progress.ts";
import { eventually } from "../../support/eventually.ts";

/** A terminal with a shell's lines in its history, and a board that may be opened on it. */
async function terminalWith(merchants: number, columns = 40, rows = 10) {
  const terminal = new xterm.Terminal({ cols: columns, rows, scrollback: 1000, allowProposedApi: true });
  let pending = Promise.resolve();
  const stream = Object.assign(new EventEmitter(), {
    columns,
    rows,
    write(text: string) {
      // A terminal's driver turns each line feed into a carriage return and a line feed.
      pending = new Promise((done) => terminal.write(text.replaceAll(/\r?\n/g, "\r\n"), done));
      return true;
    },
  });
  const terminalStream = stream as unknown as NodeJS.WriteStream;
  stream.write(`${HISTORY.join("\n")}\n`);
  await pending;
  const text = (from: number): readonly string[] => {
    const { active } = terminal.buffer;
    return Array.from({ length: active.length - from }, (_, index) =>
      (active.getLine(from + index)?.translateToString(true, 0, terminal.cols) ?? "").trimEnd(),
    );
  };
  const codes = Array.from({ length: merchants }, (_, index) => `MC${index + 1}`);
  const progress = readingProgress(codes, 0);
  for (const merchant of codes) progress.live({ type: "read", merchant, members: 1, total: 2 }, 0);
  let seconds = 0;
  const open = (): OpenBoard =>
    openBoard(
      () => progress.view(1000 * ++seconds),
      { stdout: terminalStream, stderr: terminalStream },
      PLAIN,
    );
  return {
    open,
    screen: async () => {
      await pending;
      return text(terminal.buffer.active.baseY);
    },
    everything: async () => {
      await pending;
      return text(0).join("\n").trimEnd().split("\n");
    },
    resize(toColumns: number, toRows: number) {
      terminal.resize(toColumns, toRows);
      Object.assign(stream, { columns: toColumns, rows: toRows });
      stream.emit("resize");
    },
  };
}

const HISTORY = Array.from({ length: 50 }, (_, index) => `line ${index + 1}`);

test("a board as tall and wide as the window leaves history and screen as they were", async () => {
  const { open, everything } = await terminalWith(50);
  const board = open();
  board.draw();
  board.close();
  expect(await everything()).toEqual(HISTORY);
});

test("a window that is made narrower, lower and larger again keeps every line and gets none of the board", async () => {
  const { open, resize, screen, everything } = await terminalWith(50);
  const board = open();
  for (const [columns, rows] of [
    [20, 10],
    [20, 4],
    [60, 30],
    [12, 2],
    [40, 10],
  ] as const) {
    resize(columns, rows);
    // A frame for the former size may be drawn last: the next second, there is another.
    await eventually(async () => {
      board.draw();
      const seen = await screen();
      expect(seen).toHaveLength(rows);
      expect(seen[0]).toMatch(/^Rea/);
      // A roomy one has a blank line below its head.
      expect(seen.filter((text) => text !== "").length).toBe(rows >= 16 ? rows - 2 : rows - 1);
      for (const text of seen) expect(text.length).toBeLessThan(columns);
    });
  }
  board.close();
  expect(await everything()).toEqual(HISTORY);
});

test("text that comes meanwhile is shown at the bottom, and stays when the board is gone", async () => {
  const { open, screen, everything } = await terminalWith(1);
  const board = open();
  board.write("stdout", "\u001b[32m✓\u001b[39m one\n");
  board.write("stderr", `two, which is wider than the window ${"and ".repeat(9)}wider\nthree\n`);
  board.draw();
  await eventually(async () => {
    const seen = await screen();
    expect(seen[0]).toMatch(/^Reading MC1 /);
    expect(seen.slice(-4)).toEqual(["✓ one", "two, which is wider than the window an…", "three", ""]);
  });
  board.close();
  expect((await everything()).slice(HISTORY.length - 1)).toEqual([
    "line 50",
    "✓ one",
    "two, which is wider than the window and",
    "and and and and and and and and wider",
    "three",
  ]);
});

test("a board that is hidden, as for Ctrl-Z, draws nothing until it is shown again", async () => {
  const { open, screen, everything } = await terminalWith(1);
  const board = open();
  board.hide();
  board.draw();
  expect(await everything()).toEqual(HISTORY);
  board.show();
  expect((await screen())[0]).toMatch(/^Reading MC1 /);
  board.close();
  board.close();
  expect(await everything()).toEqual(HISTORY);
});
