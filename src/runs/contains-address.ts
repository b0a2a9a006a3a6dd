/** Returns whether a journal contains an e-mail address, regardless of case, other than as a part of a longer one. */
export function containsAddress(journal: string, address: string): boolean {
  const literal = address.replaceAll(/[.*+?^${}()|[\]\\/]/g, "\\$&");
  const whole = new RegExp(`(?<![\\p{L}\\p{N}._%+'-])${literal}(?![\\p{L}\\p{N}-]|\\.[\\p{L}\\p{N}])`, "iu");
  // In JSON, the letter of an escape would seem to belong to the address.
  return whole.test(journal.replaceAll(/\\[bfnrt]/g, " "));
}
