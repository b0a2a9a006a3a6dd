import { Box } from "ink";
import type { ReactNode } from "react";
import stringWidth from "string-width";
import { grouped } from "../../lib/text.ts";
import type { Tone } from "../style.ts";
import {
  boardCount,
  boardFacts,
  boardTitle,
  bodyRows,
  clock,
  fraction,
  jobCount,
  jobText,
  jobTime,
  lastEnded,
} from "../view/board-text.ts";
import { type Job, type ProgressView, spanText } from "../view/progress.ts";
import type { Wait } from "../view/request-metrics.ts";
import { type Size, shown } from "./second-screen.ts";
import { type Piece, Words } from "./theme.tsx";

/** A wider board is hard to read: its ends are too far from each other. */
const WIDEST = 120;

/** Below these widths, rows have no bar, and the numbers of the head are shorter. */
const [BARS_FROM, LONG_FROM] = [70, 50];

/** Maximum number of pending lines of text that are shown below the board, if there is space. */
const MOST_KEPT = 4;

/**
 * The progress of reading, applying or verifying: numbers, jobs in progress, those that ended last, failures and waits.
 */
export function Board({
  view,
  size: { columns, rows },
  kept = [],
}: {
  readonly view: ProgressView;
  readonly size: Size;
  /** Lines that are written to the terminal when the board closes. */
  readonly kept?: readonly string[];
}): ReactNode {
  // One cell is left free, since terminals may disagree about the width of a character.
  const width = Math.min(columns - 1, WIDEST);
  const { jobs, metrics, merchants, phase } = view;
  const isRoomy = rows >= 16;
  const gap = isRoomy ? 1 : 0;
  const waits = metrics.waits.slice(0, isRoomy ? 2 : 1);
  const failed = lastEnded(jobs, "failed").slice(waits.length - (isRoomy ? 3 : 1) || jobs.length);
  const foot = waits.length + failed.length;
  const hasRows = merchants.length > 1 || phase === "applying";
  const head = hasRows ? 3 : 2;
  const room = Math.max(rows - 1 - head - foot - (foot === 0 ? gap : 2 * gap), 0);
  const body = hasRows ? bodyRows(jobs, room) : { jobs: [], more: "" };
  const used = head + foot + body.jobs.length + (body.more === "" ? 0 : 1) + 2 * gap;
  const columnsOfRows = rowColumns(view, width);
  const row = (job: Job): ReactNode => (
    <JobRow key={`${job.name} ${job.endedAt}`} job={job} view={view} columns={columnsOfRows} />
  );
  return (
    <Box flexDirection="column" width={width} height={rows - 1} overflow="hidden">
      <Title view={view} isLong={width >= LONG_FROM} />
      <Totals view={view} width={width} />
      {hasRows && <Tallies view={view} width={width} />}
      <Box flexDirection="column" flexShrink={0} marginTop={gap}>
        {body.jobs.map(row)}
        {body.more !== "" && <Words pieces={[["  "], [body.more, "dim"]]} />}
      </Box>
      <Box flexDirection="column" flexShrink={0} marginTop={foot === 0 || body.jobs.length === 0 ? 0 : gap}>
        {failed.map(row)}
        {waits.map((wait) => (
          <WaitLine key={wait.reason} wait={wait} view={view} />
        ))}
      </Box>
      <Box flexDirection="column" flexGrow={1} justifyContent="flex-end">
        {kept.slice(-Math.min(MOST_KEPT, rows - 1 - used) || kept.length).map((text, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place on the screen.
          <Words key={index} pieces={[[text, "dim"]]} />
        ))}
      </Box>
    </Box>
  );
}

/** The completed part on the left, and the times on the right, which never move. */
function Title({ view, isLong }: { readonly view: ProgressView; readonly isLong: boolean }): ReactNode {
  const { elapsedMs, leftMs, metrics } = view;
  const pause = metrics.waits.find(({ isShared }) => isShared);
  const left = pause ? `waits ${spanText(pause.ms)}` : leftMs === null ? "" : `~${clock(leftMs)} left`;
  const passed = clock(elapsedMs);
  const time = left === "" ? passed : isLong ? `${left} · ${passed}` : left;
  return (
    <Box justifyContent="space-between" columnGap={2} height={1} flexShrink={0}>
      <Words pieces={[[boardTitle(view), "bold"]]} />
      <Box flexShrink={0}>
        <Words pieces={[[time, "dim"]]} />
      </Box>
    </Box>
  );
}

/** The bar, its numbers, and the facts that fit beside it, the most important ones first. */
function Totals({ view, width }: { readonly view: ProgressView; readonly width: number }): ReactNode {
  const [count, unit] = boardCount(view);
  const cells = width >= 100 ? 36 : width >= BARS_FROM ? 26 : width >= LONG_FROM ? 20 : 14;
  return (
    <Box columnGap={1} height={1} flexShrink={0}>
      <Bar cells={cells} share={view.share} />
      <Box flexShrink={0} marginRight={2}>
        <Words pieces={[[width >= LONG_FROM ? `${count} ${unit}` : count, "bold"]]} />
      </Box>
      <Fitting parts={boardFacts(view).map((fact, index) => [[index === 0 ? fact : `· ${fact}`]])} />
    </Box>
  );
}

/** Shows as many parts as fit on the line. */
function Fitting({ parts }: { readonly parts: readonly (readonly Piece[])[] }): ReactNode {
  return (
    <Box flexWrap="wrap" columnGap={1} height={1} overflow="hidden" flexGrow={1} flexBasis={0}>
      {parts.map((pieces) => (
        <Box key={pieces.join()} flexShrink={0}>
          <Words pieces={pieces} />
        </Box>
      ))}
    </Box>
  );
}

/** A share from 0 to 1, legible without colours, too. */
function Bar({ cells, share }: { readonly cells: number; readonly share: number }): ReactNode {
  const full = Math.min(Math.floor(share * cells), cells);
  return (
    <Box width={cells} flexShrink={0}>
      <Words
        pieces={[
          ["█".repeat(full), "green"],
          ["░".repeat(cells - full), "dim"],
        ]}
      />
    </Box>
  );
}

/** The number of jobs in each state; on a narrow terminal without words. */
function Tallies({ view, width }: { readonly view: ProgressView; readonly width: number }): ReactNode {
  const { counts, jobs, phase, isStopping } = view;
  const onWire = jobs.filter(({ isOnWire }) => isOnWire).length;
  const word = { reading: "read", applying: "done", verifying: "verified" }[phase];
  const rare: readonly (readonly [number, string, string, Tone])[] = [
    [counts.unknown, "?", "of unknown outcome", "red"],
    [counts.incomplete, "!", "refused for now", "yellow"],
    [counts.stopped, "■", "stopped", "yellow"],
  ];
  const tallies: typeof rare = [
    [counts.done, "✓", word, "green"],
    [onWire, "▶", "under way", "cyan"],
    [counts.active - onWire, "◦", "started", "yellow"],
    [counts.queued, "·", isStopping ? "left" : "queued", "dim"],
    [counts.failed, "✗", "failed", "red"],
    ...rare.filter(([count]) => count > 0),
  ];
  const digits = Math.max(...tallies.map(([count]) => grouped(count).length));
  const fits = (some: typeof rare): boolean =>
    some.reduce((sum, [, , text]) => sum + digits + text.length + 6, -3) <= width;
  const most = tallies.filter(([count, , text]) => count > 0 || text !== "started");
  const isLong = fits(most);
  return (
    <Box columnGap={3} height={1} flexShrink={0}>
      {(fits(tallies) || !isLong ? tallies : most).map(([count, mark, text, tone]) => (
        <Words
          key={mark}
          pieces={[
            [
              `${mark} ${grouped(count).padStart(digits)}${isLong ? ` ${text}` : ""}`,
              // A zero does not need a colour.
              count === 0 ? "dim" : tone,
            ],
          ]}
        />
      ))}
    </Box>
  );
}

/** The columns of rows, which are the same for all rows and do not move. */
interface RowColumns {
  /** 0 without a column for names. */
  readonly name: number;
  readonly count: number;
  readonly hasBar: boolean;
  readonly hasTime: boolean;
}

const WIDEST_NAME = 24;

function rowColumns({ phase, merchants, jobs }: ProgressView, width: number): RowColumns {
  const isOfChanges = phase === "applying" && merchants.length === 1;
  const widest = jobs.reduce((most, { name }) => Math.max(most, stringWidth(shown(name))), 0);
  const least = phase === "applying" ? 0 : "999/999".length;
  return {
    name: isOfChanges ? 0 : Math.min(widest, WIDEST_NAME, Math.floor(width / 3)),
    count: isOfChanges
      ? 0
      : jobs.reduce((most, { total }) => Math.max(most, fraction(total ?? 0, total ?? 0).length), least),
    hasBar: !isOfChanges && width >= BARS_FROM,
    hasTime: width >= LONG_FROM,
  };
}

const TIME_WIDTH = 11;

/** A job: its name, how much of it is done, its current step or why it failed, and how long it has taken or waits. */
function JobRow({
  job,
  view,
  columns,
}: {
  readonly job: Job;
  readonly view: ProgressView;
  readonly columns: RowColumns;
}): ReactNode {
  const [mark, tone] = lookOf(job);
  const isFailed = job.state === "failed";
  return (
    <Box columnGap={1} height={1} flexShrink={0}>
      <Words pieces={[[mark, tone]]} />
      {columns.name > 0 && (
        <Box width={columns.name} flexShrink={0} marginRight={1}>
          <Words pieces={[[job.name]]} />
        </Box>
      )}
      {columns.hasBar && !isFailed && (
        <Bar cells={10} share={job.done / Math.max(job.total ?? job.done, 1)} />
      )}
      {columns.count > 0 && !isFailed && (
        <Box width={columns.count} flexShrink={0} justifyContent="flex-end" marginRight={1}>
          <Words pieces={[[jobCount(job)]]} />
        </Box>
      )}
      <Box flexGrow={1} flexBasis={0} height={1}>
        <Words pieces={[[jobText(job, view), ...(isFailed ? (["red"] as const) : [])]]} />
      </Box>
      {columns.hasTime && !isFailed && (
        <Box width={TIME_WIDTH} flexShrink={0} justifyContent="flex-end">
          <Words pieces={[[jobTime(job, view), "dim"]]} />
        </Box>
      )}
    </Box>
  );
}

function lookOf({ state, isOnWire, waits }: Job): readonly [mark: string, tone: Tone] {
  switch (state) {
    case "queued":
      return ["·", "dim"];
    case "active":
      return isOnWire ? ["▶", "cyan"] : ["◦", waits === null ? "dim" : "yellow"];
    case "done":
      return ["✓", "green"];
    case "incomplete":
      return ["!", "yellow"];
    case "failed":
      return ["✗", "red"];
    case "unknown":
      return ["?", "red"];
    case "stopped":
      return ["■", "dim"];
    default:
      return state satisfies never;
  }
}

/** Why requests wait, and who: the address that is refused, or all merchants that wait. */
function WaitLine({ wait, view }: { readonly wait: Wait; readonly view: ProgressView }): ReactNode {
  const { reason, ms, merchants, addresses, isShared } = wait;
  const { queued, active } = view.counts;
  const count =
    isShared && view.merchants.length > 1 ? Math.max(queued + active, merchants.length) : merchants.length;
  const [address] = addresses;
  const more = addresses.length > 1 ? ` and ${grouped(addresses.length - 1)} more` : "";
  const who =
    address === undefined ? (count > 1 ? ` · ${grouped(count)} merchants` : "") : ` · ${address}${more}`;
  return (
    <Box height={1} flexShrink={0}>
      <Box flexShrink={0}>
        <Words pieces={[[`waiting ${spanText(ms)}`, "yellow"], [": "]]} />
      </Box>
      <Words pieces={[[reason]]} />
      <Box flexShrink={address === undefined ? 1000 : 0}>
        <Words pieces={[[who]]} />
      </Box>
    </Box>
  );
}
