import type { ExitCode, Io } from "../../app/io/io.ts";
import { placeFinder } from "../../app/show/find-places.ts";
import { writeAnswer } from "../../app/show/write-document.ts";
import { endsOfAccess } from "../../ask/access/expiring-access.ts";
import { counted } from "../../lib/text.ts";
import { expiringJson, type LocatedEnd } from "../../show/questions/answer-formats.ts";
import { expiringCaveats, expiringDocument, expiringTable } from "../../show/questions/expiring.ts";
import { readSnapshots, type SnapshotOptions } from "./read-snapshots.ts";

/** The options of `expiring`. */
export type ExpiringCommandOptions = SnapshotOptions & {
  /** In ms. */
  readonly within: number;
};

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;

/** Lists the grants, memberships and, of what is live, invitations that end soon. */
export async function listExpiring(
  paths: readonly string[],
  options: ExpiringCommandOptions,
  io: Io,
): Promise<ExitCode> {
  const { source, snapshots, ignored, sources, failures } = await readSnapshots(paths, options, io);
  const now = io.now();
  const last = endOfPeriod(now, options.within);
  const places = placeFinder(sources);
  const ends = endsOfAccess(snapshots, { now, last, timeOf: Date.parse }).map(
    ({ origins, ...end }): LocatedEnd => {
      // Access until a day includes that day.
      const lastMoment = end.what === "leaver" ? end.ends : end.ends - 1;
      return {
        ...end,
        ends: new Date(end.ends).toISOString(),
        day: new Date(lastMoment).toISOString().slice(0, 10),
        daysLeft: Math.floor(lastMoment / DAY_MS) - Math.floor(now / DAY_MS),
        places: origins.flatMap((origin) => places.entry(origin) ?? []),
      };
    },
  );
  const live = source === "live";
  const expired = snapshots.flatMap(({ members }) => members.filter(({ status }) => status === "expired"));
  const caveats = expiringCaveats(ignored, live, expired.length);
  const within = periodText(options.within);
  const answer = {
    json: () => expiringJson(ends, source, ignored, failures),
    table: () => expiringTable(ends),
    caveats,
    report: (isVerbose: boolean) => expiringDocument(ends, { within, live, caveats }, isVerbose),
  };
  return writeAnswer(answer, failures, options, io);
}

/** Returns the end of a period; one of whole days includes all of its last day. */
function endOfPeriod(now: number, within: number): number {
  const last = now + within;
  return within % DAY_MS === 0 ? (Math.floor(last / DAY_MS) + 1) * DAY_MS : last;
}

function periodText(ms: number): string {
  return ms % DAY_MS === 0 ? counted(ms / DAY_MS, "day") : counted(ms / HOUR_MS, "hour");
}
