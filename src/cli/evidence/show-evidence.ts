import { readEvidence } from "../../app/evidence/read-evidence.ts";
import { ExitCode, type Io, VERSION } from "../../app/io/io.ts";
import { runOrigin } from "../../app/journal/write-journal.ts";
import { announceIfSlow } from "../../app/progress/service-log.ts";
import type { DocumentOptions, OutputOptions, PastTime } from "../../app/project/command-options.ts";
import { writeCaveats, writeDocument } from "../../app/show/write-document.ts";
import { RolecallError } from "../../model/errors.ts";
import { evidenceDocument } from "../../show/evidence/evidence-document.ts";
import { evidenceCaveats, evidenceJson, evidenceTable } from "../../show/evidence/evidence-view.ts";
import { githubReviews } from "./github-reviews.ts";

/** The options of `evidence`. */
export type EvidenceCommandOptions = OutputOptions &
  DocumentOptions & {
    /** In ms since the epoch. */
    readonly from: number;
    /** Absent: now. */
    readonly to?: PastTime;
    readonly merchant: readonly string[];
    readonly offline?: true;
  };

/** Shows what changed access in a period, which run did it and who approved it, and what is missing in that. */
export async function showEvidence(options: EvidenceCommandOptions, io: Io): Promise<ExitCode> {
  const { from, merchant: merchants, offline = false } = options;
  const to = Math.min(options.to?.moment ?? io.now(), io.now());
  if (from > to) {
    throw new RolecallError("usage", "--from is after --to, or in the future.", {
      hint: "Specify a period that has begun, such as --from 2026-10-01 --to 2026-12-31.",
    });
  }
  const evidence = await announceIfSlow("Reading records and the history of the files …", io, () =>
    readEvidence({ from, to, merchants }, githubReviews(offline, io), io),
  );
  const document = {
    json: () => evidenceJson(evidence),
    table: () => evidenceTable(evidence),
    caveats: evidenceCaveats(evidence),
    report: () => evidenceDocument(evidence),
    page: async () => {
      const { renderEvidencePage } = await import("../../show/evidence/evidence-page.ts");
      return renderEvidencePage(evidence, { ...(await runOrigin(io)), version: VERSION, time: io.now() });
    },
  };
  writeCaveats(document, options, io);
  await writeDocument("evidence", document, options, io);
  return ExitCode.ok;
}
