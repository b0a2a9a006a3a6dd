import { type ParsedYaml, parseFast } from "./fast-yaml.ts";

/** Parses YAML; the full parser is loaded only for a text that needs it. */
export async function parseYaml(text: string): Promise<ParsedYaml> {
  return parseFast(text) ?? (await import("./to-value.ts")).parse(text);
}
