import { createLimiter } from "../../src/service/http/limiter.ts";
import { createClock } from "../support/clock.ts";

/** Lets a request pass that arrives now, or says after how many seconds to come again. */
export type Allowance = (now: number) => number | null;

/** So many requests in each second, which begins `phaseMs` after the clock's. */
export function fixedWindow(perSecond: number, phaseMs: number): Allowance {
  let window = Number.NaN;
  let count = 0;
  return (now) => {
    const current = Math.floor((now - phaseMs) / 1000);
    if (current !== window) {
      window = current;
      count = 0;
    }
    if (count >= perSecond) return 1;
    count += 1;
    return null;
  };
}

/** A bucket that holds so many requests and is filled evenly. */
export function tokenBucket(perSecond: number, capacity = perSecond): Allowance {
  let tokens = capacity;
  let filledAt: number | null = null;
  return (now) => {
    tokens = Math.min(capacity, tokens + ((now - (filledAt ?? now)) * perSecond) / 1000);
    filledAt = now;
    if (tokens < 1) return Math.max(1, Math.ceil((1 - tokens) / perSecond));
    tokens -= 1;
    return null;
  };
}

/** What work came to. */
export interface Worked {
  /** When each request that passed was answered, in ms from the beginning. */
  readonly passed: readonly number[];
  /** When each request that was refused was answered. */
  readonly refused: readonly number[];
  readonly mostUnderWay: number;
  readonly ms: number;
}

/** How a service is worked at. */
export interface Work {
  readonly concurrency: number;
  /** How long an answer takes, more or less by `jitter`. */
  readonly latencyMs: number;
  readonly jitter: number;
  /** Either until so much time has passed or until so many requests have. */
  readonly until: { readonly ms: number } | { readonly requests: number };
  /** `seconds`: a refusal says in whole seconds when to come again; else the client backs off. */
  readonly retryAfter: "seconds" | "none";
  readonly seed?: number;
  /** How many requests a second another client sends that many ms from the beginning. */
  readonly neighbour?: (ms: number) => number;
}

const BACKOFF_MS = 250;

/** Works at a service as hard as the limiter allows, as the client does: a refused request waits, and comes again first. */
export async function workAt(allowance: Allowance, work: Work): Promise<Worked> {
  const { concurrency, latencyMs, jitter, until, retryAfter, neighbour } = work;
  const { now, sleep } = createClock();
  const limiter = createLimiter({ concurrency, now, sleep });
  const random = lcg(work.seed ?? latencyMs + concurrency);
  const began = now();
  const passed: number[] = [];
  const refused: number[] = [];
  let begun = 0;
  let ended = false;
  let underWay = 0;
  let mostUnderWay = 0;
  const isOver = (): boolean => ("ms" in until ? now() - began >= until.ms : begun >= until.requests);
  /** Sends it once; null if it passed, else for how long to wait. */
  const send = async (attempt: number): Promise<number | null> => {
    const permit = await limiter.acquire(attempt > 0);
    underWay += 1;
    mostUnderWay = Math.max(mostUnderWay, underWay);
    const took = latencyMs * (1 + jitter * (2 * random() - 1));
    await sleep(took / 2);
    const seconds = allowance(now());
    await sleep(took / 2);
    underWay -= 1;
    (seconds === null ? passed : refused).push(now() - began);
    const backoff = Math.round(Math.min(20_000, BACKOFF_MS * 2 ** attempt) * random());
    const retryMs = seconds !== null && retryAfter === "seconds" ? seconds * 1000 : backoff;
    permit.release(seconds === null ? "ok" : { retryMs, asked: retryAfter === "seconds" });
    return seconds === null ? null : retryMs;
  };
  const worker = async (): Promise<void> => {
    while (!isOver()) {
      begun += 1;
      for (let attempt = 0; ; attempt += 1) {
        const wait = await send(attempt);
        if (wait === null) break;
        await sleep(wait);
        if ("ms" in until && isOver()) return;
      }
    }
  };
  const other = async (): Promise<void> => {
    while (neighbour && !ended) {
      const perSecond = neighbour(now() - began);
      if (perSecond > 0) allowance(now());
      await sleep(perSecond > 0 ? 1000 / perSecond : 50);
    }
  };
  const beside = other();
  await Promise.all(Array.from({ length: Math.max(64, 2 * concurrency) }, worker));
  const ms = now() - began;
  ended = true;
  await beside;
  return { passed, refused, mostUnderWay, ms };
}

/** Numbers from 0 to 1, the same ones each time. */
export function lcg(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
