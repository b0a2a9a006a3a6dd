import { createHash } from "node:crypto";
import type { Inputs } from "./inputs.ts";

/** What one use of the action is about: the same in the workflows that plan, apply and look for drift. */
export interface Scope {
  /** Short and safe anywhere. */
  readonly id: string;
  /** For people; empty for everything. */
  readonly title: string;
}

/** The scope of these inputs. */
export function scopeOf({ paths, merchants, shard }: Inputs): Scope {
  const part = shard === null ? "" : `${shard.index}/${shard.count}`;
  const what = JSON.stringify([[...paths].sort(), [...merchants].sort(), part]);
  const named = [
    ...(paths.join() === "access" ? [] : paths),
    ...(merchants.length > 3 ? [`${merchants.length} merchants`] : merchants),
    ...(part === "" ? [] : [`part ${part}`]),
  ];
  return { id: createHash("sha256").update(what).digest("hex").slice(0, 12), title: named.join(", ") };
}

/** The hidden line by which the action finds what it wrote before. */
export function markerOf(kind: "plan" | "drift", { id }: Scope): string {
  return `<!-- rolecall:${kind}:${id} -->`;
}
