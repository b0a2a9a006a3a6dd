/** One of several parts that a fleet of merchants is divided into; `index` counts from 1. */
export interface Shard {
  readonly index: number;
  readonly count: number;
}

/** Reads `2/5`; null where it is no part of a whole. */
export function readShard(text: string): Shard | null {
  const [, index, count] = /^(\d+)\/(\d+)$/.exec(text) ?? [];
  const shard = { index: Number(index), count: Number(count) };
  return shard.index >= 1 && shard.index <= shard.count ? shard : null;
}
