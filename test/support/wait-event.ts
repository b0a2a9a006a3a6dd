import type { LiveEvent } from "../../src/model/events.ts";

/** A request that waits before it is sent again, as the client tells it; `now` in milliseconds. */
export function waitEvent(ms: number, reason: string, now = 0): LiveEvent {
  return {
    type: "wait",
    method: "GET",
    path: "/v0.1/merchants/MC1/members",
    attempt: 1,
    status: 429,
    reason,
    ms,
    until: now + ms,
    retryAfter: true,
    leftMs: 300_000,
  };
}
