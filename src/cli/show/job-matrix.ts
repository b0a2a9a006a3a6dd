import type { DesiredState } from "../../model/desired.ts";

/** A part of a fleet that one job takes: as many merchants of one environment as the jobs allow. */
export interface JobPart {
  /** What to call the job. */
  readonly name: string;
  /** Merchant codes, with a space between them. */
  readonly merchants: string;
  /** Empty where the files do not say. */
  readonly environment: string;
  /** The merchants' files, with a space between them. */
  readonly files: string;
}

/** What a workflow's `strategy.matrix` takes. */
export interface JobMatrix {
  readonly include: readonly JobPart[];
}

/** GitHub starts no more jobs than this from one matrix. */
export const MAX_JOBS = 256;

/** Divides merchants into at most `jobs` parts, none of two environments: one each while there are few enough. */
export function jobMatrix(states: readonly DesiredState[], jobs: number): JobMatrix {
  const kinds = [...new Set(states.map(environmentOf))].sort();
  const groups = kinds.map((kind) => states.filter((state) => environmentOf(state) === kind));
  const partsOf = (size: number): number =>
    groups.reduce((sum, { length }) => sum + Math.ceil(length / size), 0);
  let size = 1;
  while (size < states.length && partsOf(size) > jobs) size += 1;
  return { include: groups.flatMap((group) => chunks(group, size).map(partOf)) };
}

function environmentOf({ environment }: DesiredState): string {
  return environment ?? "";
}

function chunks<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}

function partOf(states: readonly DesiredState[]): JobPart {
  const [first, ...more] = states.map(({ merchant }) => merchant);
  return {
    name: more.length === 0 ? String(first) : `${first} and ${more.length} more`,
    merchants: states.map(({ merchant }) => merchant).join(" "),
    environment: states[0]?.environment ?? "",
    files: states.map(({ origin }) => origin.file).join(" "),
  };
}
