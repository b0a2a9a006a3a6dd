import { createHash } from "node:crypto";

/** One of several parts that a fleet of merchants is divided into; `index` counts from 1. */
export interface Shard {
  readonly index: number;
  readonly count: number;
}

/** Returns the warning that no merchant is in a shard. */
export function emptyShard({ index, count }: Shard): string {
  return `warning: no merchant is in shard ${index}/${count}; the other shards have all of them.\n`;
}

/** Parses `2/5`; `null` if it is not a shard. */
export function readShard(text: string): Shard | null {
  const [, index, count] = /^(\d+)\/(\d+)$/.exec(text) ?? [];
  const shard = { index: Number(index), count: Number(count) };
  return shard.index >= 1 && shard.index <= shard.count ? shard : null;
}

/** Returns whether a merchant is in a shard, by a hash of its code, so that other merchants do not move it. */
export function isInShard(merchant: string, { index, count }: Shard): boolean {
  const hash = createHash("sha256").update(merchant).digest().readUInt32BE(0);
  return (hash % count) + 1 === index;
}
