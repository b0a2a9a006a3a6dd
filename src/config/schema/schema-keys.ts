import { z } from "zod";
import type { Path } from "../diagnostics/problem.ts";
import { merchantSchema } from "./merchant-schema.ts";

/** The keys that the schema knows at a path; of several forms, those of all. */
export function keysAt(path: Path): readonly string[] {
  let schemas: readonly unknown[] = forms(merchantSchema);
  for (const segment of path) {
    schemas = schemas.flatMap((schema) => forms(inner(schema, segment)));
  }
  const keys = schemas.flatMap((schema) => (schema instanceof z.ZodObject ? Object.keys(schema.shape) : []));
  return [...new Set(keys)];
}

function inner(schema: unknown, segment: string | number): unknown {
  if (schema instanceof z.ZodObject) {
    return Object.hasOwn(schema.shape, segment) ? schema.shape[segment] : undefined;
  }
  return schema instanceof z.ZodArray ? schema.element : undefined;
}

/** What stands behind "may be left out" and "one of". */
function forms(schema: unknown): readonly unknown[] {
  if (schema instanceof z.ZodOptional) {
    return forms(schema.unwrap());
  }
  return schema instanceof z.ZodUnion ? schema.options.flatMap(forms) : [schema];
}
