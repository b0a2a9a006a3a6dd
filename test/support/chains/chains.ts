import { agencyChain } from "./agency.ts";
import type { Chain } from "./chain.ts";
import { franchiseChain } from "./franchise.ts";
import { retailChain } from "./retail.ts";

/** The organisations of docs/chains.md by name, as of a time in ms since the epoch. */
export const CHAINS = {
  retail: retailChain,
  franchise: franchiseChain,
  agency: agencyChain,
} satisfies Readonly<Record<string, (now: number) => Chain>>;

/** The name of an organisation. */
export type ChainName = keyof typeof CHAINS;
