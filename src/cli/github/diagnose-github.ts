import { ExitCode, type Io } from "../../app/io/io.ts";
import { announceIfSlow } from "../../app/progress/service-log.ts";
import type { OutputOptions } from "../../app/project/command-options.ts";
import { writeDocument } from "../../app/show/write-document.ts";
import { RolecallError } from "../../model/errors.ts";
import type { HealthReport } from "../../model/reports.ts";
import { healthDocument } from "../../show/documents/health.ts";
import { documentJson } from "../../show/machine/machine-formats.ts";
import { checkGithub } from "./github-checks.ts";
import { findRepository, type GithubClient, openGithub } from "./github-client.ts";
import { readFacts, unseenBecause } from "./github-facts.ts";
import { ownedPaths } from "./owned-paths.ts";

/** Checks whether the set-up of the repository at GitHub is in force, and prints what it finds. */
export async function diagnoseGithub(options: OutputOptions, io: Io): Promise<ExitCode> {
  const client = await openGithub(await findRepository(io), MAY_READ, io);
  const report = await announceIfSlow("Checking the repository at GitHub …", io, () =>
    examine(client, io),
  ).finally(client.close);
  const document = { json: () => documentJson(report), report: () => healthDocument(report) };
  await writeDocument("result", document, options, io);
  return report.groups.some(({ checks }) => checks.some(({ status }) => status === "failed"))
    ? ExitCode.failed
    : ExitCode.ok;
}

const MAY_READ = "can read the repository's administration, actions, environments, secrets and variables";

async function examine(client: GithubClient, { cwd, now }: Io): Promise<HealthReport> {
  const { owner, name, host } = client.repository;
  const described = await client.get("");
  if (described.status !== 200) {
    const reason = unseenBecause(described).replace(/\.?$/, ".");
    throw new RolecallError("request-failed", `${owner}/${name} at ${host} cannot be read: ${reason}`, {
      hint: "Check the token (gh auth status) and the repository (GH_REPO=OWNER/NAME).",
    });
  }
  const groups = checkGithub(await readFacts(client, described.body, await ownedPaths(cwd)), now());
  const next = groups.flatMap(({ checks }) => checks.flatMap((check) => check.next ?? []));
  return { groups, needed: [], next: [...new Set(next)] };
}
