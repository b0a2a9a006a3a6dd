import type { StopCause } from "../../model/apply.ts";
import { ExitCode } from "../exit-code.ts";
import type { Io, OutputLoss } from "../io/io.ts";

/** Stops an apply early: for a signal, a merchant that stopped, or output that cannot be written. */
export interface Cancellation {
  /** Aborted when nothing new is to start. */
  readonly signal: AbortSignal;
  /** Aborted when somebody wants it to end: nothing is waited for any more. */
  readonly cancelled: AbortSignal;
  /** What was first; null where nothing has stopped it. */
  cause(): StopCause | null;
  stop(cause: StopCause): void;
  /** Stops it like a signal: nothing is waited for, and no write leaves any more. */
  halt(cause: StopCause): void;
  /** From here on things change: a signal lets what is in flight end, and only a second one leaves, with this code. */
  onForcedExit(exitCode: () => ExitCode): void;
  /** Signals are no longer listened to. */
  close(): void;
}

/**
 * Listens to SIGINT, SIGTERM and SIGHUP. Until something is changed, the first of them ends the process at once. A
 * terminal that is closed may send SIGHUP twice, by way of its shell, and nobody is there any more who is in a hurry.
 */
export function createCancellation(say: (text: string) => void, io: Io): Cancellation {
  const [stopping, cancelling] = [new AbortController(), new AbortController()];
  let cause: StopCause | null = null;
  let exitCode: (() => ExitCode) | null = null;
  let signals = 0;
  const stop = (because: StopCause): void => {
    cause ??= because;
    stopping.abort();
  };
  const halt: Cancellation["halt"] = (because) => {
    stop(because);
    cancelling.abort();
  };
  const { outputLost } = io;
  const onLost = (): void => {
    const { stream } = outputLost.reason as OutputLoss;
    if (exitCode !== null) say(`${stream} is lost: nothing new starts; what is in flight ends first.`);
    halt({ by: "output", stream });
  };
  if (outputLost.aborted) onLost();
  outputLost.addEventListener("abort", onLost);
  const ignoreSignals = io.onStopSignal((signal) => {
    if (signal === "SIGHUP" && signals > 0) return;
    signals += 1;
    if (exitCode === null) {
      say(`${signal}: nothing was changed.`);
      io.exit(ExitCode.failed);
    } else if (signals > 1) {
      io.exit(exitCode());
    } else {
      say(`${signal}: nothing new starts; what is in flight ends first. Once more to leave at once.`);
      halt({ by: "signal", signal });
    }
  });
  return {
    signal: stopping.signal,
    cancelled: cancelling.signal,
    cause: () => cause,
    stop,
    halt,
    onForcedExit: (code) => {
      exitCode = code;
    },
    close: () => {
      outputLost.removeEventListener("abort", onLost);
      ignoreSignals();
    },
  };
}
