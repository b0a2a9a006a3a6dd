import type { Addressed } from "../model/desired.ts";
import { present } from "./present.ts";
import { checkSchema } from "./schema/schema-problems.ts";
import { fieldsOf, listOf } from "./values.ts";
import { firstPiece } from "./yaml/fast-yaml.ts";
import { endsWithMembers } from "./yaml/yaml-chunks.ts";

/** What the beginning of a merchant's file tells while the rest of it is still being read. */
export interface FileHead extends Addressed {
  /** About how many members the whole file declares. */
  readonly members: number;
}

/**
 * Reads the head of a file from the first part of its text; null where that does not certainly tell whose file it is and
 * how its service is reached. What may still come must not mean another address or key than the one that is asked with.
 */
export function fileHead(file: string, text: string): FileHead | null {
  const first = firstPiece(text);
  if (first === null) return null;
  const { length } = first.text;
  if (length < text.length && !endsWithMembers(text)) return null;
  const { merchant, environment, api, members } = fieldsOf(first.value);
  const { file: head } = checkSchema(present({ version: 1, merchant, environment, api }));
  if (head?.merchant === undefined) return null;
  return present({
    merchant: head.merchant,
    environment: head.environment,
    baseUrl: head.api?.base_url,
    keyEnv: head.api?.key_env,
    members: Math.round((listOf(members).length * text.length) / length),
    origin: { file, path: [] },
  });
}
