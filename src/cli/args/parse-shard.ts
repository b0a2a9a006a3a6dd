import { InvalidArgumentError } from "commander";
import { readShard, type Shard } from "./shard.ts";

/** Parses `--shard`: `2/5`. */
export function parseShard(text: string): Shard {
  const shard = readShard(text);
  if (shard === null) throw new InvalidArgumentError("It takes a part of a whole, such as 2/5.");
  return shard;
}
