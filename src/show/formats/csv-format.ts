import { toCsv } from "../../lib/escape.ts";
import type { Format } from "./format.ts";

/** A sheet. */
export const csvFormat: Format = {
  name: "csv",
  use: "spreadsheets",
  tablesOnly: true,
  prints: {
    answer: ({ table }) => {
      const { columns, rows } = table();
      return toCsv(columns, rows);
    },
  },
};
