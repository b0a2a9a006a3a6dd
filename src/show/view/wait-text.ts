import { grouped } from "../../lib/text.ts";

/** Returns a rate with one decimal below ten: "5.9", "42". */
export function rateNumber(perSecond: number): string {
  return perSecond < 9.95 ? perSecond.toFixed(1).replace(/\.0$/, "") : grouped(Math.round(perSecond));
}

export const ADDRESS = / of (\S+@\S+)/;

/** Returns the reason for a wait without the invited address, since many invitations wait for the same reason. */
export function kindOfWait(reason: string): string {
  return reason.replace(ADDRESS, "");
}
