import type { Addressed } from "../model/desired.ts";
import { plainFile } from "./plain-file.ts";
import { type PlainPart, readPlain } from "./plain-yaml.ts";
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

/** How much of the members an early look takes in, in UTF-16 units. */
const GLANCE = 16_000;

/**
 * Reads the head from the first part of a text of about so many UTF-16 units in all; null where that part does not reach
 * into the members: cut off anywhere else, it could mean something else than the whole.
 */
export function glanceAt(file: string, part: string, whole: number): FileHead | null {
  const { value } = readPlain(part, GLANCE).next();
  return value && "length" in value && value.length < part.length ? fileHead(file, value, whole) : null;
}
