import { RolecallError } from "../model/errors.ts";

/** The path of a merchant's roles, or of one of them; no query. */
export function rolesPath(merchant: string, id?: string): string {
  return path(merchant, "roles", id);
}

/** The path of a merchant's members, or of one of them; no query. */
export function membersPath(merchant: string, id?: string): string {
  return path(merchant, "members", id);
}

/** The path of the caller's memberships; no query. */
export const MEMBERSHIPS_PATH = "/v0.1/memberships";

/** A query, in the order given. */
export function query(parameters: Readonly<Record<string, string | number>>): string {
  const text = Object.entries(parameters).map(([name, value]): [string, string] => [name, String(value)]);
  return `?${new URLSearchParams(text).toString()}`;
}

function path(merchant: string, collection: string, id?: string): string {
  if (isUnsafe(merchant)) {
    throw new RolecallError("usage", `"${merchant}" cannot be a merchant code.`, {
      hint: "Correct it in the file.",
    });
  }
  if (id !== undefined && isUnsafe(id)) {
    throw new RolecallError("bad-answer", `No request can be about the id "${id}".`, {
      hint: "If no file names it, the service gave it: ask its operators.",
    });
  }
  const whole = ["v0.1", "merchants", merchant, collection, ...(id === undefined ? [] : [id])];
  return `/${whole.map(segment).join("/")}`;
}

/** Tells if a text would leave its segment: servers take "." and ".." for a way up, an empty id for the collection. */
function isUnsafe(text: string): boolean {
  return text === "" || text === "." || text === "..";
}

function segment(text: string): string {
  // A lone surrogate cannot be encoded; no id of the service holds one.
  return encodeURIComponent(text.replaceAll(/\p{Cs}/gu, "\ufffd"));
}
