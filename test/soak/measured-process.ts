import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";

/** What a process uses, after garbage collections; sizes in bytes. */
export interface Usage {
  readonly rss: number;
  readonly heap: number;
  /** Memory of buffers and the like, outside the heap. */
  readonly external: number;
  /** Open file descriptors; null where the system does not tell. */
  readonly fds: number | null;
  readonly sockets: number;
  readonly timers: number;
  /** Of the whole process so far. */
  readonly cpuMs: number;
}

/** A long-lived process that tells what it uses. */
export interface MeasuredProcess {
  readonly child: ChildProcess;
  measure(): Promise<Usage>;
  /** Sends a message and waits for an answer of that type. */
  ask(message: string | object, type: string): Promise<unknown>;
  /** Resolves with the exit code. */
  readonly ended: Promise<number | null>;
  readonly stderr: () => string;
}

const METER = resolve("test/soak/meter.mjs");
const ANSWER_MS = 120_000;
const LONGEST_STDERR = 100_000;

/** Starts Node.js on a module, with the meter loaded. */
export function startMeasured(
  args: readonly string[],
  options: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): MeasuredProcess {
  const child = spawn(process.execPath, ["--expose-gc", "--import", METER, ...args], {
    cwd: options.cwd,
    env: { PATH: process.env["PATH"], NODE_DISABLE_COMPILE_CACHE: "1", ...options.env },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  let stderr = "";
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    stderr = `${stderr}${chunk}`.slice(-LONGEST_STDERR);
  });
  const ended = once(child, "close").then(([code]) => code as number | null);
  const ask: MeasuredProcess["ask"] = async (message, type) => {
    const answered = new Promise((done) => {
      const hear = (answer: { readonly type?: string }): void => {
        if (answer.type !== type) return;
        child.off("message", hear);
        done(answer);
      };
      child.on("message", hear);
    });
    child.send(message);
    const [late, cancel] = after(ANSWER_MS);
    const answer = await Promise.race([answered, ended.then(() => null), late]);
    cancel();
    if (answer === null) throw new Error(`no ${type} from ${args.join(" ")}: ${stderr.slice(-2000)}`);
    return answer;
  };
  return {
    child,
    ask,
    measure: async () => (await ask("measure", "usage")) as Usage,
    ended,
    stderr: () => stderr,
  };
}

/** Resolves with null after a time, unless cancelled. */
function after(ms: number): readonly [Promise<null>, () => void] {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((done) => {
    timer = setTimeout(() => done(null), ms);
  });
  return [late, () => clearTimeout(timer)];
}
