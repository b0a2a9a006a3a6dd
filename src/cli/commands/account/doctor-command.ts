import { Command, Option } from "commander";
import type { ExitCode, Io } from "../../../app/io/io.ts";
import { withMerchantOption, withOutputOptions } from "../../args/options.ts";
import type { DoctorCommandOptions } from "../../doctor/diagnose.ts";

/** Requests at the same time, for each service and key. */
const CONCURRENCY = 8;

type DoctorOptions = Omit<DoctorCommandOptions, "concurrency"> & { readonly github?: true };

/** Declares `doctor`. */
export function doctorCommand(io: Io, done: (code: ExitCode) => void): Command {
  const command = new Command("doctor")
    .summary("check the machine, files, service, key and permissions; changes nothing")
    .description(
      "Checks this machine, the files, the connection to the service, the key and, for each merchant, every operation that plan, drift and apply need. Lists the permissions to grant and the next steps. Changes nothing.",
    )
    .argument("[path...]", "files or folders (default: access/, if it exists)")
    .addOption(
      new Option("--for <command>", "command that the key is for; for plan and drift, no write is tried")
        .choices(["plan", "drift", "apply"])
        .default("apply"),
    )
    .option(
      "--base-url <url>",
      "base URL of the service (default: the file's api.base_url, else ROLECALL_BASE_URL)",
    )
    .addOption(
      new Option(
        "--github",
        "check the set-up of the repository at GitHub instead, with gh or a token",
      ).conflicts(["for", "baseUrl", "keyEnv", "merchant", "verbose"]),
    )
    .option("--key-env <name>", "check the key in this environment variable, for every merchant")
    .option("-v, --verbose", "log each request on stderr")
    .addHelpText(
      "after",
      `
Examples:
  rolecall doctor                       every merchant below access/
  rolecall doctor access/shop.yaml      one file
  rolecall doctor --for plan            a read-only key
  rolecall doctor -m MC4F7K2P --key-env RETAIL_API_KEY
                                        a merchant that may have no file yet
  rolecall doctor --format json         for other programs
  rolecall doctor --github              the set-up at GitHub

Reads are tested by reading. Updates and deletes are tested on an id that cannot
exist, and creates with an empty body, so that the service must reject them: the
answer 404 to such an id or 400 to such a body means permitted, 403 means not
permitted, and anything else means unknown. If a service accepts one, that is
reported. Each step takes a few seconds at most. The key itself is never shown.

With --github, reads the repository of the remote origin, or of GH_REPO, with
GH_TOKEN, GITHUB_TOKEN or the login of gh. A setting that the token cannot see is
unknown: most need the permission to read the repository's administration.

Exits 0 if nothing failed (unknown is not a failure), otherwise 1.
`,
    )
    .action(async (paths: readonly string[], options: DoctorOptions) => {
      if (options.github) {
        const { diagnoseGithub } = await import("../../github/diagnose-github.ts");
        done(await diagnoseGithub(options, io));
        return;
      }
      const { diagnose } = await import("../../doctor/diagnose.ts");
      done(await diagnose(paths, { ...options, concurrency: CONCURRENCY }, io));
    });
  return withOutputOptions(withMerchantOption(command));
}
