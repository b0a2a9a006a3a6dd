import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { createLimiter, type Limiter, type Permit } from "../../../src/service/http/limiter.ts";
import { createClock } from "../../support/clock.ts";

function make(concurrency: number, closing?: AbortSignal) {
  const clock = createClock();
  return {
    clock,
    limiter: createLimiter({ concurrency, now: clock.now, sleep: clock.sleep, ...(closing && { closing }) }),
  };
}

const refused = (retryMs: number) => ({ retryMs, asked: true });

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
  test("starts with a few permits, adds one with each success, up to its bound", async () => {
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

  test("starts with half of the bound if that is more", async () => {
    expect(await ask(make(32).limiter, 50)).toHaveLength(16);
    expect(await ask(make(2).limiter, 50)).toHaveLength(2);
  });

  test("continues at once if one request is refused and later ones succeed", async () => {
    const { limiter, clock } = make(8);
    const before = clock.now();
    const permits = await ask(limiter, 4);
    permits[1]?.release(refused(1000));
    for (const index of [0, 2, 3]) permits[index]?.release("ok");
    expect(limiter.width()).toBeGreaterThanOrEqual(4);
    for (const permit of await Promise.all([limiter.acquire(false), limiter.acquire(false)]))
      permit.release("ok");
    expect(clock.now()).toBe(before);
  });

  test("pauses all if the next ones are refused too, and halves the permits once", async () => {
    const { limiter, clock } = make(8);
    const first = await ask(limiter, 4);
    await clock.sleep(10);
    const before = clock.now();
    for (const permit of first) permit.release(refused(1000));
    expect(limiter.width()).toBe(2);
    const next = await limiter.acquire(false);
    expect(clock.now() - before).toBe(1000);
    next.release("ok");
    expect(limiter.width()).toBe(2);
  });

  test("pauses all at once if the service asks for a long wait", async () => {
    const { limiter, clock } = make(4);
    const before = clock.now();
    for (const permit of await ask(limiter, 1)) permit.release(refused(60_000));
    expect(limiter.pausedAfter(before + 59_000)).toBe(true);
    await limiter.acquire(true);
    expect(clock.now() - before).toBe(60_000);
  });

  test("is not affected by other failures", async () => {
    const { limiter } = make(8);
    for (const permit of await ask(limiter, 4)) permit.release("other");
    expect(limiter.width()).toBe(4);
  });

  test("serves requests in order, and urgent ones first", async () => {
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

  test("serves an earlier turn before a later one, and requests of one turn in order", async () => {
    const { limiter } = make(1);
    const held = await limiter.acquire(false);
    const order: string[] = [];
    const come = (name: string, turn?: number) =>
      limiter.acquire(false, undefined, turn).then((permit) => {
        order.push(name);
        permit.release("other");
      });
    const all = [come("second", 2), come("first a", 1), come("third", 3), come("first b", 1), come("none")];
    held.release("other");
    await Promise.all(all);
    expect(order).toEqual(["none", "first a", "first b", "second", "third"]);
  });

  test("learns nothing from an unused permit", async () => {
    const { limiter } = make(8);
    for (const permit of await ask(limiter, 1)) permit.release(refused(1000));
    const [since, width] = [limiter.refusedSince(), limiter.width()];
    expect(since).not.toBeNull();
    for (const permit of await ask(limiter, 2)) permit.release("unused");
    expect([limiter.refusedSince(), limiter.width()]).toEqual([since, width]);
  });

  test("rejects aborted requests, and all when it is closed during a pause", async () => {
    const closing = new AbortController();
    const { limiter } = make(1, closing.signal);
    const gone = new AbortController();
    gone.abort(new Error("gave up"));
    await expect(limiter.acquire(false, gone.signal)).rejects.toThrow("gave up");
    (await limiter.acquire(false)).release(refused(60_000));
    const waiting = limiter.acquire(false);
    closing.abort(new Error("closed"));
    await expect(waiting).rejects.toThrow("closed");
  });

  test("leaves no listener on a signal that has closed it, which would keep it in memory", () => {
    const closing = new AbortController();
    const combined = AbortSignal.any([closing.signal]);
    make(1, combined);
    closing.abort();
    expect(getEventListeners(combined, "abort")).toEqual([]);
  });

  test("pauses one address if only its invitation is refused, and all if a second one is", async () => {
    const { limiter, clock } = make(4);
    const invited = (address: string) => ({ retryMs: 60_000, asked: true, address });
    const before = clock.now();
    for (let times = 0; times < 3; times += 1)
      (await limiter.acquire(false)).release(invited("a@example.com"));
    (await limiter.acquire(false)).release("other");
    expect(clock.now()).toBe(before);
    (await limiter.acquire(false)).release(invited("b@example.com"));
    await limiter.acquire(false);
    expect(clock.now() - before).toBe(60_000);
  });
});
