import { planJsonSchema } from "../../config/saved/plan-file.ts";
import { merchantJsonSchema } from "../../config/schema/json-schema.ts";
import { ExitCode } from "../exit-code.ts";
import type { Io } from "../io/io.ts";

/** The kinds of files that have a JSON Schema. */
export type SchemaKind = "merchant" | "plan";

const SCHEMAS: Readonly<Record<SchemaKind, () => object>> = {
  merchant: merchantJsonSchema,
  plan: planJsonSchema,
};

/** Prints a JSON Schema. */
export function printSchema(kind: SchemaKind, io: Io): ExitCode {
  io.stdout.write(`${JSON.stringify(SCHEMAS[kind](), null, 2)}\n`);
  return ExitCode.ok;
}
