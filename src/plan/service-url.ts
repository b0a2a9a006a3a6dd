/**
 * Returns the normal form of a service's base URL, in which two spellings of one address are equal: lower-case scheme
 * and host, no default port, no slash at the end. A text that is no URL is returned without trailing slashes.
 */
export function normalizeServiceUrl(text: string): string {
  return (URL.canParse(text) ? new URL(text).href : text).replace(/\/+$/, "");
}
