import { crc32 } from "node:zlib";

/**
 * What the engine has compiled of a text, kept with that text: what was kept for one text is never taken for another,
 * however alike the two are, nor where anything of it is damaged, which the engine would not notice.
 */
const HEAD_BYTES = 8;

/** An image: how long the code is and its checksum, the code, and the text that it was compiled of. */
export function imageOf(text: Buffer, code: Buffer): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32LE(code.length, 0);
  head.writeUInt32LE(crc32(code), 4);
  return Buffer.concat([head, code, text]);
}

/** The code of an image; undefined where it was compiled of any other text, or is not as it was. */
export function codeFor(text: Buffer, image: Buffer): Buffer | undefined {
  if (image.length <= HEAD_BYTES + text.length) return undefined;
  const end = HEAD_BYTES + image.readUInt32LE(0);
  if (image.length - end !== text.length || text.compare(image, end) !== 0) return undefined;
  const code = image.subarray(HEAD_BYTES, end);
  return crc32(code) === image.readUInt32LE(4) ? code : undefined;
}
