import { createHash } from "node:crypto";

/** One of several parts that a fleet of merchants is divided into; `index` counts from 1. */
export interface Shard {
  readonly index: number;
  readonly count: number;
}

/** Returns the merchants in a shard; all of them without one. */
export function inShard<Merchant extends { readonly merchant: string }>(
  merchants: readonly Merchant[],
  shard: Shard | null | undefined,
): readonly Merchant[] {
  return shard ? merchants.filter(({ merchant }) => isInShard(merchant, shard)) : merchants;
}

/** Returns the warning that the other shards have all merchants; empty if it is not so. */
export function emptyShard(
  merchants: readonly { readonly merchant: string }[],
  shard: Shard | undefined,
): string {
  if (!shard || merchants.length === 0 || inShard(merchants, shard).length > 0) return "";
  return `warning: no merchant is in shard ${shard.index}/${shard.count}; the other shards have all of them.\n`;
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
