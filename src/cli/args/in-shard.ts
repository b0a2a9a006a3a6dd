import { createHash } from "node:crypto";
import type { Shard } from "./shard.ts";

/** Whether a merchant belongs to a shard: by a hash of its code, so that others that come and go do not move it. */
export function isInShard(merchant: string, { index, count }: Shard): boolean {
  const hash = createHash("sha256").update(merchant).digest().readUInt32BE(0);
  return (hash % count) + 1 === index;
}
