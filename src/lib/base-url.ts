/** Returns whether a host is this machine. */
export function isThisMachine(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** Returns how to correct a base URL without a scheme, with the API version at its end, or both. */
export function baseUrlHint(text: string): string {
  const base = text.replace(/\/v0\.1\/*$/, "");
  const [, host] =
    /^(localhost|\[::1\]|[\w.-]+\.[\w-]+|[\w-]+(?=:\d))(?::\d+)?(?:\/[\w./-]*)?$/.exec(base) ?? [];
  if (host === undefined) {
    return base === text
      ? "For example: https://api.example.com"
      : "Remove /v0.1 at the end: rolecall adds the API version.";
  }
  const url = `${isThisMachine(host) ? "http" : "https"}://${base}`;
  return base === text
    ? `Add the scheme: ${url}`
    : `Add the scheme, and remove /v0.1, which rolecall adds: ${url}`;
}
