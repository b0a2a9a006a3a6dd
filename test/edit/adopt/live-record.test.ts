import fc from "fast-check";
import { expect, test } from "vitest";
import { liveSnapshot } from "../../../src/ask/access/access-snapshot.ts";
import { membersInRecord, readLiveRecord, recordText } from "../../../src/edit/adopt/live-record.ts";
import { adoptNew, emptyState, newFileText } from "../../../src/edit/adopt/new-file-text.ts";
import { maskKeys } from "../../../src/kernel/problems/secrets.ts";
import type { LiveState } from "../../../src/model/live.ts";
import { NOW } from "../../support/build.ts";
import { runs } from "../../support/property-runs.ts";
import { wildStates } from "../../support/wild-states.ts";

const accessOf = (live: LiveState): unknown =>
  liveSnapshot(live, emptyState(live.merchant, "mc1.yaml"), "test");

/** Returns a state as records have it: with masked keys, and lists as sets. */
function asRecorded(live: LiveState): LiveState {
  return JSON.parse(maskKeys(JSON.stringify(live)), (_, value: unknown) =>
    isTexts(value) ? [...new Set(value)].sort() : value,
  );
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

test("a record has all access of every live state, but for API keys", () => {
  fc.assert(
    fc.property(wildStates, (live) => {
      const text = recordText({ live, environment: "test", departed: [] });
      expect(text).toBe(maskKeys(text));
      const read = readLiveRecord(text, live.merchant);
      if (read === null) throw new Error(`not readable:\n${text}`);
      expect(read.environment).toBe("test");
      expect(accessOf(asRecorded(read.live))).toEqual(accessOf(asRecorded(live)));
      // A masked key is a value like any other, so that its entry can be written.
      const isMasked = maskKeys(JSON.stringify(live)) !== JSON.stringify(live);
      if (!isMasked) expect(recordText(read)).toBe(text);
    }),
    { numRuns: runs(60) },
  );
});

test("a record begins with the file that pull would write", () => {
  fc.assert(
    fc.property(wildStates, (live) => {
      const file = newFileText(adoptNew(live, NOW), { merchant: live.merchant, environment: "live" });
      expect(recordText({ live, environment: "live", departed: [] }).startsWith(file)).toBe(true);
    }),
    { numRuns: runs(20) },
  );
});

test("no text that somebody pushed makes reading a record fail", () => {
  const texts = fc.tuple(wildStates, fc.nat(), fc.nat({ max: 40 }), fc.string({ unit: "binary" }));
  fc.assert(
    fc.property(texts, ([live, at, length, other]) => {
      const text = recordText({ live, environment: null, departed: [] });
      const start = at % text.length;
      const edited = text.slice(0, start) + other + text.slice(start + length);
      expect(() => readLiveRecord(edited, live.merchant)).not.toThrow();
      expect(() => membersInRecord(edited)).not.toThrow();
    }),
    { numRuns: runs(40) },
  );
});
