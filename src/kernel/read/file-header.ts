import type { Addressed } from "../../model/desired.ts";
import { addressSchema } from "../schema/address-schema.ts";
import { fieldsOf, listOf, omitUndefined } from "../values/values.ts";

/** The merchant and connection of a file, read from its first chunk. */
export interface FileHeader extends Addressed {
  /** The estimated number of members in the whole file. */
  readonly members: number;
}

/** Returns the header of a parsed file, of which a part is parsed; `null` without a valid one. */
export function headerOf(file: string, value: unknown, parts = 1): FileHeader | null {
  const { merchant, environment, api, members } = fieldsOf(value);
  const { data: head } = addressSchema.safeParse(omitUndefined({ merchant, environment, api }));
  if (head?.merchant === undefined) return null;
  return omitUndefined({
    merchant: head.merchant,
    environment: head.environment,
    baseUrl: head.api?.base_url,
    keyEnv: head.api?.key_env,
    members: Math.round(listOf(members).length * parts),
    origin: { file, path: [] },
  });
}
