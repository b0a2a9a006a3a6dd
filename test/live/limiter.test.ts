import { describe, expect, test } from "vitest";
import { createLimiter, type Limiter, type Permit } from "../../src/live/limiter.ts";
import { createClock } from "../support/clock.ts";

function make(concurrency: number, closing?: AbortSignal) {
  const clock = createClock();
  return {
    clock,
    limiter: createLimiter({ concurrency, now: clock.now, sleep: clock.sleep, ...(closing && { closing }) }),
  };
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Asks for so many turns and gives those that are granted. */
async function ask(limiter: Limiter, count: number): Promise<Permit[]> {
  const permits: Permit[] = [];
  for (let index = 0; index < count; index += 1)
    void limiter.acquire(false).then((permit) => permits.push(permit));
  await settled();
  return permits;
}

describe("the limiter", () => {
  test("starts with a few, opens with each success, and never beyond its bound", async () => {
    const { limiter } = make(6);
    const permits = await ask(limiter, 50);
    expect(permits).toHaveLength(4);
    permits[0]?.release("ok");
    await settled();
    expect(permits).toHaveLength(6);
    for (let index = 1; index < permits.length; index += 1) {
      permits[index]?.release("ok");
      await settled();
    }
    expect(permits).toHaveLength(50);
    expect(limiter.width()).toBe(6);
  });

  test("starts with half of what may be under way, where that is more than a few", async () => {
    expect(await ask(make(32).limiter, 50)).toHaveLength(16);
    expect(await ask(make(2).limiter, 50)).toHaveLength(2);
  });

  test("is halved once by all the 429s of one round, and again by those of the next", async () => {
    const { limiter } = make(4);
    const permits = await ask(limiter, 4);
    for (const permit of permits) permit.release("rate-limited");
    expect(limiter.width()).toBe(2);
    for (const permit of await ask(limiter, 2)) permit.release("rate-limited");
    expect(limiter.width()).toBe(1);
    for (const permit of await ask(limiter, 1)) permit.release("rate-limited");
    expect(limiter.width()).toBe(1);
  });

  test("grows back by about one for each full round", async () => {
    const { limiter } = make(4);
    for (const permit of await ask(limiter, 4)) permit.release("rate-limited");
    const widths: number[] = [];
    for (let round = 0; round < 4; round += 1) {
      const turns = Array.from({ length: limiter.width() }, () => limiter.acquire(false));
      for (const permit of await Promise.all(turns)) permit.release("ok");
      widths.push(limiter.width());
    }
    expect(widths).toEqual([2, 3, 4, 4]);
  });

  test("does not change its mind for other failures", async () => {
    const { limiter } = make(8);
    for (const permit of await ask(limiter, 4)) permit.release("other");
    expect(limiter.width()).toBe(4);
  });

  test("lets those who came first go first, and whoever must not wait before all", async () => {
    const { limiter } = make(1);
    const held = await limiter.acquire(false);
    const order: string[] = [];
    const come = (name: string, urgent: boolean) =>
      limiter.acquire(urgent).then((permit) => {
        order.push(name);
        permit.release("other");
      });
    const all = [come("a", false), come("b", false), come("urgent 1", true), come("urgent 2", true)];
    held.release("other");
    await Promise.all(all);
    expect(order).toEqual(["urgent 1", "urgent 2", "a", "b"]);
  });

  test("learns nothing from a turn that was not used", async () => {
    const { limiter } = make(8);
    for (const permit of await ask(limiter, 1)) permit.release("rate-limited");
    const [since, width] = [limiter.refusedSince(), limiter.width()];
    expect(since).not.toBeNull();
    for (const permit of await ask(limiter, 2)) permit.release("unused");
    expect([limiter.refusedSince(), limiter.width()]).toEqual([since, width]);
  });

  test("knows whether it has paused since", async () => {
    const { limiter, clock } = make(1);
    const before = clock.now();
    expect(limiter.pausedAfter(before)).toBe(false);
    limiter.pause(1000);
    await limiter.acquire(false);
    expect(limiter.pausedAfter(before)).toBe(true);
    expect(limiter.pausedAfter(clock.now())).toBe(false);
  });

  test("holds everyone for a pause, and for the longer of two", async () => {
    const { limiter, clock } = make(4);
    const start = clock.now();
    limiter.pause(1000);
    const waiting = [limiter.acquire(false), limiter.acquire(true)];
    limiter.pause(5000);
    limiter.pause(10);
    await Promise.all(waiting);
    expect(clock.now() - start).toBe(5000);
  });

  test("turns away whoever gave up, and everyone when it is closed during a pause", async () => {
    const closing = new AbortController();
    const { limiter } = make(1, closing.signal);
    const gone = new AbortController();
    gone.abort(new Error("gave up"));
    await expect(limiter.acquire(false, gone.signal)).rejects.toThrow("gave up");
    limiter.pause(60_000);
    const waiting = limiter.acquire(false);
    closing.abort(new Error("closed"));
    await expect(waiting).rejects.toThrow("closed");
  });
});
