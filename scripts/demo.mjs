import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { cpSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join, resolve } from "node:path";

/**
 * Demonstrates rolecall without an account: starts the built sandbox with the example's seed, runs the built program
 * against it and checks every exit code. No process outlives it.
 */
const root = resolve(import.meta.dirname, "..");
const program = join(root, "dist", "bin.js");
const files = "examples/retail/access";
const seed = "examples/retail/live.yaml";
const key = "sk_test_sandbox";
const START_MS = 30_000;
const STOP_MS = 5_000;

const STEPS = [
  {
    about: "Are the files valid? This needs neither network nor key.",
    args: ["validate", files],
  },
  {
    about: "What would change? Nothing is changed yet.",
    args: ["plan", files],
  },
  {
    about: "Apply it. It plans again first; --yes confirms, as a person would by typing it.",
    args: ["apply", "--yes", files],
  },
  {
    about: "Does anything remain? With --detailed-exitcode, exit code 0 means no changes.",
    args: ["plan", "--detailed-exitcode", files],
  },
];

const AFTERWORD = `
Your turn. In this folder, start the sandbox and leave it running:

  node dist/bin.js sandbox --seed ${seed}

In a second terminal, also in this folder, set its URL and the key to use. The password is for
the managed user that the plan creates:

  alias rolecall="node $PWD/dist/bin.js"
  export ROLECALL_BASE_URL=http://127.0.0.1:4010
  export ROLECALL_API_KEY=${key}
  export TILL_7_PASSWORD=only-for-the-sandbox

Plan, apply (it asks before it changes anything), edit a file, and plan again:

  rolecall plan ${files}
  rolecall apply ${files}
  \${EDITOR:-vi} ${files}/harbour-street.yaml
  rolecall plan ${files}

"rolecall --help" lists all commands.
`;

/** A copy of the examples, so that the demo leaves no journal in the repository. */
const folder = mkdtempSync(join(tmpdir(), "rolecall-demo-"));
/** The running child processes. */
const running = new Set();
let interrupted = null;

// No child process and no copy outlives this process.
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    // A second signal exits at once.
    if (interrupted) process.exit(128 + constants.signals[signal]);
    interrupted = signal;
    for (const child of running) child.kill("SIGTERM");
  });
}
// The reader has gone, as in "npm run demo | head".
process.stdout.on("error", () => process.exit(1));

process.exitCode = await demo();

async function demo() {
  if (!existsSync(program)) return failed('dist/ is not there yet; "npm run demo" builds it first.');
  cpSync(join(root, "examples"), join(folder, "examples"), { recursive: true });
  const sandbox = start(["sandbox", "--port", "0", "--seed", seed], ["ignore", "pipe", "pipe"]);
  try {
    const url = await urlOf(sandbox);
    await say(`Two shops are live at ${url}: the sandbox, in memory and on this machine only.\n`);
    for (const [index, { about, args }] of STEPS.entries()) {
      await say(`\n${strong(`${index + 1}. ${about}`)}\n\n$ rolecall ${args.join(" ")}\n`);
      const code =
        interrupted ?? (await ended(start(args, ["ignore", "inherit", "inherit"], serviceAt(url))));
      if (interrupted) return left();
      if (code !== 0) return failed(`"rolecall ${args.join(" ")}" ended with ${code}; 0 was expected.`);
    }
  } catch (error) {
    if (interrupted) return left();
    return failed(error.message);
  } finally {
    await stop(sandbox);
  }
  await say("\nAll four steps succeeded, and the sandbox is stopped.\n");
  await say(AFTERWORD);
  return 0;
}

function start(args, stdio, env = cleanEnv()) {
  const child = spawn(process.execPath, [program, ...args], { cwd: folder, stdio, env });
  running.add(child);
  for (const end of ["close", "error"]) child.once(end, () => running.delete(child));
  return child;
}

/** The environment without variables for another service or key. */
function cleanEnv() {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("ROLECALL_")));
}

/** Variables that a user would export; the password exists only in the sandbox. */
function serviceAt(url) {
  return {
    ...cleanEnv(),
    ROLECALL_BASE_URL: url,
    ROLECALL_API_KEY: key,
    TILL_7_PASSWORD: randomBytes(16).toString("base64url"),
  };
}

/** Reads the sandbox's URL from the first line of its output. */
function urlOf(sandbox) {
  return new Promise((found, fail) => {
    let output = "";
    let errors = "";
    const timer = setTimeout(() => fail(new Error("The sandbox did not start in time.")), START_MS);
    sandbox.stdout.setEncoding("utf8").on("data", (text) => {
      output += text;
      const url = /https?:\/\/[^\s/]+(?=[\s/])/.exec(output)?.[0];
      if (url === undefined) return;
      clearTimeout(timer);
      found(url);
    });
    sandbox.stderr.setEncoding("utf8").on("data", (text) => {
      errors = `${errors}${text}`.slice(-4_000);
    });
    sandbox.once("error", fail);
    sandbox.once("close", () => {
      clearTimeout(timer);
      fail(new Error(`The sandbox did not start.\n${errors}`.trimEnd()));
    });
  });
}

/** Describes the end of a child: its exit code or signal. */
function ended(child) {
  return new Promise((done, fail) => {
    child.once("error", fail);
    child.once("close", (code, signal) => done(code ?? signal));
  });
}

async function stop(child) {
  if (!running.has(child)) return;
  const end = ended(child);
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
  await end;
  clearTimeout(timer);
}

/** Writes to stdout and waits until it is flushed, before a child writes. */
function say(text) {
  return new Promise((done) => process.stdout.write(text, () => done()));
}

function strong(text) {
  const { NO_COLOR, TERM } = process.env;
  return process.stdout.isTTY && !NO_COLOR && TERM !== "dumb" ? `\u001b[1m${text}\u001b[22m` : text;
}

/** Returns the exit code of a process that a signal ended. */
function left() {
  return 128 + constants.signals[interrupted];
}

function failed(message) {
  console.error(`\nThe demo failed. ${message}`);
  return 1;
}
