import { appendFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Io } from "../app/io/io.ts";
import { oneLine } from "../lib/escape.ts";
import type { openRefs } from "../store/git-refs.ts";
import {
  type ActionContext,
  type ActionResult,
  failed,
  type GitRepository,
  type OfflineContext,
  runScope,
} from "./context/action-context.ts";
import { ActionError } from "./context/action-error.ts";
import { convertedLog, type RunnerLog, safeSink } from "./context/action-log.ts";
import { type EventContext, eventContext } from "./context/event-context.ts";
import { type Github, GithubError } from "./context/github-api.ts";
import { type Inputs, passwordsIn, type RunnerEnv, readInputs, secretsIn } from "./context/inputs.ts";
import { maskAddresses } from "./review/annotations.ts";

/** The toolkit's functions that the action uses. */
interface Runner extends RunnerLog {
  setSecret(secret: string): void;
  setOutput(name: string, value: string): void;
  setFailed(message: string): void;
}

/**
 * Runs the action from the runner's environment; reports failures as outputs and never throws. `openGit` takes the place
 * of git.
 */
export async function runAction(
  env: RunnerEnv,
  io: Io,
  runner: Runner,
  openGit?: typeof openRefs,
): Promise<void> {
  const secrets = secretsIn(env);
  // Before anything else, so that no log can contain a secret.
  [...secrets, ...passwordsIn(env)].forEach(runner.setSecret);
  let mask = <T>(value: T): T => value;
  const result = await ended(async () => {
    const inputs = readInputs(env);
    const eventText = await readFile(env["GITHUB_EVENT_PATH"] ?? "", "utf8").catch(() => "{}");
    const event = eventContext(env, eventText);
    if (inputs.maskAddresses === "on") mask = maskAddresses;
    const log = convertedLog(runner, (text) => mask(text));
    const out = safeSink(log);
    const context: OfflineContext = {
      inputs,
      event,
      scope: runScope(inputs, env["ROLECALL_BASE_URL"]),
      io: { ...io, env: ownVariables(env), cwd: event.workspace, stdout: out, stderr: out },
      log,
      secrets,
      maskSecret: (secret) => runner.setSecret(secret),
      appendSummary: (markdown) => appendSummary(markdown, env),
      saveFile: async (name, text) => {
        const path = join(event.temp, name);
        await writeFile(path, text, { mode: 0o600 });
        return path;
      },
    };
    return runCommand(context, async (run) => {
      const github = await connect(inputs, event, io, runner);
      const isPublic =
        event.isPublic ?? (await github.repository().catch(() => ({ isPublic: true }))).isPublic;
      if (isMasked(inputs, isPublic, runner)) mask = maskAddresses;
      const { withRepository } = await import("./context/open-repository.ts");
      const use = (repository: GitRepository) => run({ ...context, ...repository, github, isPublic, mask });
      return withRepository(context, use, openGit);
    });
  }, runner);
  const outputs = { ...result.outputs, result: result.result, "failure-reason": result.reason ?? "" };
  for (const [name, value] of Object.entries(outputs)) runner.setOutput(name, value);
  if (result.reason !== null) runner.setFailed(oneLine(mask(result.message ?? result.reason)));
}

/** Loads and runs a command; each import loads only what that command needs. */
async function runCommand(
  context: OfflineContext,
  online: (run: (context: ActionContext) => Promise<ActionResult>) => Promise<ActionResult>,
): Promise<ActionResult> {
  const { command } = context.inputs;
  switch (command) {
    case "plan":
      return online((await import("./commands/run-plan.ts")).runPlan);
    case "apply":
    case "due":
      return online((await import("./commands/run-apply-merged.ts")).runApplyMerged);
    case "drift":
      return online((await import("./commands/run-drift.ts")).runDrift);
    case "validate":
      return (await import("./commands/run-validate.ts")).runValidate(context);
    default:
      return command satisfies never;
  }
}

async function ended(run: () => Promise<ActionResult>, runner: Runner): Promise<ActionResult> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof ActionError) {
      const { reason } = error;
      const word = reason === "refused" || reason === "not-approved" ? "refused" : "failed";
      return failed(word, reason, error.lines().join(" "));
    }
    if (error instanceof GithubError) return failed("failed", "github", `GitHub's API: ${error.message}`);
    const trace = error instanceof Error ? (error.stack ?? error.message) : String(error);
    safeSink(runner).write(`${trace}\n`);
    return failed("failed", "bug", "This is a bug in rolecall; please report it with the output above.");
  }
}

async function connect(inputs: Inputs, event: EventContext, io: Io, runner: Runner): Promise<Github> {
  const { connectGithub } = await import("./github/connect-github.ts");
  const { apiUrl, owner, repo, run } = event;
  const effects = { now: io.now, sleep: io.sleep, log: runner.info };
  return connectGithub({ token: inputs.githubToken, apiUrl, owner, repo, run }, effects);
}

/** Decides whether to mask addresses: in public repositories, unless the workflow turns it off. */
function isMasked(inputs: Inputs, isPublic: boolean, runner: Runner): boolean {
  if (inputs.maskAddresses === "on") return true;
  if (!isPublic) return false;
  if (inputs.maskAddresses === "auto") {
    runner.notice("This repository is public: members' addresses are masked wherever they are published.");
    return true;
  }
  runner.warning(
    "This repository is public, and mask-addresses is off: members' addresses are published in comments, summaries and logs.",
  );
  return false;
}

/** Variables that journals and records name; none is secret. */
const RECORDED_VARIABLES = new Set([
  "GITHUB_SERVER_URL",
  "GITHUB_REPOSITORY",
  "GITHUB_RUN_ID",
  "GITHUB_ACTOR",
  "GITHUB_TRIGGERING_ACTOR",
]);

/** Returns the variables that files may refer to, without those of the runner. */
function ownVariables(env: RunnerEnv): RunnerEnv {
  return Object.fromEntries(
    Object.entries(env).filter(
      ([name]) => RECORDED_VARIABLES.has(name) || !/^(INPUT|GITHUB|ACTIONS|RUNNER|STATE)_/.test(name),
    ),
  );
}

async function appendSummary(markdown: string, env: RunnerEnv): Promise<void> {
  const file = env["GITHUB_STEP_SUMMARY"];
  if (file) await appendFile(file, markdown);
}
