import { hostname, userInfo } from "node:os";
import type { RunStarted } from "../../model/journal.ts";
import { gitCommit } from "../files/git-history.ts";
import type { Io } from "../io/io.ts";

/** The origin of a run, as far as it is known. */
export type RunOrigin = Pick<RunStarted, "user" | "host" | "pid" | "commit" | "job">;

/** Looks up who runs this process, where, and at which commit. */
export async function runOrigin(io: Pick<Io, "env" | "cwd" | "pid">): Promise<RunOrigin> {
  return {
    user: userName(),
    host: hostname(),
    pid: io.pid,
    commit: await gitCommit(io.cwd),
    job: jobAddress(io.env),
  };
}

function userName(): string | null {
  try {
    return userInfo().username;
  } catch {
    // In some containers the user id has no name.
    return null;
  }
}

/** Returns the URL of the CI run from the environment; `null` if there is no plain one. */
export function jobAddress(env: Io["env"]): string | null {
  const [server, repository, run] = [
    env["GITHUB_SERVER_URL"],
    env["GITHUB_REPOSITORY"],
    env["GITHUB_RUN_ID"],
  ];
  const github = server && repository && run ? `${server}/${repository}/actions/runs/${run}` : undefined;
  const found = [github, env["CI_JOB_URL"], env["BUILD_URL"]].find(
    (one) => one !== undefined && isPlain(one),
  );
  return found ?? null;
}

const LONGEST_ADDRESS = 500;

/** Returns whether a URL has no credentials, and no query that may hold a token. */
function isPlain(address: string): boolean {
  if (!/^https?:\/\/[\x21-\x7e]+$/.test(address) || address.length > LONGEST_ADDRESS) return false;
  if (!URL.canParse(address)) return false;
  const { username, password, search, hash } = new URL(address);
  return [username, password, search, hash].every((part) => part === "");
}
