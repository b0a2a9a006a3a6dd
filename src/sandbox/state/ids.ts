import { createHash } from "node:crypto";

function digest(parts: readonly (string | number)[]): Buffer {
  return createHash("sha256").update(JSON.stringify(parts)).digest();
}

/** Derives an id of the form `role_…` or `mem_…` from its parts. */
export function stableId(prefix: "role" | "mem", ...parts: readonly (string | number)[]): string {
  const letters = digest([prefix, ...parts])
    .toString("base64url")
    .replace(/[-_]/g, "");
  return `${prefix}_${letters.slice(0, 20)}`;
}

/** Derives the user id of an e-mail address, a UUID. */
export function userId(email: string): string {
  const bytes = digest(["user", email.toLowerCase()]).subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

/** Returns the digest by which a used password is recognised. */
export function passwordDigest(memberId: string, password: string): string {
  return digest(["password", memberId, password]).toString("base64url");
}

/** Derives the user's number in the deprecated `classic` object; fits a signed 32-bit integer. */
export function classicId(email: string): number {
  return digest(["classic", email.toLowerCase()]).readUInt32BE(0) >>> 1;
}
