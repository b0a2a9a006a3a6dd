import * as z from "zod/mini";
import { merchantSchema } from "../schema/merchant-schema.ts";
import { projectSchema } from "../schema/project-schema.ts";
import { planFileSchema } from "./plan-file.ts";

/** The kinds of files that have a JSON Schema. */
export type SchemaKind = "merchant" | "project" | "plan";

const SCHEMAS = {
  merchant: { schema: merchantSchema, io: "input", name: "merchant" },
  project: { schema: projectSchema, io: "input", name: "rolecall" },
  plan: { schema: planFileSchema, io: "output", name: "plan" },
} as const;

/** Returns the JSON Schema of a kind of file, in the draft that YAML editors support best. */
export function jsonSchema(kind: SchemaKind): object {
  const { schema, io, name } = SCHEMAS[kind];
  const { $schema, ...rest } = z.toJSONSchema(schema, { target: "draft-7", io });
  return { $schema, $id: `https://rolecall.invalid/schemas/${name}.schema.json`, ...rest };
}

/** Returns the merchant file's JSON Schema. */
export function merchantJsonSchema(): object {
  return jsonSchema("merchant");
}

/** Returns the JSON Schema of a project's file. */
export function projectJsonSchema(): object {
  return jsonSchema("project");
}
