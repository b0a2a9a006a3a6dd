import { AGENCY_YEAR } from "./agency-year.ts";
import type { ChainName } from "./chains.ts";
import { FRANCHISE_YEAR } from "./franchise-year.ts";
import { RETAIL_YEAR } from "./retail-year.ts";
import type { YearChange } from "./year.ts";

/** The changes of a year, by the name of the organisation. */
export const YEARS: Readonly<Record<ChainName, readonly YearChange[]>> = {
  retail: RETAIL_YEAR,
  franchise: FRANCHISE_YEAR,
  agency: AGENCY_YEAR,
};
