import type { JsonValue } from "../../model/json.ts";
import { printNode } from "../format/print-document.ts";
import { type EditedYaml, editYaml, type YamlEdit, type YamlEditOptions } from "./edit-yaml.ts";
import { commentText, newNode } from "./new-node.ts";
import { targetFor } from "./target.ts";

/** The content of a new file. */
export interface NewFile {
  /** The path or address of the schema, which editors read in the first line. */
  readonly schema?: string;
  /** The sections but the lists: `version`, `merchant`, `sync` and so on. */
  readonly settings: { readonly [key: string]: JsonValue };
  /** The sections that are lists, which `edits` fill. */
  readonly lists: readonly ("roles" | "members")[];
  readonly edits: readonly YamlEdit[];
}

/** Prints a new file as `fmt` would. */
export function newFile(
  { schema, settings, lists, edits }: NewFile,
  options: YamlEditOptions = {},
): EditedYaml {
  const head = schema === undefined ? "" : `# yaml-language-server: $schema=${commentText(schema)}\n`;
  const style = { comments: new Map(), isInline: () => undefined };
  const sections = newNode(targetFor(settings, undefined, []), { path: [], indent: -2, column: 0 }, style);
  const printed = printNode(sections, { text: "", indent: 0, column: 0 });
  return editYaml(`${head}${printed}\n${lists.map((key) => `\n${key}: []\n`).join("")}`, edits, options);
}
