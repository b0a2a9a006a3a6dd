import { expect, test } from "vitest";
import { verdictOf } from "./verdict.ts";

const MIB = 1024 * 1024;

/** Sixty samples of 20 MiB and more, with a saw tooth of half a MiB and a high first third. */
function samples(perSample: number): readonly number[] {
  return Array.from({ length: 60 }, (_, at) => {
    const warmUp = at < 20 ? (20 - at) * -0.3 * MIB : 0;
    return 20 * MIB + warmUp + (at % 4) * 0.125 * MIB + at * perSample;
  });
}

const heap = (values: readonly (number | null)[]) =>
  verdictOf({ name: "heap", values, slack: MIB, share: 0.05 });

test("a saw tooth after a warm-up is flat", () => {
  expect(heap(samples(0))).toMatchObject({ flat: true });
});

test("50 KiB more with each sample is not flat, whatever the noise", () => {
  const verdict = heap(samples(50 * 1024));
  expect(verdict).toMatchObject({ flat: false });
  expect(verdict?.growth).toBeGreaterThan(1.8 * MIB);
});

test("a single high sample at the end bends nothing", () => {
  expect(heap([...samples(0), 200 * MIB])).toMatchObject({ flat: true });
});

test("what shrinks is flat", () => {
  expect(heap(samples(-50 * 1024))).toMatchObject({ flat: true });
});

test("too few samples, or none that is known, have no verdict", () => {
  expect(heap([1, 2, 3, 4, 5])).toBeNull();
  expect(heap([null, null])).toBeNull();
});
