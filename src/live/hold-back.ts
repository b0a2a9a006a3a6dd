import type { HoldBack } from "../model/ports.ts";
import type { ClientOptions } from "./client.ts";

/** Longest that refused invitations are waited for once everything else is done, in ms. */
const LONGEST_ENDING_MS = 10_000;

/** A wait for one address, beside everything else; `endedAt` is when everything else was found done. */
export interface HeldBack {
  readonly until: number;
  readonly holdBack: HoldBack;
  endedAt?: number;
}

/** Waits until an address may be invited again; returns false where it is given up before. */
export async function waitBeside(
  wait: HeldBack,
  { now, sleep, cancelled }: Pick<ClientOptions, "now" | "sleep" | "cancelled">,
): Promise<boolean> {
  const { until, holdBack } = wait;
  const { ending, stop } = holdBack;
  for (;;) {
    if (cancelled.aborted || stop.aborted) return false;
    if (ending.aborted) {
      wait.endedAt ??= now();
      if (until > wait.endedAt + LONGEST_ENDING_MS) return false;
    }
    const ms = until - now();
    if (ms <= 0) return true;
    const signals = ending.aborted ? [cancelled, stop] : [cancelled, stop, ending];
    const signal = AbortSignal.any(signals);
    await sleep(ms, signal).catch((reason: unknown) => {
      if (!signal.aborted) throw reason;
    });
  }
}
