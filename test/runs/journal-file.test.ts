import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JournalEntry, WriteEnded, WriteIntended } from "../../src/model/apply.ts";
import { parseJournal } from "../../src/runs/journal-file.ts";
import { image } from "../support/build.ts";
import { journalText, runStarted } from "../support/past-run.ts";

function intent(write: number, rest: Partial<WriteIntended> = {}): WriteIntended {
  return {
    type: "intent",
    write,
    phase: "write-members",
    part: "whole",
    resource: "member",
    kind: "create",
    name: "ada@example.com",
    id: null,
    reason: "declared",
    fingerprint: "0123",
    before: null,
    after: image("ada@example.com"),
    ...rest,
  };
}

function outcome(write: number, rest: Partial<WriteEnded> = {}): WriteEnded {
  return { type: "outcome", write, status: "done", id: "mem_1", adopted: false, failure: null, ...rest };
}

const END: JournalEntry = {
  type: "end",
  status: "done",
  cause: null,
  outcomes: { done: 1, failed: 0, unknown: 0, stale: 0, unfinished: 0, "not-started": 0 },
};
const WHOLE = [
  runStarted(),
  intent(1),
  outcome(1),
  END,
  { type: "verified", left: [], deferred: [] } as const,
];

function read(text: string) {
  const journal = parseJournal(text);
  if (!journal.ok) throw new Error(journal.reason);
  return journal.run;
}

test("a whole journal is read with its writes and their outcomes", () => {
  const run = read(journalText(WHOLE));
  expect(run.run.merchant).toBe("MC1");
  expect(run.writes.map((write) => [write.intent.name, write.outcome?.status])).toEqual([
    ["ada@example.com", "done"],
  ]);
  expect(run.end?.status).toBe("done");
  expect(run.verified?.left).toEqual([]);
  expect(run.torn).toBe(false);
});

test("a journal that is cut anywhere is read as far as it was written", () => {
  const text = journalText(WHOLE);
  const firstLine = text.indexOf("\n");
  fc.assert(
    fc.property(fc.integer({ min: firstLine, max: text.length }), (length) => {
      const run = read(text.slice(0, length));
      const whole = text.slice(0, length).split("\n").length - 1;
      // A line whose last character alone is lost, its end, is whole all the same.
      expect(run.writes.length).toBeGreaterThanOrEqual(whole > 1 ? 1 : 0);
      if (length < text.length - 1) expect(run.verified).toBe(null);
    }),
  );
});

test("a torn last line is left out, also where the disk has filled it with zeros", () => {
  const text = journalText(WHOLE.slice(0, 2));
  for (const tail of ['{"at":"20', "\0\0\0\0", "\0\0\0\n", '{"type":"outcome","write":1']) {
    const run = read(text + tail);
    expect(run.torn).toBe(true);
    expect(run.writes[0]?.outcome).toBe(null);
  }
});

test("a journal without a whole first line is rejected with a reason", () => {
  expect(parseJournal('{"at":"2026')).toEqual({
    ok: false,
    line: null,
    reason: "it ends in its first line, before anything was changed",
  });
  expect(parseJournal("")).toEqual({ ok: false, line: null, reason: "it is empty" });
});

test("a line that is broken in the middle is an error with its number", () => {
  const [first, ...rest] = journalText(WHOLE).split("\n");
  expect(parseJournal([first, '{"at":"2026', ...rest].join("\n"))).toEqual({
    ok: false,
    line: 2,
    reason: "it is not JSON",
  });
});

describe("reports problems", () => {
  test.each([
    ["a journal must begin with a run", journalText([intent(1), runStarted()]), 1],
    ["a journal must have only one run", journalText([runStarted(), runStarted()]), 2],
    ["write 1 begins a second time", journalText([runStarted(), intent(1), intent(1)]), 3],
    ["write 7 ends, but never began", journalText([runStarted(), outcome(7)]), 2],
    ["write: the value is invalid", journalText([runStarted(), { ...intent(1), write: -1 }, END]), 2],
    [
      "its format is 2, and this version of rolecall knows format 1",
      journalText([{ ...runStarted(), format: 2 as 1 }]),
      1,
    ],
    [
      "it is nested too deeply",
      `${journalText([runStarted()])}{"at":"","type":"end","x":${"[".repeat(5000)}${"]".repeat(5000)}}\n{}\n`,
      2,
    ],
  ])("%s", (reason, text, line) => {
    expect(parseJournal(text)).toEqual({ ok: false, line, reason });
  });
});

test("lines and fields of later versions are passed over", () => {
  const later = { ...intent(1), phase: "later-phase", weight: 3 } as unknown as JournalEntry;
  const run = read(
    journalText([
      runStarted(),
      { type: "pause", why: "lunch" } as unknown as JournalEntry,
      later,
      outcome(1),
    ]),
  );
  expect(run.writes).toHaveLength(1);
});

test("no text whatever makes it throw", () => {
  const line = fc.oneof(
    fc.json(),
    fc.string(),
    fc.constantFrom(...WHOLE.map((entry) => JSON.stringify({ at: "", ...entry }))),
  );
  fc.assert(
    fc.property(fc.array(line), (lines) => {
      expect(typeof parseJournal(lines.join("\n")).ok).toBe("boolean");
    }),
  );
});
