/**
 * Returns the normal form of a service's base URL, in which two spellings of one address are equal: lower-case scheme
 * and host, no default port, no slash at the end, no empty query or fragment. A text that is no URL is returned without
 * trailing slashes.
 */
export function normalizeServiceUrl(text: string): string {
  return (URL.canParse(text) ? hrefOf(new URL(text)) : text).replace(/\/+$/, "");
}

function hrefOf(url: URL): string {
  if (url.search === "") url.search = "";
  if (url.hash === "") url.hash = "";
  return url.href;
}
