import type { Usage } from "./measured-process.ts";
import type { Series, Verdict } from "./verdict.ts";

const MIB = 1024 * 1024;

/** What the watching program has done so far. */
export interface Counts {
  readonly rounds: number;
  readonly planned: number;
  readonly applied: number;
  readonly failed: number;
  readonly bugs: readonly string[];
}

/** What was measured after a round. */
export interface Sample {
  readonly seconds: number;
  readonly round: number;
  /** Of the API, so far. */
  readonly requests: number;
  readonly faulted: number;
  /** Of an undisturbed plan, as a whole process. */
  readonly planMs: number;
  readonly usage: { readonly sandbox: Usage; readonly watcher: Usage };
  readonly counts: Counts;
}

const FIGURES = ["rss", "heap", "external", "fds", "sockets", "timers", "cpuMs"] as const;
export const PROCESSES = ["sandbox", "watcher"] as const;

/** The columns of the CSV file. */
export const COLUMNS = [
  ...["seconds", "round", "requests", "faulted", "plan_ms"],
  ...["watcher_rounds", "watcher_planned", "watcher_applied", "watcher_failed"],
  ...PROCESSES.flatMap((name) => FIGURES.map((figure) => `${name}_${figure}`)),
];

/** Returns the row of a sample in the CSV file. */
export function rowOf({
  seconds,
  round,
  requests,
  faulted,
  planMs,
  counts,
  usage,
}: Sample): readonly (number | string)[] {
  return [
    ...[seconds, round, requests, faulted, planMs],
    ...[counts.rounds, counts.planned, counts.applied, counts.failed],
    ...PROCESSES.flatMap((name) => FIGURES.map((figure) => usage[name][figure] ?? "")),
  ];
}

/** Returns a sample in words. */
export function lineOf({ seconds, requests, faulted, usage, counts }: Sample): string {
  const of = ({ rss, heap, fds, sockets, timers }: Usage): string =>
    `${mib(heap)} heap, ${mib(rss)} RSS, ${fds ?? "?"} fds, ${sockets} sockets, ${timers} timers`;
  return (
    `${seconds} s, ${requests} requests, ${faulted} with a fault; sandbox ${of(usage.sandbox)}; ` +
    `watcher ${of(usage.watcher)}, ${counts.rounds} rounds, ${counts.failed} failed`
  );
}

function mib(bytes: number): string {
  return `${(bytes / MIB).toFixed(1)} MiB`;
}

/** Returns what has to stay as it is, and by how much noise may move it. */
export function seriesOf(samples: readonly Sample[]): readonly Series[] {
  return PROCESSES.flatMap((name): readonly Series[] => {
    const of = (figure: (typeof FIGURES)[number]) => samples.map(({ usage }) => usage[name][figure]);
    return [
      { name: `${name} heap`, values: of("heap"), slack: MIB, share: 0.05 },
      { name: `${name} external`, values: of("external"), slack: MIB, share: 0.05 },
      { name: `${name} rss`, values: of("rss"), slack: 8 * MIB, share: 0.1 },
      { name: `${name} fds`, values: of("fds"), slack: 1, share: 0.05 },
      { name: `${name} sockets`, values: of("sockets"), slack: 1, share: 0.05 },
      { name: `${name} timers`, values: of("timers"), slack: 1, share: 0.05 },
    ];
  });
}

/** Returns the lines that sum up a soak. */
export function summaryOf(
  samples: readonly Sample[],
  endings: readonly string[],
  verdicts: readonly Verdict[],
): readonly string[] {
  const last = samples.at(-1);
  return [
    ...(last ? [`after ${last.round + 1} rounds: ${lineOf(last)}`] : []),
    `exit codes: ${[...new Set(endings)]
      .sort()
      .map((ending) => `${ending}: ${endings.filter((one) => one === ending).length}`)
      .join(", ")}`,
    ...verdicts.map(({ name, first, last: now, growth, bound, flat }) => {
      const text = /heap|rss|external/.test(name) ? mib : (value: number) => value.toFixed(1);
      return `${name}: ${text(first)} → ${text(now)}, trend ${text(growth)} of at most ${text(bound)}${flat ? "" : " NOT FLAT"}`;
    }),
  ];
}
