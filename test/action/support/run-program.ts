import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import * as core from "@actions/core";
import { runAction } from "../../../src/action/run-action.ts";
import type { openRefs } from "../../../src/store/git-refs.ts";
import { realIo } from "../../support/rolecall.ts";
import type { StoryClock } from "./story-clock.ts";

/** The bundle that is committed, as a runner starts it. */
export const BUNDLE = resolve(import.meta.dirname, "../../../dist/action.mjs");

/** How the action ended. */
export interface ProgramEnd {
  readonly code: number | null;
  /** The log as the runner reads it, with workflow commands. */
  readonly log: string;
  readonly outputs: Readonly<Record<string, string>>;
}

export type StepEnv = Readonly<Record<string, string | undefined>>;

/** What takes the place of the process's own clock, of git, and of the action. */
export interface SourcesOptions {
  readonly clock?: StoryClock | undefined;
  readonly openGit?: typeof openRefs | undefined;
  readonly action?: typeof runAction | undefined;
}

/** Runs the action within this process, with the toolkit's own functions: only where they write to is another place. */
export async function runSources(
  cwd: string,
  env: StepEnv,
  { clock, openGit, action = runAction }: SourcesOptions = {},
): Promise<ProgramEnd> {
  const outputs: Record<string, string> = {};
  let [log, code] = ["", 0];
  const { write } = process.stdout;
  process.stdout.write = (chunk: string | Uint8Array): boolean => {
    log += String(chunk);
    return true;
  };
  try {
    const { io } = realIo({ cwd });
    // Only the progress waits with a signal; the waits for GitHub pass at once.
    const sleep: typeof io.sleep = (ms, signal) => io.sleep(signal === undefined ? 0 : ms, signal);
    await action(
      env,
      { ...io, sleep, ...(clock && { now: clock.now, sleep: clock.sleep }) },
      {
        ...core,
        setOutput: (name, value) => {
          outputs[name] = value;
        },
        setFailed: (message) => {
          code = 1;
          core.error(message);
        },
      },
      openGit,
    );
  } finally {
    process.stdout.write = write;
  }
  return { code, log, outputs };
}

/** Runs the bundle as a runner does. */
export async function runBundle(
  node: string,
  cwd: string,
  env: StepEnv,
  output: string,
  bundle = BUNDLE,
): Promise<ProgramEnd> {
  const child = spawn(node, [bundle], { cwd, stdio: ["ignore", "pipe", "pipe"], env });
  let log = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      log += text;
    });
  }
  const [code] = (await once(child, "close")) as [number | null];
  return { code, log, outputs: outputsIn(await readFile(output, "utf8")) };
}

/** Outputs as the runner reads them: a name, a delimiter, a value, the delimiter again. */
function outputsIn(text: string): Readonly<Record<string, string>> {
  const outputs: Record<string, string> = {};
  const lines = text.split("\n");
  for (let at = 0; at < lines.length; at++) {
    const [, name, delimiter] = /^([^<]+)<<(.+)$/.exec(lines[at] ?? "") ?? [];
    if (name === undefined) continue;
    const end = lines.indexOf(delimiter ?? "", at + 1);
    outputs[name] = lines.slice(at + 1, end).join("\n");
    at = end;
  }
  return outputs;
}
