import { InvalidArgumentError } from "commander";

/** One of several parts that a fleet of merchants is divided into; `index` counts from 1. */
export interface Shard {
  readonly index: number;
  readonly count: number;
}

/** Parses `2/5`. */
export function parseShard(text: string): Shard {
  const [, index, count] = /^(\d+)\/(\d+)$/.exec(text) ?? [];
  const shard = { index: Number(index), count: Number(count) };
  if (!(shard.index >= 1 && shard.index <= shard.count)) {
    throw new InvalidArgumentError("It takes a part of a whole, such as 2/5.");
  }
  return shard;
}
