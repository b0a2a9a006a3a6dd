import * as z from "zod/mini";
import type { Path } from "../problems/problem.ts";

/** Returns the keys that a schema knows at a path; of several forms, those of all. */
export function keysAt(path: Path, schema: unknown): readonly string[] {
  let schemas: readonly unknown[] = formsOf(schema);
  for (const segment of path) {
    schemas = schemas.flatMap((outer) => formsOf(innerAt(outer, segment)));
  }
  const keys = schemas.flatMap((inner) =>
    inner instanceof z.ZodMiniObject ? Object.keys(inner._zod.def.shape) : [],
  );
  return [...new Set(keys)];
}

function innerAt(schema: unknown, segment: string | number): unknown {
  if (schema instanceof z.ZodMiniObject) {
    const { shape } = schema._zod.def;
    return Object.hasOwn(shape, segment) ? shape[segment] : undefined;
  }
  if (schema instanceof z.ZodMiniRecord) return schema._zod.def.valueType;
  return schema instanceof z.ZodMiniArray ? schema._zod.def.element : undefined;
}

/** Unwraps optional and union schemas. */
function formsOf(schema: unknown): readonly unknown[] {
  if (schema instanceof z.ZodMiniOptional) {
    return formsOf(schema._zod.def.innerType);
  }
  return schema instanceof z.ZodMiniUnion ? schema._zod.def.options.flatMap(formsOf) : [schema];
}
