import { toCsv } from "../../lib/escape.ts";
import type { AnswerDocument, Format } from "./format.ts";

/** A sheet. */
export const csvFormat: Format = {
  name: "csv",
  use: "spreadsheets",
  tablesOnly: true,
  prints: {
    answer: csv,
    evidence: csv,
  },
};

function csv({ table }: AnswerDocument): string {
  const { columns, rows } = table();
  return toCsv(columns, rows);
}
