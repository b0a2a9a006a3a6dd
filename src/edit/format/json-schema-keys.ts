import type { Path } from "../../kernel/problems/problem.ts";
import { fieldsOf, listOf, unique } from "../../kernel/values/values.ts";

/** Returns the keys that a JSON Schema knows at a path; of several forms, those of all. */
export function jsonSchemaKeys(path: Path, schema: unknown): readonly string[] {
  let forms = formsOf(schema);
  for (const segment of path) {
    forms = forms.flatMap((form) => formsOf(innerAt(fieldsOf(form), segment)));
  }
  return unique(forms.flatMap((form) => Object.keys(fieldsOf(fieldsOf(form)["properties"]))));
}

function innerAt(schema: Readonly<Record<string, unknown>>, segment: string | number): unknown {
  return typeof segment === "number" ? schema["items"] : fieldsOf(schema["properties"])[segment];
}

function formsOf(schema: unknown): readonly unknown[] {
  const forms = fieldsOf(schema)["anyOf"];
  return forms === undefined ? [schema] : listOf(forms).flatMap(formsOf);
}
