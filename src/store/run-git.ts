import { spawn } from "node:child_process";
import { oneLine } from "../lib/escape.ts";
import { RolecallError } from "../model/errors.ts";

/** Thrown where git could not reach the refs; `forbidden` if the repository refused. */
export class GitError extends RolecallError {}

/** The environment of a git process. */
export type GitEnv = Readonly<Record<string, string>>;

/** The result of a git process. */
export interface GitEnd {
  /** `null` if it could not be started, or was ended. */
  readonly code: number | null;
  readonly output: Buffer;
  readonly errors: string;
}

/** More output than any repository of records has. */
const MAX_OUTPUT = 512 * 1024 * 1024;

/** Runs git, at most for a time in ms; never throws. */
export function runGit(
  args: readonly string[],
  input: string,
  env: GitEnv,
  timeout?: number,
): Promise<GitEnd> {
  return new Promise((resolve) => {
    const child = spawn("git", args, { env, stdio: ["pipe", "pipe", "pipe"], ...(timeout && { timeout }) });
    const [output, errors]: [Buffer[], Buffer[]] = [[], []];
    let length = 0;
    child.stdout.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length <= MAX_OUTPUT) output.push(chunk);
      else child.kill();
    });
    child.stderr.on("data", (chunk: Buffer) => errors.push(chunk));
    const end = (code: number | null, text: string): void =>
      resolve({ code, output: Buffer.concat(output), errors: text });
    child.on("error", (error) => end(null, `git could not be started: ${error.message}`));
    child.on("close", (code) => {
      const said = Buffer.concat(errors).toString("utf8");
      end(code, code === null ? `git was ended${length > MAX_OUTPUT ? ": too much output" : ""}` : said);
    });
    // A git that ends early closes its input; its exit code says why.
    child.stdin.on("error", () => undefined);
    child.stdin.end(input);
  });
}

/** Returns the output of git; throws GitError if it failed. */
export function checked({ code, output, errors }: GitEnd): Buffer {
  if (code === 0) return output;
  if (code === null) throw new GitError("usage", `${oneLine(errors)}.`);
  const said = errors.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("hint:"));
  const why = oneLine(
    withoutCredentials(
      said
        .slice(0, 3)
        .map((line) => line.trim())
        .join(" "),
    ),
  ).replace(/^(fatal|error): /, "");
  throw new GitError(
    DENIED.test(errors) ? "forbidden" : "network",
    `git: ${(why || `git ended with ${code}`).replace(/\.$/, "")}.`,
  );
}

const DENIED = /\b40[13]\b|denied|declined|not permitted|Authentication failed|could not read Username/i;

/** Returns a text without the credentials in its URLs. */
export function withoutCredentials(text: string): string {
  return text.replaceAll(/:\/\/[^/\s@]*@/g, "://");
}

/** Variables that git gets besides its own: no keys, and nothing that names another repository. */
const PASSED =
  /^(PATH|HOME|USERPROFILE|SYSTEMROOT|TMPDIR|TEMP|TMP|LANG|XDG_CONFIG_HOME|SSH_AUTH_SOCK|SSL_\w+|\w+_PROXY|GIT_(CONFIG|SSL|SSH|TRACE|EXEC)\w*)$/i;

/** Returns the environment for git: of a process, without what is secret or names another repository. */
export function gitEnvironment(env: Readonly<Record<string, string | undefined>>): GitEnv {
  const passed = Object.entries(env).filter(([name, value]) => PASSED.test(name) && value !== undefined);
  return { ...(Object.fromEntries(passed) as GitEnv), GIT_TERMINAL_PROMPT: "0", LC_ALL: "C" };
}

/** Returns configuration as variables: every process of the machine can read arguments. */
export function configEnvironment(config: readonly (readonly [string, string])[]): GitEnv {
  if (config.length === 0) return {};
  const pairs = config.flatMap(([name, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, name],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return { GIT_CONFIG_COUNT: String(config.length), ...(Object.fromEntries(pairs) as GitEnv) };
}
