import { expect, test } from "vitest";
import { createInvitationLimiter } from "../../../src/sandbox/http/rate-limit.ts";

test("limits the invitations of an address within a sliding window", () => {
  const limiter = createInvitationLimiter({ limit: 2, window: 60 });
  limiter.sent("Ada@example.com", 0);
  expect(limiter.wait("ada@example.com", 10_000)).toBe(null);
  limiter.sent("ada@example.com", 10_000);
  expect(limiter.wait("ada@example.com", 20_000)).toBe(40_000);
  expect(limiter.wait("bob@example.com", 20_000)).toBe(null);
  expect(limiter.wait("ada@example.com", 60_000)).toBe(null);
});

test("keeps a limit for each address, and refuses all with a limit of 0", () => {
  const limiter = createInvitationLimiter({ limit: 0, window: 60, email: "ada@example.com" });
  expect(limiter.wait("ADA@example.com", 5)).toBe(60_000);
  expect(limiter.wait("bob@example.com", 5)).toBe(null);
});
