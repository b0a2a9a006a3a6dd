import { resolve } from "node:path";
import type { ExitCode, Io } from "../../app/io/io.ts";
import { shownPath, withoutLinks } from "../../app/project/find-files.ts";
import { parseFrom, parsePeriod, parseUntil, untilMistake } from "../../kernel/values/dates.ts";
import { EMAIL } from "../../kernel/values/text-schemas.ts";
import { oneLine, withoutUnsafe } from "../../lib/escape.ts";
import { RolecallError } from "../../model/errors.ts";
import { writeConfirmed } from "../adopt/pull-merchants.ts";
import type { AccessRequest } from "./access-request.ts";
import { type AccessCommandOptions, prepareChange } from "./prepare-change.ts";
import { proposeChange } from "./propose-change.ts";

/** Writes a change to somebody's access to the right file, or proposes it, after showing the effect. */
export async function changeAccess(
  kind: AccessRequest["kind"],
  email: string,
  roles: readonly string[],
  options: AccessCommandOptions,
  io: Io,
): Promise<ExitCode> {
  const request = readRequest(kind, email, roles, options, io);
  if (options.pr) return proposeChange(request, options, io);
  const change = await prepareChange(request, options, io);
  return "code" in change ? change.code : writeConfirmed(change.patches, options, io);
}

const MAX_REASON = 200;

/** Checks the words of the command line; throws RolecallError. */
function readRequest(
  kind: AccessRequest["kind"],
  email: string,
  roles: readonly string[],
  options: AccessCommandOptions,
  { cwd, now: clock }: Pick<Io, "cwd" | "now">,
): AccessRequest {
  const now = clock();
  if (!EMAIL.test(email)) {
    throw new RolecallError("usage", `"${oneLine(email)}" is not an e-mail address.`, {
      hint: `For example: rolecall ${kind} karim@example.com Cashier -m MC4F7K2P`,
    });
  }
  const reason = withoutUnsafe(options.reason ?? "");
  if (reason.length > MAX_REASON) {
    throw new RolecallError("usage", `The reason has more than ${MAX_REASON} characters.`, {
      hint: "It becomes a comment on one line: shorten it, or refer to a ticket.",
    });
  }
  const until = options.until === undefined ? undefined : parseEnd(options.until, now);
  const from = options.from === undefined ? undefined : parseFrom(options.from);
  if (from === null) throw badDate("--from", options.from ?? "");
  if (until !== undefined && until.ends <= (from?.starts ?? now)) {
    const what = from === undefined ? "is past" : `is not after ${from.text}`;
    throw new RolecallError("usage", `The end ${until.text} ${what}, so the grant would have no effect.`);
  }
  return {
    kind,
    email,
    roles,
    ...(from !== undefined && { from }),
    ...(until !== undefined && { until }),
    ...(reason !== "" && { reason }),
    ...(options.file !== undefined && { file: shownPath(withoutLinks(resolve(cwd, options.file)), cwd) }),
  };
}

/** Parses an end: a date, a timestamp, or a period from now such as `+7d`. */
function parseEnd(text: string, now: number): NonNullable<AccessRequest["until"]> {
  const period = text.startsWith("+") ? parsePeriod(text.slice(1)) : null;
  const end = period === null ? null : new Date(now + period.ms);
  const isReadable = end !== null && !Number.isNaN(end.getTime());
  const written = isReadable ? end.toISOString().replace(text.endsWith("h") ? /\.\d+/ : /T.*/, "") : text;
  const until = parseUntil(written);
  if (until === null) throw badDate("--until", text);
  return until;
}

function badDate(option: string, text: string): RolecallError {
  const relative = option === "--until" ? ", or a period such as +7d" : "";
  const hints = {
    day: "There is no such day.",
    zone: "A timestamp needs a time zone, such as Z or +01:00.",
    form: `Use a date such as 2027-01-31, a timestamp such as 2027-01-31T18:00:00+01:00${relative}.`,
  };
  return new RolecallError("usage", `${option} ${oneLine(text)} is not a date.`, {
    hint: hints[untilMistake(text)],
  });
}
