import { planJsonSchema } from "../../config/saved/plan-file.ts";
import { merchantJsonSchema } from "../../config/schema/json-schema.ts";
import { ExitCode } from "../exit-code.ts";
import type { Io } from "../io/io.ts";

/** The kinds of files that have a JSON Schema. */
export type SchemaKind = "merchant" | "plan";

/** The JSON Schemas by kind, made of the schemas that the program parses with. */
const SCHEMAS: Readonly<Record<SchemaKind, () => object>> = {
  merchant: merchantJsonSchema,
  plan: planJsonSchema,
};

/** Prints a JSON Schema. */
export function printSchema(kind: SchemaKind, io: Io): ExitCode {
  const schema = SCHEMAS[kind]();
  io.stdout.write(`${JSON.stringify(schema, null, 2)}\n`);
  return ExitCode.ok;
}
