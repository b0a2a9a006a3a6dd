import { type Report, runScenario } from "./run-scenario.ts";

/** How much chaos, and from which seed. */
export interface ChaosOptions {
  readonly runs: number;
  /** Of the first run; each further one has the next. */
  readonly seed: number;
  /** How many runs at once. */
  readonly lanes: number;
  readonly tell: (line: string) => void;
}

/** What came of it all. */
export interface ChaosSummary {
  readonly reports: readonly Report[];
  readonly broken: readonly Report[];
}

const TELL_EVERY = 100;

/** Runs many scenarios side by side, tells of those in which something did not hold, and sums up. */
export async function runChaos({ runs, seed, lanes, tell }: ChaosOptions): Promise<ChaosSummary> {
  tell(`chaos: ${runs} runs from seed ${seed}`);
  const reports: Report[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < runs) {
      const own = seed + next;
      next += 1;
      const report = await runScenario(own).catch(
        (error: unknown): Report => ({
          seed: own,
          broken: [`the run itself broke: ${textOf(error)}`],
          facts: NONE,
        }),
      );
      reports.push(report);
      for (const line of report.broken) tell(`seed ${own}: ${line}`);
      if (reports.length % TELL_EVERY === 0) tell(`${reports.length} of ${runs}`);
    }
  };
  await Promise.all(Array.from({ length: Math.min(lanes, runs) }, lane));
  const broken = reports.filter((report) => report.broken.length > 0);
  for (const line of summary(reports)) tell(line);
  tell(
    broken.length === 0
      ? "everything held"
      : `NOT everything held: ${broken.length} runs; repeat one with --runs 1 --seed ${broken[0]?.seed}`,
  );
  return { reports, broken };
}

const NONE: Report["facts"] = {
  cut: "none",
  racing: false,
  codes: [],
  requests: 0,
  writes: 0,
  faults: 0,
  outcomes: {},
  adopted: 0,
  recoveries: null,
};

function summary(reports: readonly Report[]): readonly string[] {
  const facts = reports.map((report) => report.facts);
  const sum = (of: (one: Report["facts"]) => number): string =>
    facts.reduce((total, one) => total + of(one), 0).toLocaleString("en-US");
  const tally = (values: readonly string[]): string =>
    [...new Set(values)]
      .sort()
      .map((value) => `${value} ${values.filter((one) => one === value).length}`)
      .join(", ");
  const statuses = [...new Set(facts.flatMap(({ outcomes }) => Object.keys(outcomes)))].sort();
  return [
    `cut short by: ${tally(facts.map(({ cut }) => cut))}; racing: ${facts.filter(({ racing }) => racing).length}`,
    `exit codes of the disturbed applies: ${tally(facts.flatMap(({ codes }) => codes.map((code) => `${code ?? "killed"}`)))}`,
    `requests ${sum((one) => one.requests)}, of which changed something ${sum((one) => one.writes)}, with a fault ${sum((one) => one.faults)}`,
    `journalled outcomes: ${statuses.map((status) => `${status} ${sum((one) => one.outcomes[status] ?? 0)}`).join(", ")}; adopted ${sum((one) => one.adopted)}`,
    `undisturbed applies until nothing was left: ${tally(facts.map(({ recoveries }) => `${recoveries ?? "refused by the plan"}`))}`,
  ];
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
