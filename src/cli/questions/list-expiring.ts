import { ExitCode, type Io } from "../../app/io/io.ts";
import { outputTo } from "../../app/io/output.ts";
import { styleFor } from "../../app/io/terminal.ts";
import { placeFinder } from "../../app/show/find-places.ts";
import { endsOfAccess } from "../../ask/access/expiring-access.ts";
import { counted } from "../../lib/text.ts";
import { expiringJson, type LocatedEnd } from "../../show/questions/answer-formats.ts";
import { renderExpiring } from "../../show/questions/expiring-text.ts";
import { readSnapshots, type SnapshotOptions } from "./read-snapshots.ts";

/** The options of `expiring`. */
export type ExpiringCommandOptions = SnapshotOptions & {
  readonly format: "text" | "json";
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
      // Access until a day ends with that day.
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
  const { sink, end } = outputTo(options.output, io);
  sink.write(
    options.format === "json"
      ? expiringJson(ends, source, ignored, failures)
      : renderExpiring(
          ends,
          { within: periodText(options.within), live: source === "live", ignored },
          styleFor(sink, io, options.color),
          options.verbose === true,
        ),
  );
  await end();
  return failures.length > 0 ? ExitCode.failed : ExitCode.ok;
}

/** Returns the end of a period; one of whole days includes all of its last day. */
function endOfPeriod(now: number, within: number): number {
  const last = now + within;
  return within % DAY_MS === 0 ? (Math.floor(last / DAY_MS) + 1) * DAY_MS : last;
}

function periodText(ms: number): string {
  return ms % DAY_MS === 0 ? counted(ms / DAY_MS, "day") : counted(ms / HOUR_MS, "hour");
}
