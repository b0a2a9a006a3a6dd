import { counted, grouped } from "../../lib/text.ts";
import type { Change } from "../../model/plan.ts";
import type { Style } from "../style.ts";
import { type ApplyingMerchant, type ApplyView, applySums, toVerify } from "../view/apply-progress.ts";
import {
  membersRead,
  merchantsIn,
  type ReadingMerchant,
  type ReadingView,
  type RequestMetrics,
  rateNumber,
  readShare,
} from "../view/reading-progress.ts";
import { boardLines, briefTime, type Row, requestFacts, type Tally } from "./board-lines.ts";
import { type Size, shown, widthOf } from "./terminal-text.ts";

/** Returns the board of reading: how much is read, the merchants on the wire, the last ones read, and waits. */
export function readingLines(view: ReadingView, size: Size, style: Style): readonly string[] {
  const { merchants, count, metrics } = view;
  const [read, failed] = [merchantsIn(view, "read"), merchantsIn(view, "failed")];
  const [one] = merchants;
  const isOne = count === 1;
  const row = (merchant: ReadingMerchant): Row => readingRow(merchant, view, style);
  const running = merchants.filter(({ state }) => state === "reading");
  const underWay = running.filter(({ merchant }) => metrics.onWire.has(merchant)).length;
  const members = membersRead(view);
  const known =
    isOne && one ? `${grouped(members)}${one.total === null ? "" : `/${grouped(one.total)}`}` : "";
  return boardLines(
    {
      ...view,
      titles: [`Reading ${isOne && one ? shown(one.merchant) : counted(count, "merchant")}`],
      share: readShare(merchants, count),
      counts: isOne
        ? [`${known} members`, known]
        : [`${fraction(read + failed, count)} merchants`, fraction(read + failed, count)],
      facts: [
        isOne ? "" : counted(members, "member"),
        ...requestFacts(metrics, `${rateNumber(metrics.perSecond)} requests/s`),
      ],
      tallies: isOne ? [] : tallies({ done: read, word: "read", underWay, count, failed }, style),
      running: isOne ? [] : running.map(row),
      ended: isOne ? [] : lastEnded(merchants.filter(({ state }) => state === "read")).map(row),
      failed: lastEnded(merchants.filter(({ state }) => state === "failed")).map(row),
      waits: metrics.waits,
      nameWidth: nameWidth(merchants),
      countWidth: Math.max(
        ...merchants.map(({ total, members: some }) => fraction(total ?? some, total ?? some).length),
        7,
      ),
    },
    size,
    style,
  );
}

function readingRow(
  { merchant, state, members, total, problem, startedAt, endedAt }: ReadingMerchant,
  { metrics, now }: ReadingView,
  style: Style,
): Row {
  const common = { name: merchant, time: startedAt === null ? "" : briefTime((endedAt ?? now) - startedAt) };
  switch (state) {
    case "read":
      return {
        ...common,
        mark: "✓",
        paint: style.green,
        share: 1,
        count: grouped(members),
        text: "members read",
      };
    case "failed":
      return { ...common, mark: "✗", paint: style.red, share: null, count: "", text: reasonOf(problem) };
    case "waiting":
    case "reading": {
      const share = total === null ? 0 : members / Math.max(total, 1);
      const count = total === null ? "" : fraction(members, total);
      const text = total === null ? "asking" : members < total ? "members" : "members, now roles";
      return {
        ...common,
        ...wireMark(merchant, metrics, style),
        share,
        count,
        text,
        ...waitTime(merchant, metrics),
      };
    }
    default:
      return state satisfies never;
  }
}

/** Returns the board of an apply: how much is done, what is on the wire, what was done last, failures, and waits. */
export function applyLines(view: ApplyView, size: Size, style: Style): readonly string[] {
  return view.verifying ? verifyingLines(view, size, style) : changingLines(view, size, style);
}

function changingLines(view: ApplyView, size: Size, style: Style): readonly string[] {
  const { merchants, metrics, stopping, perSecond, inFlight, lastDone, now } = view;
  const { changes, done, failed, unknown } = applySums(view);
  const ended = done + failed + unknown;
  const isOne = merchants.length === 1;
  const of = (...states: readonly ApplyingMerchant["state"][]): readonly ApplyingMerchant[] =>
    merchants.filter(({ state }) => states.includes(state));
  const all = counted(changes, "change");
  const where = isOne ? shown(merchants[0]?.merchant ?? "") : counted(merchants.length, "merchant");
  const flying = counted(inFlight.length, "change");
  const started = of("applying").filter(({ endedAt }) => endedAt === null);
  const onWire = started.filter(({ merchant }) => metrics.onWire.has(merchant));
  const common = {
    underWay: isOne ? inFlight.length : onWire.length,
    count: isOne ? changes : merchants.length,
    stopping,
  };
  const row = (one: ApplyingMerchant): Row => applyingRow(one, view, style);
  const rows = isOne
    ? {
        running: inFlight.map((one): Row => {
          const look = waitTime(one.merchant, metrics);
          return { ...changeRow(one.change, "▶", style.cyan), time: briefTime(now - one.since), ...look };
        }),
        ended: lastDone.map(
          (one): Row => ({
            ...changeRow(one.change, "✓", style.green),
            time: briefTime(one.tookMs),
          }),
        ),
      }
    : { running: started.map(row), ended: lastEnded(of("done", "incomplete")).map(row) };
  return boardLines(
    {
      ...view,
      ...rows,
      titles: stopping
        ? [`Stopping: nothing new starts, ${flying} in flight`, `Stopping, ${flying} in flight`]
        : [`Applying ${all} · ${where}`, `Applying ${all}`],
      share: ended / Math.max(changes, 1),
      counts: [`${fraction(ended, changes)} changes`, fraction(ended, changes)],
      facts: requestFacts(metrics, `${rateNumber(perSecond)}/s`),
      tallies: isOne
        ? tallies({ ...common, done, word: "done", failed, unknown }, style)
        : tallies(
            {
              ...common,
              done: of("done").length,
              word: "done",
              failed: of("failed").length,
              stopped: of("stopped").length,
              incomplete: of("incomplete").length,
            },
            style,
          ),
      failed: isOne ? [] : lastEnded(of("failed")).map(row),
      waits: metrics.waits,
      nameWidth: isOne ? 0 : nameWidth(merchants),
      countWidth: isOne ? 0 : Math.max(...merchants.map((one) => fraction(one.changes, one.changes).length)),
    },
    size,
    style,
  );
}

function applyingRow(one: ApplyingMerchant, view: ApplyView, style: Style): Row {
  const { merchant, state, changes, done, failed, unknown, problem, startedAt, endedAt } = one;
  const { inFlight, metrics, now } = view;
  const ended = done + failed + unknown;
  const common = {
    name: merchant,
    share: ended / Math.max(changes, 1),
    count: fraction(ended, changes),
    time: startedAt === null ? "" : briefTime((endedAt ?? now) - startedAt),
  };
  switch (state) {
    case "done":
      return { ...common, mark: "✓", paint: style.green, text: "done" };
    case "incomplete":
      return { ...common, mark: "!", paint: style.yellow, text: problem };
    case "failed":
      return { ...common, mark: "✗", paint: style.red, text: reasonOf(problem), share: null, count: "" };
    case "stopped":
      return { ...common, mark: "■", paint: style.dim, text: "stopped" };
    case "waiting":
    case "applying": {
      const current = inFlight.find((change) => change.merchant === merchant);
      return {
        ...common,
        ...wireMark(merchant, metrics, style),
        text: current ? nameOf(current.change) : metrics.onWire.has(merchant) ? "rechecks" : "next",
        time: current ? briefTime(now - current.since) : "",
        ...waitTime(merchant, metrics),
      };
    }
    default:
      return state satisfies never;
  }
}

function verifyingLines(view: ApplyView, size: Size, style: Style): readonly string[] {
  const { merchants, metrics } = view;
  const read = toVerify(merchants);
  const verified = read.filter(({ verifiedAt }) => verifiedAt !== null);
  const { done, failed, unknown } = applySums(view);
  const running = read.filter(({ verifiedAt, readAgain }) => verifiedAt === null && readAgain !== null);
  const row = ({ merchant, readAgain, verifiedAt }: ApplyingMerchant): Row => {
    const { members = 0, total = null } = readAgain ?? {};
    const look = verifiedAt === null ? wireMark(merchant, metrics, style) : { mark: "✓", paint: style.green };
    const share = verifiedAt !== null ? 1 : total === null ? 0 : members / Math.max(total, 1);
    const count = total === null ? grouped(members) : fraction(members, total);
    const text = verifiedAt === null ? "members" : "verified";
    return { ...look, name: merchant, share, count, text, time: "", ...waitTime(merchant, metrics) };
  };
  const problems = [
    failed > 0 ? `${grouped(failed)} failed` : "",
    unknown > 0 ? `${grouped(unknown)} unknown` : "",
  ];
  return boardLines(
    {
      ...view,
      titles: [`Verifying ${counted(read.length, "merchant")}`],
      share: verified.length / Math.max(read.length, 1),
      counts: [`${fraction(verified.length, read.length)} merchants`, fraction(verified.length, read.length)],
      facts: [
        `${counted(done, "change")} done`,
        ...problems,
        ...requestFacts(metrics, `${rateNumber(metrics.perSecond)} requests/s`),
      ],
      tallies: [],
      running: running.map(row),
      ended: [...verified].sort((a, b) => (a.verifiedAt ?? 0) - (b.verifiedAt ?? 0)).map(row),
      failed: [],
      waits: metrics.waits,
      nameWidth: nameWidth(merchants),
      countWidth: 9,
    },
    size,
    style,
  );
}

/** The numbers that tallies are made of; those that are absent are not shown. */
interface TallyCounts {
  readonly done: number;
  readonly word: string;
  readonly underWay: number;
  readonly count: number;
  readonly failed: number;
  readonly unknown?: number;
  readonly stopped?: number;
  readonly incomplete?: number;
  /** What is queued does not start any more. */
  readonly stopping?: boolean;
}

function tallies(counts: TallyCounts, style: Style): readonly Tally[] {
  const { done, word, underWay, count, failed, unknown = 0, stopped = 0, incomplete = 0, stopping } = counts;
  const queued = Math.max(count - done - underWay - failed - unknown - stopped - incomplete, 0);
  const rare: readonly Tally[] = [
    { mark: "?", count: unknown, word: "of unknown outcome", paint: style.red },
    { mark: "!", count: incomplete, word: "refused for now", paint: style.yellow },
    { mark: "■", count: stopped, word: "stopped", paint: style.yellow },
  ];
  return [
    { mark: "✓", count: done, word, paint: style.green },
    { mark: "▶", count: underWay, word: "under way", paint: style.cyan },
    { mark: "·", count: queued, word: stopping ? "left" : "queued", paint: style.dim },
    { mark: "✗", count: failed, word: "failed", paint: style.red },
    ...rare.filter((tally) => tally.count > 0),
  ];
}

/** Returns the mark of a merchant that has begun: on the wire, or waiting for its turn. */
function wireMark(merchant: string, { onWire }: RequestMetrics, style: Style): Pick<Row, "mark" | "paint"> {
  return onWire.has(merchant) ? { mark: "▶", paint: style.cyan } : { mark: "·", paint: style.dim };
}

/** Returns how long a merchant waits, in place of how long it has taken; empty if it does not wait. */
function waitTime(merchant: string, { waits, onWire }: RequestMetrics): Partial<Row> {
  const wait = onWire.has(merchant) ? undefined : waits.find(({ merchants }) => merchants.includes(merchant));
  return wait === undefined ? {} : { time: `waits ${briefTime(wait.ms)}` };
}

/** Returns a problem without the request that it is about, which is longer than a row. */
function reasonOf(problem: string): string {
  return problem.replace(/^[A-Z]+ \/\S+ returned /, "");
}

const SIGNS = { create: "+", update: "~", replace: "±", delete: "−" } as const;

function nameOf({ kind, resource, name }: Change): string {
  return `${SIGNS[kind]} ${resource === "role" ? "role " : ""}${name}`;
}

function changeRow(change: Change, mark: string, paint: Row["paint"]): Row {
  return { mark, paint, name: "", share: null, count: "", text: nameOf(change), time: "" };
}

/** Sorts by the time of the end. */
function lastEnded<Ended extends { readonly endedAt: number | null }>(
  ended: readonly Ended[],
): readonly Ended[] {
  return [...ended].sort((one, other) => (one.endedAt ?? 0) - (other.endedAt ?? 0));
}

function nameWidth(merchants: readonly { readonly merchant: string }[]): number {
  return Math.max(...merchants.map(({ merchant }) => widthOf(shown(merchant))), 0);
}

/** "31/60", with a place for every digit to come. */
function fraction(part: number, of: number): string {
  return `${grouped(part).padStart(grouped(of).length)}/${grouped(of)}`;
}
