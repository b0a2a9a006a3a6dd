import type { Addressed } from "../model/desired.ts";
import { plainFile } from "./plain-file.ts";
import type { PlainPart } from "./plain-yaml.ts";
import { present } from "./present.ts";
import { fieldsOf, listOf } from "./values.ts";

/** What the beginning of a merchant's file tells while the rest of it is still being read. */
export interface FileHead extends Addressed {
  /** About how many members the whole file declares. */
  readonly members: number;
}

/** Reads the head of a file of so many UTF-16 units from a first part; null where it does not tell whose file it is. */
export function fileHead(file: string, { value, length }: PlainPart, whole: number): FileHead | null {
  const { merchant, environment, api, members } = fieldsOf(value);
  const head = plainFile(present({ version: 1, merchant, environment, api }));
  if (head?.merchant === undefined) return null;
  return present({
    merchant: head.merchant,
    environment: head.environment,
    baseUrl: head.api?.base_url,
    keyEnv: head.api?.key_env,
    members: Math.round((listOf(members).length * whole) / length),
    origin: { file, path: [] },
  });
}
