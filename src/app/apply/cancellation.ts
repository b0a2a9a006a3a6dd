import type { StopCause } from "../../model/apply.ts";
import { ExitCode, INTERRUPTED, type Io, type OutputLoss } from "../io/io.ts";

/** Stops an apply early: for a signal, a merchant that stopped, or output that cannot be written. */
export interface Cancellation {
  /** Aborted if no new change may start. */
  readonly signal: AbortSignal;
  /** Aborted if the run is cancelled: pending waits and queued requests end. */
  readonly cancelled: AbortSignal;
  /** Returns the first cause; `null` if nothing has stopped the run. */
  cause(): StopCause | null;
  stop(cause: StopCause): void;
  /** Stops the run as a signal does: waits end, and no write is sent any more. */
  halt(cause: StopCause): void;
  /** Marks the start of changes: the first signal lets requests in flight end, the second one exits with this code. */
  onForcedExit(exitCode: () => ExitCode): void;
  /** Stops listening to signals. */
  close(): void;
}

/**
 * Listens to SIGINT, SIGTERM and SIGHUP. Before any change, the first of them ends the process at once. A closed
 * terminal may send SIGHUP twice, through its shell; the second one is ignored. Before any change, `interrupted` says how
 * far it came.
 */
export function createCancellation(
  say: (text: string) => void,
  io: Io,
  interrupted: () => string = () => INTERRUPTED,
): Cancellation {
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
    if (exitCode !== null) say(`${stream} is closed: nothing new starts; requests in flight finish first.`);
    halt({ by: "output", stream });
  };
  if (outputLost.aborted) onLost();
  outputLost.addEventListener("abort", onLost);
  const ignoreSignals = io.onStopSignal((signal) => {
    if (signal === "SIGHUP" && signals > 0) return;
    signals += 1;
    if (exitCode === null) {
      say(interrupted());
      io.exit(ExitCode.failed);
    } else if (signals > 1) {
      io.exit(exitCode());
    } else {
      say(`${signal}: nothing new starts; requests in flight finish first. Send it again to exit at once.`);
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
