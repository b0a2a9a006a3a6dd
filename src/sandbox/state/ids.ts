import { createHash } from "node:crypto";

function digest(parts: readonly (string | number)[]): Buffer {
  return createHash("sha256").update(JSON.stringify(parts)).digest();
}

/** An id of the form `role_…` or `mem_…` that is always the same for the same parts. */
export function stableId(prefix: "role" | "mem", ...parts: readonly (string | number)[]): string {
  const letters = digest([prefix, ...parts])
    .toString("base64url")
    .replace(/[-_]/g, "");
  return `${prefix}_${letters.slice(0, 20)}`;
}

/** The user id that an e-mail address has everywhere: a UUID. */
export function userId(email: string): string {
  const bytes = digest(["user", email.toLowerCase()]).subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

/** Returns the digest of a password, by which it is recognised. */
export function passwordDigest(memberId: string, password: string): string {
  return digest(["password", memberId, password]).toString("base64url");
}

/** The number that a user has in the deprecated `classic` object: it fits 32 bits with a sign. */
export function classicId(email: string): number {
  return digest(["classic", email.toLowerCase()]).readUInt32BE(0) >>> 1;
}
