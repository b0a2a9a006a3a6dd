import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import xterm from "@xterm/headless";

const BIN = resolve(import.meta.dirname, "../../dist/bin.js");

/** A loaded machine may take its time; a screen that never comes shall still be told. */
const PATIENCE_MS = 300_000;

/** The built program in a real pseudo-terminal, whose screen can be read. */
export interface TerminalSession {
  /** Presses keys: what is written reaches the program as if it was typed. */
  type(keys: string): void;
  /** Waits until the screen shows something, which is then the answer: the whole screen. */
  see(what: string | RegExp | ((screen: string) => boolean)): Promise<string>;
  /** The screen as it is now, without empty lines at its end. */
  screen(): string;
  /** Everything that can be scrolled to, and the screen. */
  scrollback(): string;
  /** Every byte that was written so far. */
  written(): string;
  resize(columns: number, rows: number): Promise<void>;
  /** Sends a signal to the program itself. */
  signal(name: string): Promise<void>;
  /** Waits for the end of the program; its exit code. */
  end(): Promise<number | null>;
  /** Ends it, if it still runs, and lets go of everything. */
  close(): Promise<void>;
}

/** How the program is run on a terminal. */
export interface TerminalOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly columns?: number;
  readonly rows?: number;
}

/** Runs the built program on a terminal of its own, which script(1) of util-linux provides. */
export async function onTerminal(
  args: readonly string[],
  { cwd, env = {}, columns = 80, rows = 24 }: TerminalOptions,
): Promise<TerminalSession> {
  const folder = await mkdtemp(join(tmpdir(), "rolecall-pty-"));
  const name = join(folder, "tty");
  const words = [process.execPath, BIN, ...args]
    .map((word) => `'${word.replaceAll("'", "'\\''")}'`)
    .join(" ");
  const command = `stty cols ${columns} rows ${rows} && tty > '${name}' && echo $$ >> '${name}' && exec ${words}`;
  const child = spawn("script", ["--quiet", "--return", "--flush", "--command", command, "/dev/null"], {
    cwd,
    env: { PATH: process.env["PATH"], TERM: "xterm-256color", SHELL: "/bin/sh", ...env },
    stdio: ["pipe", "pipe", "inherit"],
  });
  return { ...watch(child, columns, rows, name), close: () => close(child, folder) };
}

function watch(
  child: ChildProcess,
  columns: number,
  rows: number,
  name: string,
): Omit<TerminalSession, "close"> {
  const terminal = new xterm.Terminal({ cols: columns, rows, scrollback: 10_000, allowProposedApi: true });
  const listeners = new Set<() => void>();
  const changed = (): void => {
    for (const listener of listeners) listener();
  };
  let bytes = "";
  const closed = once(child, "close") as Promise<[number | null]>;
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
    bytes += chunk;
    terminal.write(chunk, changed);
  });
  const lines = (from: number): string => {
    const { active } = terminal.buffer;
    const all = Array.from({ length: active.length - from }, (_, index) =>
      (active.getLine(from + index)?.translateToString(true) ?? "").trimEnd(),
    );
    return `${all.join("\n").trimEnd()}\n`;
  };
  const program = async (): Promise<{ readonly tty: string; readonly pid: number }> => {
    const [tty = "", pid] = (await readFile(name, "utf8")).split("\n");
    return { tty, pid: Number(pid) };
  };
  const screen = (): string => lines(terminal.buffer.active.baseY);
  return {
    screen,
    scrollback: () => lines(0),
    written: () => bytes,
    type: (keys) => void child.stdin?.write(keys),
    see: (what) =>
      new Promise((done, fail) => {
        const look = (): void => {
          // A frame may arrive in parts.
          if (terminal.modes.synchronizedOutputMode) return;
          const now = screen();
          if (!shows(now, what)) return;
          clearTimeout(patience);
          listeners.delete(look);
          done(now);
        };
        const patience = setTimeout(() => {
          listeners.delete(look);
          fail(new Error(`${what} never came to the screen:\n${screen()}`));
        }, PATIENCE_MS);
        listeners.add(look);
        look();
      }),
    async resize(to, height) {
      terminal.resize(to, height);
      const { tty } = await program();
      await promisify(execFile)("stty", ["-F", tty, "cols", String(to), "rows", String(height)]);
    },
    async signal(which) {
      process.kill((await program()).pid, `SIG${which}`);
    },
    async end() {
      const [code] = await closed;
      // What was written last has to reach the screen.
      await new Promise<void>((done) => terminal.write("", done));
      return code;
    },
  };
}

function shows(screen: string, what: Parameters<TerminalSession["see"]>[0]): boolean {
  if (typeof what === "function") return what(screen);
  return typeof what === "string" ? screen.includes(what) : what.test(screen);
}

async function close(child: ChildProcess, folder: string): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const closed = once(child, "close");
    child.kill("SIGKILL");
    await closed;
  }
  await rm(folder, { recursive: true });
}
