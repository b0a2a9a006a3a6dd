import { vi } from "vitest";

/** Waits until the assertions hold; the limit allows for a busy machine. */
export function eventually(assert: () => void | Promise<void>): Promise<void> {
  return vi.waitFor(assert, { timeout: 300_000 });
}
