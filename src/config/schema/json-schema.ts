import * as z from "zod/mini";
import { merchantSchema } from "./merchant-schema.ts";

/** The merchant file's JSON Schema, in the draft that YAML editors know best. */
export function merchantJsonSchema(): object {
  const { $schema, ...schema } = z.toJSONSchema(merchantSchema, { target: "draft-7", io: "input" });
  return { $schema, $id: "https://rolecall.invalid/schemas/merchant.schema.json", ...schema };
}
