import packageJson from "../../../package.json" with { type: "json" };
import type { MerchantOutcome } from "../../model/apply.ts";
import type { ErrorCode, RolecallError } from "../../model/errors.ts";

/** rolecall's own version. */
export const VERSION: string = packageJson.version;

/** Returns the User-Agent header of every request: `rolecall/1.2.3 node/24.1.0`. */
export function userAgentOf({ nodeVersion }: Pick<Io, "nodeVersion">): string {
  return `rolecall/${VERSION} node/${nodeVersion.replace(/^v/, "")}`;
}

/** The oldest version of Node.js that rolecall runs on, such as `20.19.0`. */
export const OLDEST_NODE: string = packageJson.engines.node.replace(">=", "");

/** A destination for text. */
export interface TextWriter {
  write(text: string): void;
  readonly isTTY: boolean;
  /** Width in cells; `undefined` if it is not a terminal. */
  readonly columns: number | undefined;
}

/** The reason why stdout or stderr can no longer be written. */
export interface OutputLoss {
  readonly stream: "stdout" | "stderr";
  /** Error code, such as `EPIPE` for a closed pipe, or `ENOSPC`. */
  readonly code: string;
}

/** Signals that ask a process to end: Ctrl-C, another process, or a closed terminal. */
export type StopSignal = "SIGINT" | "SIGTERM" | "SIGHUP";

/** The last line of a command that is interrupted before any change. */
export const INTERRUPTED = "Interrupted. Nothing was changed.";

/** The process's own streams. */
export interface TerminalStreams {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
}

/** The environment of a command: every side effect goes through it, so that tests can pass their own. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute path of the working directory. */
  readonly cwd: string;
  /** Absolute path of the folder that a command was run in, if it works at the root of the files instead. */
  readonly startedIn?: string;
  readonly stdout: TextWriter;
  readonly stderr: TextWriter;
  /** Aborted if stdout or stderr can no longer be written; `reason` is an `OutputLoss`. */
  readonly outputLost: AbortSignal;
  readonly stdinIsTTY: boolean;
  /** The streams that a prompt or a board draws on and listens to. */
  readonly terminal: TerminalStreams;
  /** The id of this process. */
  readonly pid: number;
  /** The version of Node.js, such as `v24.1.0`. */
  readonly nodeVersion: string;
  /** Returns ms since the epoch. */
  now(): number;
  /** Returns ms of a clock that is never set back, for waiting and measuring. */
  monotonic(): number;
  /** Waits for ms; rejects with the signal's reason if it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `run` after ms, unless the returned function is called before. */
  setTimer(ms: number, run: () => void): () => void;
  /** Returns a number of at least 0 and below 1. */
  random(): number;
  /**
   * Calls back on SIGINT, SIGTERM and SIGHUP until the returned function is called; the last listener, which may have the
   * screen, comes first.
   */
  onStopSignal(listener: (signal: StopSignal) => void): () => void;
  /**
   * Calls back when the process exits (`null`), or when a signal that nothing else handles is about to end it, until
   * the returned function is called.
   */
  onExit(listener: (signal: NodeJS.Signals | null) => void): () => void;
  /** Calls back before Ctrl-Z stops the process and after it continues, until the returned function is called. */
  onSuspend(listener: { readonly suspend: () => void; readonly resume: () => void }): () => void;
  /** Stops the process group, as Ctrl-Z does; resolves when it continues. */
  suspend(): Promise<void>;
  /** Ends the process at once. */
  exit(code: number): never;
}

/** Returns an environment with other values; its getters stay getters, which have to be evaluated late. */
export function ioWith(io: Io, changes: Partial<Pick<Io, "cwd" | "startedIn" | "env">>): Io {
  return Object.defineProperties({} as Io, {
    ...Object.getOwnPropertyDescriptors(io),
    ...Object.getOwnPropertyDescriptors(changes),
  });
}

/** Returns whether the reader of a pipe has closed it, as in `rolecall plan | head`. */
export function hasNoReader({ code }: OutputLoss): boolean {
  return code === "EPIPE";
}

const REASONS: Readonly<Record<string, string>> = {
  EPIPE: "its reader has closed it",
  ENOSPC: "no space left on the device",
  EDQUOT: "the disk quota is exceeded",
};

/** Describes a loss, as in "stdout cannot be written: no space is left on the device". */
export function describeLoss({ stream, code }: OutputLoss): string {
  return `${stream} cannot be written: ${REASONS[code] ?? code}`;
}

/** The process's exit codes; scripts rely on them, so a number never changes its meaning. */
export const ExitCode = {
  /** Done; for `plan`, even if there are changes. */
  ok: 0,
  /** Failed: a bad file, no credentials, an API error, the network. */
  failed: 1,
  /** Differences found (`plan --detailed-exitcode`, `drift`). */
  differences: 2,
  /** Refused: a guard, a policy, a check, a change that was not approved. */
  refused: 3,
  /** `apply` stopped part-way. */
  partial: 4,
  /** A bug in rolecall. */
  bug: 70,
} as const;

const REFUSALS: ReadonlySet<ErrorCode> = new Set(["override-stray", "not-requestable", "record-untrusted"]);

/** Returns the exit code of an error that ends a command. */
export function exitCodeFor({ code }: RolecallError): ExitCode {
  return REFUSALS.has(code) ? ExitCode.refused : ExitCode.failed;
}

/** Returns the exit code of an apply with these outcomes at its merchants. */
export function applyExitCode(outcomes: readonly Pick<MerchantOutcome, "status">[]): ExitCode {
  const some = (status: MerchantOutcome["status"]): boolean =>
    outcomes.some((outcome) => outcome.status === status);
  if (some("partial")) return ExitCode.partial;
  if (!some("failed") && !some("refused")) return ExitCode.ok;
  if (some("applied")) return ExitCode.partial;
  return some("failed") ? ExitCode.failed : ExitCode.refused;
}

/** One of the exit codes. */
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];
