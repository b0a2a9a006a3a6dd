import { agencyChain } from "./agency.ts";
import type { Chain } from "./chain.ts";
import { franchiseChain } from "./franchise.ts";
import { retailChain } from "./retail.ts";

/** The name of an organisation. */
export type ChainName = "retail" | "franchise" | "agency";

/** The organisations of docs/chains.md, as of a time in ms since the epoch. */
export const CHAINS: Readonly<Record<ChainName, (now: number) => Chain>> = {
  retail: retailChain,
  franchise: franchiseChain,
  agency: agencyChain,
};
