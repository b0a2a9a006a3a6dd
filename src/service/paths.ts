import { baseUrlHint, isThisMachine } from "../lib/base-url.ts";
import { RolecallError } from "../model/errors.ts";

/** Returns the path of a merchant's roles, or of one of them. */
export function rolesPath(merchant: string, id?: string): string {
  return path(merchant, "roles", id);
}

/** Returns the path of a merchant's members, or of one of them. */
export function membersPath(merchant: string, id?: string): string {
  return path(merchant, "members", id);
}

/** The path of the caller's memberships. */
export const MEMBERSHIPS_PATH = "/v0.1/memberships";

/** Returns a query string with the parameters in their order; a list repeats its parameter. */
export function query(parameters: Readonly<Record<string, string | number | readonly string[]>>): string {
  const text = Object.entries(parameters).flatMap(([name, value]) =>
    [value].flat().map((item): [string, string] => [name, String(item)]),
  );
  return `?${new URLSearchParams(text).toString()}`;
}

function path(merchant: string, collection: string, id?: string): string {
  if (isUnsafe(merchant)) {
    throw new RolecallError("usage", `"${merchant}" is not a valid merchant code.`, {
      hint: "Correct it in the file.",
    });
  }
  if (id !== undefined && isUnsafe(id)) {
    throw new RolecallError("bad-response", `The id "${id}" cannot be used in a request.`, {
      hint: "If it is in no file, it came from the service: contact its operators.",
    });
  }
  const whole = ["v0.1", "merchants", merchant, collection, ...(id === undefined ? [] : [id])];
  return `/${whole.map(segment).join("/")}`;
}

/**
 * Returns whether a text would leave its path segment: servers resolve "." and "..", and treat an empty id as the
 * collection.
 */
function isUnsafe(text: string): boolean {
  return text === "" || text === "." || text === "..";
}

function segment(text: string): string {
  // A lone surrogate cannot be encoded; no id of the service contains one.
  return encodeURIComponent(text.replaceAll(/\p{Cs}/gu, "\ufffd"));
}

/** Parses a base URL: HTTPS, or HTTP to a loopback address; without user, query and fragment. Throws RolecallError. */
export function checkBaseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !["http:", "https:"].includes(url.protocol)) {
    throw new RolecallError("usage", "The base URL is not a valid http or https URL.", {
      hint: baseUrlHint(text),
    });
  }
  if (/\/v0\.1\/?$/.test(url.pathname)) {
    throw new RolecallError("usage", "The base URL must not end in /v0.1.", {
      hint: "Remove it: rolecall adds the API version.",
    });
  }
  if (url.username || url.password || url.search || url.hash) {
    throw new RolecallError("usage", "The base URL must not contain a user name, a query or a fragment.", {
      hint: "Set credentials in the environment, not in the URL.",
    });
  }
  if (url.protocol === "http:" && !isThisMachine(url.hostname)) {
    throw new RolecallError("base-url-insecure", `The API key would be sent to ${url.origin} unencrypted.`, {
      hint: "Use https://; http:// is only allowed for this machine (127.0.0.1, localhost).",
    });
  }
  return url;
}
