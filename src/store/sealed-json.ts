import { createHmac, timingSafeEqual } from "node:crypto";
import { canonicalJson } from "../lib/json-text.ts";

/** Returns the text of a value with its signature, for a kind of record and the path that it is stored at. */
export function seal(value: object, place: string, key: string): string {
  return `${canonicalJson({ mac: macOf(value, place, key), value })}\n`;
}

/** Returns the value of a text that `seal` made for the same place and key; `null` for any other text. */
export function unseal(text: string, place: string, key: string): unknown {
  const { mac, value } = parsed(text);
  if (typeof mac !== "string" || typeof value !== "object" || value === null) return null;
  const expected = Buffer.from(macOf(value, place, key));
  const given = Buffer.from(mac);
  return given.length === expected.length && timingSafeEqual(given, expected) ? value : null;
}

/** Returns the signature of a value for a place. */
export function macOf(value: object, place: string, key: string): string {
  return createHmac("sha256", key)
    .update(`${place}\n${canonicalJson(value)}`)
    .digest("hex");
}

function parsed(text: string): { readonly mac?: unknown; readonly value?: unknown } {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

/** Returns the keyed hash of a text, such as a person's address: nobody without the key can check a guess. */
export function keyedHash(text: string, key: string): string {
  return createHmac("sha256", key).update(text).digest("hex").slice(0, HASH_LENGTH);
}

const HASH_LENGTH = 32;
