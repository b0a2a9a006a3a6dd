import * as z from "zod/mini";
import { planFileSchema } from "./saved/plan-file.ts";
import { merchantSchema } from "./schema/merchant-schema.ts";

/** The kinds of files that have a JSON Schema. */
export type SchemaKind = "merchant" | "plan";

const SCHEMAS = {
  merchant: { schema: merchantSchema, io: "input" },
  plan: { schema: planFileSchema, io: "output" },
} as const;

/** Returns the JSON Schema of a kind of file, in the draft that YAML editors support best. */
export function jsonSchema(kind: SchemaKind): object {
  const { schema, io } = SCHEMAS[kind];
  const { $schema, ...rest } = z.toJSONSchema(schema, { target: "draft-7", io });
  return { $schema, $id: `https://rolecall.invalid/schemas/${kind}.schema.json`, ...rest };
}

/** Returns the merchant file's JSON Schema. */
export function merchantJsonSchema(): object {
  return jsonSchema("merchant");
}
