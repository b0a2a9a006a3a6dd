import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { writeAtomically } from "../../app/io/atomic-write.ts";
import { ExitCode, type Io, ioWith } from "../../app/io/io.ts";
import { styleFor, terminalOf } from "../../app/io/terminal.ts";
import { jsonSchema } from "../../kernel/saved/json-schemas.ts";
import { oneLine } from "../../lib/escape.ts";
import { shellWord } from "../../lib/text.ts";
import { RolecallError } from "../../model/errors.ts";
import { createSandbox } from "../../sandbox/create-sandbox.ts";
import { type Listening, listen } from "../../sandbox/listen.ts";
import { wrapText } from "../../show/text/wrap.ts";
import { SCHEMA_FILE } from "../adopt/new-files.ts";
import { applyMerchants } from "../apply/apply-merchants.ts";
import { packagePath } from "../io/package-folder.ts";
import { programName } from "../io/program-name.ts";
import { previewPlans } from "../show/preview-plans.ts";

/** The options of `demo`. */
export interface DemoCommandOptions {
  readonly yes?: true;
  readonly color: boolean;
}

const FILE = "access/station-road.yaml";
const STATE = "sandbox.json";
const KEY = "sk_test_sandbox";

/** Plans and applies an example against a sandbox in this process; removes the folder unless the example is applied. */
export async function runDemo(options: DemoCommandOptions, io: Io): Promise<ExitCode> {
  const folder = makeFolder();
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  const offExit = io.onExit(remove);
  let code: ExitCode = ExitCode.failed;
  try {
    writeProject(folder);
    const { url, close } = await startSandbox(folder, io);
    code = await demonstrate({ folder, url, options }, io).finally(close);
    if (code === ExitCode.ok) sayNextSteps({ folder, url, options }, io);
    return code;
  } finally {
    offExit();
    if (code !== ExitCode.ok) remove();
  }
}

function makeFolder(): string {
  try {
    return mkdtempSync(join(realpathSync(tmpdir()), "rolecall-demo-"));
  } catch (error) {
    throw new RolecallError("file-unwritable", `No folder can be created in ${oneLine(tmpdir())}.`, {
      hint: "Set TMPDIR to a folder that exists and is writable.",
      cause: error,
    });
  }
}

/** Writes a shop of the example in `examples/retail`, with what it includes. */
function writeProject(folder: string): void {
  const example = packagePath("examples/retail");
  const write = (file: string, text: string): void => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  };
  for (const file of [FILE, "shared/group.yaml"]) {
    write(file, readFileSync(join(example, file), "utf8").replace("../../../schemas/", "../schemas/"));
  }
  write(SCHEMA_FILE, `${JSON.stringify(jsonSchema("merchant"), null, 2)}\n`);
}

/** Starts a sandbox that keeps its state in the folder. */
async function startSandbox(folder: string, { now, sleep }: Io): Promise<Listening> {
  const sandbox = createSandbox({
    now,
    sleep,
    seed: readFileSync(packagePath("examples/retail/live.yaml"), "utf8"),
    save: (text) => writeAtomically(join(folder, STATE), text),
  });
  const { url, close } = await listen(sandbox, { host: "127.0.0.1", port: 0 });
  const stop = async (): Promise<void> => {
    await close();
    await sandbox.save();
  };
  return { url, close: stop };
}

interface Demonstration {
  readonly folder: string;
  readonly url: string;
  readonly options: DemoCommandOptions;
}

/** Applies the example and plans it again; returns the exit code of the first that does not succeed. */
async function demonstrate({ folder, url, options }: Demonstration, io: Io): Promise<ExitCode> {
  const { say, sayLine } = speaker(options, io);
  const style = styleFor(io.stdout, io, options.color);
  const sayCommand = (words: string): void => sayLine(`\n${style.bold(`$ rolecall ${words}`)}`);
  const env = { ...withoutSettings(io.env), no_proxy: "127.0.0.1", ...serviceAt(url) };
  const world = ioWith(io, { cwd: folder, env });
  const planOptions = {
    merchant: [],
    reinvite: [],
    concurrency: 10,
    maxItems: 1000,
    color: options.color,
    format: "text",
  } as const;
  say(
    `A shop, Station Road, is live at ${url}: a sandbox of the service, on this machine only. ${FILE} declares who should have which access there. What would an apply change?`,
  );
  const yes = options.yes || !terminalOf(io).asks;
  sayCommand(yes ? "apply --yes" : "apply");
  const applyOptions = {
    ...planOptions,
    ...(yes && { yes }),
    allow: [],
    recheck: true,
    rotatePassword: [],
    lockTimeout: 0,
  };
  const applied = await applyMerchants([], applyOptions, world);
  if (applied !== ExitCode.ok) return applied;
  sayLine();
  say("Does anything remain to be changed?");
  sayCommand("plan");
  return await previewPlans([], planOptions, world);
}

/** Returns the environment without variables for another service, key or way to show progress. */
function withoutSettings(env: Io["env"]): Io["env"] {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("ROLECALL_")));
}

function serviceAt(url: string): Readonly<Record<string, string>> {
  return { ROLECALL_BASE_URL: url, ROLECALL_API_KEY: KEY };
}

/** Prints commands to continue with, at the same URL, so that the apply can be undone. */
function sayNextSteps({ folder, url, options }: Demonstration, io: Io): void {
  const { say, sayLine } = speaker(options, io);
  const program = programName(io.env["PATH"] ?? "");
  const settings = Object.entries(serviceAt(url)).map((entry) => entry.join("="));
  const enter = `  cd ${shellWord(folder)}`;
  sayLine();
  sayLine(`The files are in ${folder}`);
  say("To continue, start the service again, as the demo left it, and let it run:");
  sayLine(`\n${enter} && ${program} sandbox --state ${STATE} --port ${new URL(url).port}\n`);
  say(`In a second terminal, set its address. Then change ${FILE}, and preview what an apply would do:`);
  sayLine(`\n${enter} && export ${settings.join(" ")}\n  ${program} plan`);
}

interface Speaker {
  /** Writes a paragraph within the width of the terminal. */
  say(text: string): void;
  /** Writes a line as it is, so that it can be copied. */
  sayLine(text?: string): void;
}

function speaker({ color }: DemoCommandOptions, io: Io): Speaker {
  const { columns } = styleFor(io.stdout, io, color);
  const sayLine = (text = ""): void => io.stdout.write(`${text}\n`);
  return { sayLine, say: (text) => sayLine(wrapText(text, columns).join("\n")) };
}
