import type { Addressed } from "../../model/desired.ts";

/** The merchants of one job, all of one environment. */
export interface JobPart {
  /** Name of the job. */
  readonly name: string;
  /** Merchant codes, separated by spaces. */
  readonly merchants: string;
  /** Empty if the files do not name it. */
  readonly environment: string;
  /** The merchants' files, separated by spaces. */
  readonly files: string;
}

/** The value of a workflow's `strategy.matrix`. */
export interface JobMatrix {
  readonly include: readonly JobPart[];
}

/** GitHub's limit of jobs in one matrix. */
export const MAX_JOBS = 256;

/** Divides merchants into at most `jobs` parts, each of one environment; one merchant each if there are few. */
export function jobMatrix(states: readonly Addressed[], jobs: number): JobMatrix {
  const kinds = [...new Set(states.map(environmentOf))].sort();
  const groups = kinds.map((kind) => states.filter((state) => environmentOf(state) === kind));
  const partsOf = (size: number): number =>
    groups.reduce((sum, { length }) => sum + Math.ceil(length / size), 0);
  let size = 1;
  while (size < states.length && partsOf(size) > jobs) size += 1;
  return { include: groups.flatMap((group) => chunks(group, size).map(partOf)) };
}

function environmentOf({ environment }: Addressed): string {
  return environment ?? "";
}

function chunks<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}

function partOf(states: readonly Addressed[]): JobPart {
  const [first, ...more] = states.map(({ merchant }) => merchant);
  return {
    name: more.length === 0 ? String(first) : `${first} and ${more.length} more`,
    merchants: states.map(({ merchant }) => merchant).join(" "),
    environment: states[0]?.environment ?? "",
    files: states.map(({ origin }) => origin.file).join(" "),
  };
}
