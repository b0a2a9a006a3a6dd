import { posix } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseMerchantFile } from "../../../src/index.ts";
import { findKeys } from "../../../src/kernel/problems/secrets.ts";
import { loadMerchants } from "../../../src/kernel/read/load-merchants.ts";
import type { ReadSource } from "../../../src/kernel/read/load-sources.ts";
import { diagnosticTable } from "../../../src/kernel/rules/every-rule.ts";
import { judgeDeclared } from "../../../src/kernel/rules/judge-rules.ts";
import type { DesiredState } from "../../../src/model/desired.ts";
import type { Diagnostic } from "../../../src/model/diagnostic.ts";
import { processorTime } from "../../support/processor-time.ts";
import { runs } from "../../support/property-runs.ts";
import { NOW } from "./support/cases.ts";
import { mutatedFile } from "./support/mutations.ts";

const numRuns = runs(150);
// A file of a few lines takes milliseconds; this is what even a busy machine does not exceed.
const SLOW = 5000;

const CODES = new Set(diagnosticTable().map(({ code }) => code));

/** What is always true of what a user gets. */
function expectSound(diagnostics: readonly Diagnostic[], texts: ReadonlyMap<string, string>): void {
  for (const { code, file, span, message, hint = "", frame = "" } of diagnostics) {
    expect(CODES).toContain(code);
    expect(`${message}${hint}${frame.replaceAll("\n", "")}`).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
    expect(findKeys(`${message}\n${hint}\n${frame}`)).toEqual([]);
    // A key is starred out up to the next space.
    expect(message).toMatch(/\S(?:[.…]|\*{4})$/);
    expect(message.length).toBeLessThan(1500);
    expect(hint).not.toMatch(/undefined|NaN|\[object/);
    const lines = (texts.get(file) ?? "").replace(/^\uFEFF/, "").split("\n");
    if (span !== undefined) {
      expect(span.line).toBeGreaterThanOrEqual(1);
      expect(span.endLine).toBeLessThanOrEqual(lines.length);
      expect(span.column).toBeLessThanOrEqual((lines[span.line - 1]?.length ?? 0) + 1);
      expect(span.endColumn).toBeLessThanOrEqual((lines[span.endLine - 1]?.length ?? 0) + 1);
      expect((span.endLine - span.line) * 1e9 + span.endColumn - span.column).toBeGreaterThanOrEqual(0);
    }
  }
}

function isRefused(state: DesiredState | null, diagnostics: readonly Diagnostic[]): boolean {
  return (
    state === null && diagnostics.some(({ severity, refusal }) => severity === "error" && refusal !== true)
  );
}

describe("whatever is done to a file", () => {
  test("gives a state or an error with its location, and never throws", () => {
    fc.assert(
      fc.property(mutatedFile, (text) => {
        const started = processorTime();
        const { state, diagnostics } = parseMerchantFile("x.yaml", text, { now: NOW });
        expect(processorTime() - started).toBeLessThan(SLOW);
        expectSound(diagnostics, new Map([["x.yaml", text]]));
        expect(isRefused(state, diagnostics)).toBe(state === null);
        expect(diagnostics.some(({ severity, refusal }) => severity === "error" && !refusal)).toBe(
          state === null,
        );
      }),
      { numRuns },
    );
  });

  test("the same is true of files that include one another", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(mutatedFile, { minLength: 1, maxLength: 4 }), async (contents) => {
        const names = ["a.yaml", "b.yaml", "c/d.yml", "x.yaml"];
        const texts = new Map(contents.map((text, index) => [names[index] ?? "", text]));
        const read: ReadSource = (path, from) => {
          const file = posix.join(from === null ? "" : posix.dirname(from), path);
          const text = texts.get(file);
          return Promise.resolve(
            text === undefined ? { ok: false, reason: "missing" } : { ok: true, file, text },
          );
        };
        const { merchants, diagnostics } = await loadMerchants([...texts.keys()], read, {
          now: NOW,
          judge: judgeDeclared,
        });
        expectSound(diagnostics, texts);
        const failed = diagnostics.some(({ severity, refusal }) => severity === "error" && !refusal);
        expect(failed || merchants.every(({ state }) => state !== null)).toBe(true);
        expect(merchants.length > 0 || failed).toBe(true);
      }),
      { numRuns: Math.ceil(numRuns / 4) },
    );
  });
});
