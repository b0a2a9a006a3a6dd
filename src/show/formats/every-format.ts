import { csvFormat } from "./csv-format.ts";
import type { Documents, Format, FormatRow, Paper } from "./format.ts";
import { githubFormat } from "./github-format.ts";
import { gitlabFormat } from "./gitlab-format.ts";
import { htmlFormat } from "./html-format.ts";
import { jsonFormat } from "./json-format.ts";
import { junitFormat } from "./junit-format.ts";
import { markdownFormat } from "./markdown-format.ts";
import { sarifFormat } from "./sarif-format.ts";
import { textFormat } from "./text-format.ts";

/** The formats, in the order that help lists them; options, help, docs, completion and printing loop over them. */
const FORMATS: readonly Format[] = [
  textFormat,
  jsonFormat,
  markdownFormat,
  csvFormat,
  htmlFormat,
  githubFormat,
  gitlabFormat,
  sarifFormat,
  junitFormat,
];

/** Returns the names of the formats that print a kind of document. */
export function formatsOf(kind: keyof Documents): readonly string[] {
  return FORMATS.filter(({ prints }) => prints[kind] !== undefined).map(({ name }) => name);
}

/** Returns whether a format cannot contain the caveats of an answer. */
export function isTablesOnly(format: string): boolean {
  return FORMATS.some(({ name, tablesOnly }) => name === format && tablesOnly);
}

/** Returns all formats with their uses, for documentation. */
export function formatTable(): readonly FormatRow[] {
  return FORMATS.map(({ name, use }) => ({ name, use }));
}

/** Prints a document; throws RangeError for a format that does not print its kind. */
export async function printAs<Kind extends keyof Documents>(
  kind: Kind,
  format: string,
  document: Documents[Kind],
  paper: Paper,
): Promise<string> {
  const print = FORMATS.find(({ name }) => name === format)?.prints[kind];
  if (print === undefined) throw new RangeError(`The format ${format} does not print ${kind}.`);
  return print(document, paper);
}
