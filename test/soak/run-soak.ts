import { spawn } from "node:child_process";
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { scenarioOf } from "../chaos/scenario.ts";
import { type MeasuredProcess, startMeasured, type Usage } from "./measured-process.ts";
import { SHOPS, soakFile, soakSeed, WATCHED } from "./shops.ts";
import {
  COLUMNS,
  type Counts,
  lineOf,
  PROCESSES,
  rowOf,
  type Sample,
  seriesOf,
  summaryOf,
} from "./soak-report.ts";
import { type Verdict, verdictOf } from "./verdict.ts";

/** How long to soak, and how fast. */
export interface SoakOptions {
  /** At least one round is run. */
  readonly minutes: number;
  /** Time from the start of one round to that of the next, in seconds. */
  readonly every: number;
  /** Of the faults of the first round; each further one has the next. */
  readonly seed: number;
  /** The CSV file. */
  readonly output: string;
  readonly tell: (line: string) => void;
}

/** What came of it. */
export interface SoakSummary {
  readonly rounds: number;
  readonly verdicts: readonly Verdict[];
  /** What did not hold; empty where all is well. */
  readonly broken: readonly string[];
}

const KEY = "sk_test_sandbox";
const PROCESS_MS = 240_000;
const QUIET_MS = 120_000;
const TELL_EVERY = 20;

/** The exit codes of an apply through faults: done, failed, refused, stopped part-way. */
const DISTURBED = [0, 1, 3, 4];

/** Runs rounds of applies, plans and drifts through faults beside a watching program, and judges what was measured. */
export async function runSoak(options: SoakOptions): Promise<SoakSummary> {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-soak-"));
  const started: MeasuredProcess[] = [];
  try {
    return await soakIn(folder, options, started);
  } finally {
    for (const { child } of started) child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
}

async function soakIn(
  folder: string,
  options: SoakOptions,
  started: MeasuredProcess[],
): Promise<SoakSummary> {
  const { minutes, every, seed, output, tell } = options;
  const setting = await openSetting(folder, started);
  const idle = await usageOf(setting);
  const begun = performance.now();
  const isDone = (): boolean => performance.now() - begun >= minutes * 60_000;
  const [samples, endings, broken]: [Sample[], string[], string[]] = [[], [], []];
  let seen = { requests: 0, faulted: 0 };
  writeFileSync(output, `${COLUMNS.join(",")}\n`);
  tell(`soak: ${minutes} minutes, a round every ${every} s, faults from seed ${seed}; ${output}`);
  setting.writeFiles(0);
  setting.watcher.child.send({ start: true, every: (every * 1000) / 3 });
  for (let round = 0; round === 0 || !isDone(); round += 1) {
    const { planMs, ended } = await runRound(setting, round, seed + round);
    endings.push(...ended.map(({ what, code }) => `${what} ${code ?? "killed"}`));
    broken.push(...ended.flatMap((one) => unexpected(one, round)));
    seen = await countRequests(setting.control, seen);
    const counts = (await setting.watcher.ask("counts", "counts")) as Counts;
    const seconds = Math.round((performance.now() - begun) / 1000);
    const sample = { seconds, round, ...seen, planMs, counts, usage: await usageOf(setting) };
    samples.push(sample);
    appendFileSync(output, `${rowOf(sample).join(",")}\n`);
    if (round % TELL_EVERY === 0) tell(`round ${round}: ${lineOf(sample)}`);
    const due = begun + (round + 1) * every * 1000;
    if (!isDone()) await sleep(Math.max(0, due - performance.now()));
  }
  broken.push(...(await endSetting(setting, idle)));
  const verdicts = seriesOf(samples)
    .map(verdictOf)
    .filter((verdict) => verdict !== null);
  for (const { name, growth, bound, flat } of verdicts) {
    if (!flat) broken.push(`${name} grew by ${Math.round(growth)}, more than ${Math.round(bound)}`);
  }
  for (const line of summaryOf(samples, endings, verdicts)) tell(line);
  for (const line of broken) tell(`NOT as it should be: ${line}`);
  tell(broken.length === 0 ? "flat: nothing grew, and nothing was left open" : `${broken.length} problems`);
  return { rounds: samples.length, verdicts, broken };
}

/** The processes of a soak, and how to reach them. */
interface Setting {
  readonly sandbox: MeasuredProcess;
  readonly watcher: MeasuredProcess;
  /** Sends a request to the control routes of the sandbox. */
  readonly control: Control;
  /** Runs the program for the merchants that the watching program does not change. */
  readonly run: (...args: string[]) => Promise<Ended>;
  readonly writeFiles: (round: number) => void;
}

async function openSetting(folder: string, started: MeasuredProcess[]): Promise<Setting> {
  const program = copyProgram(folder);
  const project = join(folder, "project");
  mkdirSync(join(project, "access"), { recursive: true });
  const [bin, seedFile, stateFile] = [join(program, "bin.js"), join(folder, "seed"), join(folder, "state")];
  writeFileSync(seedFile, soakSeed());
  const sandbox = startMeasured([bin, "sandbox", "--port", "0", "--seed", seedFile, "--state", stateFile], {
    cwd: folder,
    env: {},
  });
  started.push(sandbox);
  const url = /http:\/\/\S+/.exec(await firstLine(sandbox))?.[0] ?? "";
  const env = { ROLECALL_BASE_URL: url, ROLECALL_API_KEY: KEY };
  const library = join(program, "index.js");
  const watcher = startMeasured([resolve("test/soak/watcher.mjs"), library, WATCHED], { cwd: project, env });
  started.push(watcher);
  await firstLine(watcher);
  const control: Control = (method, path, body) => send(method, `${url}/_sandbox${path}`, body);
  await control("PUT", "/settings", { request_log: 500 });
  const only = SHOPS.flatMap((shop) => ["-m", shop]);
  return {
    sandbox,
    watcher,
    control,
    run: (...args) => runProgram([bin, ...args, ...only], project, env),
    writeFiles: (round) => {
      for (const shop of [...SHOPS, WATCHED]) {
        writeFileSync(join(project, "access", `${shop}.yaml`), soakFile(shop, round));
      }
    },
  };
}

/** Plans and applies through faults, applies without, then lets somebody else change something. */
async function runRound(
  { control, run, writeFiles }: Setting,
  round: number,
  seed: number,
): Promise<{ readonly planMs: number; readonly ended: readonly EndedAs[] }> {
  const ended: EndedAs[] = [];
  const expectEnd = async (what: string, codes: readonly number[], ...args: string[]): Promise<void> => {
    ended.push({ what, codes, ...(await run(...args)) });
  };
  writeFiles(round);
  await control("PUT", "/faults", { seed, rules: scenarioOf(seed).faults });
  const impatient = ["--retry-for", "10s"];
  await expectEnd("disturbed plan", DISTURBED, "plan", ...impatient);
  await expectEnd("disturbed apply", DISTURBED, "apply", "--yes", "--format", "json", ...impatient);
  await control("DELETE", "/faults");
  await expectEnd("apply", [0], "apply", "--yes", "--retry-for", "30s");
  const begun = performance.now();
  await expectEnd("plan", [0], "plan", "--detailed-exitcode");
  const planMs = Math.round(performance.now() - begun);
  await editBehind(control, round);
  await expectEnd("drift", [2], "drift");
  return { planMs, ended };
}

interface EndedAs extends Ended {
  readonly what: string;
  /** The exit codes that are expected. */
  readonly codes: readonly number[];
}

function unexpected({ what, code, codes, stderr }: EndedAs, round: number): readonly string[] {
  if (code !== null && codes.includes(code)) return [];
  return [`round ${round}: ${what} ended with ${code ?? "a signal"}: ${stderr.slice(-1500)}`];
}

/** Ends both processes; returns what they have left open, and the bugs of the watching program. */
async function endSetting(
  { sandbox, watcher }: Setting,
  idle: Readonly<Record<(typeof PROCESSES)[number], Usage>>,
): Promise<readonly string[]> {
  await watcher.ask("stop", "stopped");
  const end = {
    watcher: await settled(watcher, idle.watcher),
    sandbox: await settled(sandbox, idle.sandbox),
  };
  const { bugs } = (await watcher.ask("counts", "counts")) as Counts;
  watcher.child.send("end");
  sandbox.child.kill("SIGTERM");
  const codes = { watcher: await watcher.ended, sandbox: await sandbox.ended };
  return [
    ...bugs.map((bug) => `the watching program: ${bug}`),
    ...PROCESSES.flatMap((name) => {
      const left = leftOver(idle[name], end[name]);
      return [
        ...(codes[name] === 0 ? [] : [`the ${name} ended with ${codes[name] ?? "a signal"}`]),
        ...(left === null ? [] : [`the ${name} has ${left} left`]),
      ];
    }),
  ];
}

async function usageOf({ sandbox, watcher }: Setting): Promise<Sample["usage"]> {
  return { sandbox: await sandbox.measure(), watcher: await watcher.measure() };
}

/** Copies the built program, so that a build meanwhile changes nothing. */
function copyProgram(folder: string): string {
  for (const part of ["dist", "schemas", "package.json"])
    cpSync(part, join(folder, part), { recursive: true });
  return join(folder, "dist");
}

/** Measures until sockets, descriptors and timers are no more than before, or it has taken too long. */
async function settled(process: MeasuredProcess, before: Usage): Promise<Usage> {
  const limit = performance.now() + QUIET_MS;
  for (;;) {
    const usage = await process.measure();
    if (leftOver(before, usage) === null || performance.now() > limit) return usage;
    await sleep(250);
  }
}

function leftOver(before: Usage, after: Usage): string | null {
  const left = (["fds", "sockets", "timers"] as const).flatMap((figure) => {
    const more = (after[figure] ?? 0) - (before[figure] ?? 0);
    return more > 0 ? [`${more} ${figure}`] : [];
  });
  return left.length > 0 ? left.join(", ") : null;
}

/** Changes a role and a member as another administrator does, so that there is something to find. */
async function editBehind(control: Control, round: number): Promise<void> {
  const shop = SHOPS[round % SHOPS.length];
  const base = `/v0.1/merchants/${shop}`;
  const { items } = (await control("GET", `${base}/roles`)) as { readonly items: readonly { id: string }[] };
  const [role] = items.slice(round % 2);
  await control("PATCH", `${base}/roles/${role?.id}`, { description: `changed in round ${round}` });
  await control("POST", `${base}/members`, {
    email: `behind-${round % 20}@example.com`,
    roles: ["role_employee"],
  });
}

type Control = (method: string, path: string, body?: object) => Promise<unknown>;

async function countRequests(
  control: Control,
  { requests, faulted }: { readonly requests: number; readonly faulted: number },
): Promise<{ readonly requests: number; readonly faulted: number }> {
  const { items } = (await control("GET", `/requests?since=${requests}`)) as {
    readonly items: readonly { readonly number: number; readonly faults: readonly string[] }[];
  };
  const more = items.filter(({ faults }) => faults.length > 0).length;
  return { requests: items.at(-1)?.number ?? requests, faulted: faulted + more };
}

interface Ended {
  /** Null where it was killed. */
  readonly code: number | null;
  readonly stderr: string;
}

function runProgram(
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<Ended> {
  const child = spawn(process.execPath, args, {
    cwd,
    env: { PATH: process.env["PATH"], NODE_DISABLE_COMPILE_CACHE: "1", ...env },
    stdio: ["ignore", "ignore", "pipe"],
    timeout: PROCESS_MS,
    killSignal: "SIGKILL",
  });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (chunk) => {
    stderr += chunk;
  });
  return new Promise((done) => child.on("close", (code) => done({ code, stderr })));
}

/** Waits for the first line that a process prints: from then on it can be reached. */
async function firstLine({ child, ended, stderr }: MeasuredProcess): Promise<string> {
  let stdout = "";
  const printed = new Promise<string>((done) => {
    child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
      stdout += chunk;
      const [line, ...rest] = stdout.split("\n");
      if (line !== undefined && rest.length > 0) done(line);
    });
  });
  const line = await Promise.race([printed, ended.then(() => null)]);
  if (line === null) throw new Error(`a process ended before it began: ${stderr()}`);
  return line;
}

/** Sends a request over a connection of its own, which leaves no socket open. */
function send(method: string, url: string, body?: object): Promise<unknown> {
  return new Promise((done, fail) => {
    const headers = body && { "content-type": "application/json" };
    const sent = request(url, { method, agent: false, ...(headers && { headers }) }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk) => {
        text += chunk;
      });
      response.on("end", () => {
        if ((response.statusCode ?? 500) >= 300) fail(new Error(`${method} ${url}: ${text}`));
        else done(text === "" ? null : JSON.parse(text));
      });
    });
    sent.on("error", fail);
    sent.end(body && JSON.stringify(body));
  });
}
