import { ExitCode, type Io } from "../../app/io/io.ts";
import { readPlace, withRunRecords } from "../../app/records/record-place.ts";
import { signingKey } from "../../app/records/signing-key.ts";
import { oneLine } from "../../lib/escape.ts";
import { counted } from "../../lib/text.ts";
import { RolecallError } from "../../model/errors.ts";
import { type FetchedRuns, recordProblems, unlistedRecords } from "../../store/run-records.ts";

/** Checks the records of the remote repository against their signed list, and names what is wrong. */
export async function verifyRuns({ format }: { readonly format: string }, io: Io): Promise<ExitCode> {
  if (signingKey(io.env) === "") {
    throw new RolecallError("usage", "Records can be verified only with the key that signed them.", {
      hint: "Set ROLECALL_APPROVAL_SECRET to that key.",
    });
  }
  const place = await readPlace(io);
  const fetched = await withRunRecords(place, io, (records) => records.fetch());
  const problems = recordProblems(fetched);
  const list = listState(fetched);
  const unlisted = list === "signed" ? unlistedRecords(fetched).map(({ name }) => name) : [];
  const isSound = problems.length === 0 && list === "signed";
  const count = fetched.records.length;
  if (format === "json") {
    io.stdout.write(`${JSON.stringify({ records: count, list, problems, unlisted }, null, 2)}\n`);
  } else {
    const lines = [
      ...(list === "signed"
        ? []
        : [`The list of records is ${list}: nothing shows whether a record is missing.`]),
      ...problems.map(({ kind, name, reason }) => `${kind}  ${oneLine(name)}: ${reason}`),
      ...unlisted.map(
        (name) =>
          `not listed  ${oneLine(name)}: signed, but its run has not ended, or ended before it was listed`,
      ),
      `${counted(count, "record")} in ${oneLine(place.name)}: ${isSound ? "nothing is missing, altered or extra" : counted(problems.length + Number(list !== "signed"), "problem")}.`,
    ];
    io.stdout.write(`${lines.join("\n")}\n`);
  }
  return isSound ? ExitCode.ok : ExitCode.differences;
}

/** Returns the state of the signed list; it is missing only if there are records that it would name. */
function listState({ records, list }: FetchedRuns): "signed" | "altered" | "missing" {
  if (list === "invalid") return "altered";
  return list === null && records.some(({ trust }) => trust === "verified") ? "missing" : "signed";
}
