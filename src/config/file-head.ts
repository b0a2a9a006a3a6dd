import type { Addressed } from "../model/desired.ts";
import { plainFile } from "./plain-file.ts";
import type { PlainPart } from "./plain-yaml.ts";
import { present } from "./present.ts";
import { atOnce } from "./steps.ts";
import { fieldsOf, listOf } from "./values.ts";
import { endsWithMembers } from "./yaml-pieces.ts";

/** What the beginning of a merchant's file tells while the rest of it is still being read. */
export interface FileHead extends Addressed {
  /** About how many members the whole file declares. */
  readonly members: number;
}

/**
 * Reads the head of a file from the first part of its text; null where that does not certainly tell whose file it is and
 * how its service is reached. What may still come must not mean another address or key than the one that is asked with.
 */
export function fileHead(file: string, text: string, { value, length }: PlainPart): FileHead | null {
  if (length < text.length && !endsWithMembers(text)) return null;
  const { merchant, environment, api, members } = fieldsOf(value);
  const head = atOnce(plainFile(present({ version: 1, merchant, environment, api })));
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
