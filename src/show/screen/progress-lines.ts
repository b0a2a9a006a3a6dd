import { counted, grouped } from "../../lib/text.ts";
import type { Change } from "../../model/plan.ts";
import type { Style } from "../style.ts";
import {
  type ApplyingMerchant,
  type ApplyView,
  applySums,
  type ChangeInFlight,
  toVerify,
} from "../view/apply-progress.ts";
import {
  membersRead,
  merchantsIn,
  type ReadingMerchant,
  type ReadingView,
  type RequestMetrics,
  readShare,
  type Wait,
} from "../view/reading-progress.ts";
import { rateNumber } from "../view/wait-text.ts";
import {
  type BoardContent,
  boardLines,
  briefTime,
  type Row,
  requestFacts,
  type Tally,
} from "./board-lines.ts";
import { type Size, shown, widthOf } from "./terminal-text.ts";

/** Returns the board of reading: how much is read, the merchants on the wire, the last ones read, and waits. */
export function readingLines(view: ReadingView, size: Size, style: Style): readonly string[] {
  const { merchants, metrics } = view;
  const count = merchants.length;
  const [read, failed] = [merchantsIn(view, "read"), merchantsIn(view, "failed")];
  const [only] = merchants;
  const isOne = count === 1;
  const row = (merchant: ReadingMerchant): Row => readingRow(merchant, view, style);
  const begun = merchants.filter(({ state }) => state === "reading");
  const busy = placed(begun, metrics, row);
  const members = membersRead(view);
  const membersText =
    isOne && only ? `${grouped(members)}${only.total === null ? "" : `/${grouped(only.total)}`}` : "";
  return boardLines(
    {
      ...view,
      titles: [`Reading ${isOne && only ? shown(only.merchant) : counted(count, "merchant")}`],
      share: readShare(merchants),
      counts: isOne
        ? [`${membersText} members`, membersText]
        : [`${fraction(read + failed, count)} merchants`, fraction(read + failed, count)],
      facts: [
        isOne ? "" : counted(members, "member"),
        ...requestFacts(metrics, `${rateNumber(metrics.perSecond)} requests/s`),
      ],
      tallies: isOne ? [] : tallies({ ...beginnings(busy), done: read, word: "read", count, failed }, style),
      ...(isOne ? NO_ROWS : busy),
      ended: isOne ? [] : lastEnded(merchants.filter(({ state }) => state === "read")).map(row),
      failed: lastEnded(merchants.filter(({ state }) => state === "failed")).map(row),
      waits: metrics.waits,
      unfinished: count - read - failed,
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
        share,
        count,
        text,
        ...lookAt(merchant, metrics, common.time, style),
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
  const { merchants, metrics, stopping, perSecond, inFlight, lastDone } = view;
  const { changes, done, failed, unknown } = applySums(view);
  const ended = done + failed + unknown;
  const isOne = merchants.length === 1;
  const of = (...states: readonly ApplyingMerchant["state"][]): readonly ApplyingMerchant[] =>
    merchants.filter(({ state }) => states.includes(state));
  const totalText = counted(changes, "change");
  const where = isOne ? shown(merchants[0]?.merchant ?? "") : counted(merchants.length, "merchant");
  const flying = counted(inFlight.length, "change");
  const begun = of("applying").filter(({ endedAt }) => endedAt === null);
  const row = (merchant: ApplyingMerchant): Row => applyingRow(merchant, view, style);
  const busy = isOne ? placedChanges(view, style) : placed(begun, metrics, row);
  const common = {
    ...beginnings(busy),
    count: isOne ? changes : merchants.length,
    stopping,
  };
  const latest = isOne
    ? lastDone.map((done) => ({
        ...changeRow(done.change, "✓", style.green),
        time: briefTime(done.tookMs),
      }))
    : lastEnded(of("done", "incomplete")).map(row);
  return boardLines(
    {
      ...view,
      ...busy,
      ended: latest,
      titles: stopping
        ? [`Stopping: nothing new starts, ${flying} in flight`, `Stopping, ${flying} in flight`]
        : [`Applying ${totalText} · ${where}`, `Applying ${totalText}`],
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
      unfinished: merchants.filter(({ endedAt }) => endedAt === null).length,
      nameWidth: isOne ? 0 : nameWidth(merchants),
      countWidth: isOne
        ? 0
        : Math.max(...merchants.map((merchant) => fraction(merchant.changes, merchant.changes).length)),
    },
    size,
    style,
  );
}

function applyingRow(applying: ApplyingMerchant, view: ApplyView, style: Style): Row {
  const { merchant, state, changes, done, failed, unknown, problem, startedAt, endedAt } = applying;
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
        text: current ? nameOf(current.change) : metrics.onWire.has(merchant) ? "rechecks" : "next",
        ...lookAt(merchant, metrics, current ? briefTime(now - current.since) : "", style),
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
  const begun = read.filter(({ verifiedAt, readAgain }) => verifiedAt === null && readAgain !== null);
  const row = ({ merchant, readAgain, verifiedAt }: ApplyingMerchant): Row => {
    const { members = 0, total = null } = readAgain ?? {};
    const end = { mark: "✓", paint: style.green, time: "" };
    const look = verifiedAt === null ? lookAt(merchant, metrics, "", style) : end;
    const share = verifiedAt !== null ? 1 : total === null ? 0 : members / Math.max(total, 1);
    const count = total === null ? grouped(members) : fraction(members, total);
    const text = verifiedAt === null ? "members" : "verified";
    return { ...look, name: merchant, share, count, text };
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
      ...placed(begun, metrics, row),
      ended: [...verified].sort((a, b) => (a.verifiedAt ?? 0) - (b.verifiedAt ?? 0)).map(row),
      failed: [],
      waits: metrics.waits,
      unfinished: read.length - verified.length,
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
  readonly started: number;
  readonly count: number;
  readonly failed: number;
  readonly unknown?: number;
  readonly stopped?: number;
  readonly incomplete?: number;
  /** True once queued changes do not start any more. */
  readonly stopping?: boolean;
}

function tallies(counts: TallyCounts, style: Style): readonly Tally[] {
  const { done, word, underWay, started, count, failed, stopping } = counts;
  const { unknown = 0, stopped = 0, incomplete = 0 } = counts;
  const queued = Math.max(count - done - underWay - started - failed - unknown - stopped - incomplete, 0);
  const rare: readonly Tally[] = [
    { mark: "?", count: unknown, word: "of unknown outcome", paint: style.red },
    { mark: "!", count: incomplete, word: "refused for now", paint: style.yellow },
    { mark: "■", count: stopped, word: "stopped", paint: style.yellow },
  ];
  return [
    { mark: "✓", count: done, word, paint: style.green },
    { mark: "▶", count: underWay, word: "under way", paint: style.cyan },
    { mark: "◦", count: started, word: "started", paint: style.yellow, isOptional: true },
    { mark: "·", count: queued, word: stopping ? "left" : "queued", paint: style.dim },
    { mark: "✗", count: failed, word: "failed", paint: style.red },
    ...rare.filter((tally) => tally.count > 0),
  ];
}

/** The rows of what has begun, by what holds it up. */
type Busy = Pick<BoardContent, "onWire" | "waiting" | "next">;

const NO_ROWS: Busy = { onWire: [], waiting: [], next: [] };

/** Divides merchants that have begun into those on the wire, those that wait, and those whose turn comes next. */
function placed<Merchant extends { readonly merchant: string }>(
  begun: readonly Merchant[],
  metrics: RequestMetrics,
  row: (one: Merchant) => Row,
): Busy {
  const isOnWire = ({ merchant }: Merchant): boolean => metrics.onWire.has(merchant);
  const held = begun.filter((merchant) => !isOnWire(merchant));
  const waits = ({ merchant }: Merchant): boolean => waitOf(merchant, metrics) !== undefined;
  return {
    onWire: begun.filter(isOnWire).map(row),
    waiting: held.filter(waits).map(row),
    next: held.filter((merchant) => !waits(merchant)).map(row),
  };
}

/** Divides the changes of one merchant in the same way: as many as it has requests are on the wire, the oldest ones. */
function placedChanges({ inFlight, metrics, now }: ApplyView, style: Style): Busy {
  const refused = ({ change }: ChangeInFlight): Wait | undefined =>
    metrics.waits.find(({ addresses }) => addresses.includes(change.name));
  const sendable = inFlight.filter((change) => refused(change) === undefined);
  const onWire = new Set(sendable.slice(0, metrics.onWire.get(inFlight[0]?.merchant ?? "") ?? 0));
  const held = inFlight.filter((change) => !onWire.has(change));
  const rowOf = (change: ChangeInFlight): Row => {
    const wait = refused(change) ?? metrics.waits.find((some) => isFor(change.merchant, some));
    if (onWire.has(change))
      return { ...changeRow(change.change, "▶", style.cyan), time: briefTime(now - change.since) };
    if (wait === undefined) return changeRow(change.change, "◦", style.dim);
    return { ...changeRow(change.change, "◦", style.yellow), time: `waits ${briefTime(wait.ms)}` };
  };
  const isWaiting = ({ time }: Row): boolean => time !== "";
  const rows = held.map(rowOf);
  return {
    onWire: [...onWire].map(rowOf),
    waiting: rows.filter(isWaiting),
    next: rows.filter((row) => !isWaiting(row)),
  };
}

function beginnings({ onWire, waiting, next }: Busy): Pick<TallyCounts, "underWay" | "started"> {
  return { underWay: onWire.length, started: waiting.length + next.length };
}

/** Returns how a merchant that has begun looks: on the wire, waiting for so long, or waiting for its turn. */
function lookAt(
  merchant: string,
  metrics: RequestMetrics,
  time: string,
  style: Style,
): Pick<Row, "mark" | "paint" | "time"> {
  if (metrics.onWire.has(merchant)) return { mark: "▶", paint: style.cyan, time };
  const wait = waitOf(merchant, metrics);
  return wait === undefined
    ? { mark: "◦", paint: style.dim, time: "" }
    : { mark: "◦", paint: style.yellow, time: `waits ${briefTime(wait.ms)}` };
}

function waitOf(merchant: string, { waits }: RequestMetrics): Wait | undefined {
  return waits.find(({ isShared, merchants }) => isShared || merchants.includes(merchant));
}

/** Returns whether a wait holds back any request of a merchant. */
function isFor(merchant: string, { isShared, merchants, addresses }: Wait): boolean {
  return isShared || (addresses.length === 0 && merchants.includes(merchant));
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
  return [...ended].sort((first, other) => (first.endedAt ?? 0) - (other.endedAt ?? 0));
}

function nameWidth(merchants: readonly { readonly merchant: string }[]): number {
  return Math.max(...merchants.map(({ merchant }) => widthOf(shown(merchant))), 0);
}

/** "31/60", with a place for every digit to come. */
function fraction(part: number, of: number): string {
  return `${grouped(part).padStart(grouped(of).length)}/${grouped(of)}`;
}
