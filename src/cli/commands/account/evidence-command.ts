import { Command } from "commander";
import type { ExitCode, Io } from "../../../app/io/io.ts";
import { withMerchantOption, withOutputFileOption, withOutputOptions } from "../../args/options.ts";
import { parseAsOf, parseAt } from "../../args/service-options.ts";
import type { EvidenceCommandOptions } from "../../evidence/show-evidence.ts";

/** Declares `evidence`. */
export function evidenceCommand(io: Io, done: (code: ExitCode) => void): Command {
  const command = new Command("evidence")
    .summary("show who approved each change of access in a period, and the gaps")
    .description(
      "Shows each change of access in a period with the run that made it, its commit and pull request, who approved it, and which checks passed; and the gaps: changes outside git, pushes and applies without a review, overrides, access that ended late, and runs without a record. Reads the records in git; changes nothing.",
    )
    .requiredOption("--from <time>", "the first day of the period, or its first moment", parseAsOf)
    .option("--to <time>", "the last day of the period, or its last moment (default: now)", parseAt)
    .option("--offline", "do not ask GitHub about pull requests, approvals and checks")
    .addHelpText(
      "after",
      `
Examples:
  rolecall evidence --from 2026-10-01 --to 2026-12-31
                                        the gaps of a quarter
  rolecall evidence --from 2026-10-01 --to 2026-12-31 --format html -o q4.html
                                        everything, as a page to print
  rolecall evidence --from 2026-10-01 --format csv -o facts.csv
                                        everything, one fact in each row

Changes and runs come from the records of runs (--records) and from the recorded
live states (live_branch), which are fetched; commits and end dates from the
history of the current branch. GitHub is asked with GH_TOKEN, GITHUB_TOKEN or
the login of gh, for the repository of the remote origin; without a token, the
output says "not asked". With the key in ROLECALL_APPROVAL_SECRET, the records
are verified, and missing ones are found. See docs/records.md.

Exits 0 if it is shown, with or without gaps; or 1 if the records cannot be read.
`,
    )
    .action(async (options: EvidenceCommandOptions) => {
      const { showEvidence } = await import("../../evidence/show-evidence.ts");
      done(await showEvidence(options, io));
    });
  return withOutputFileOption(withOutputOptions(withMerchantOption(command), "evidence"));
}
