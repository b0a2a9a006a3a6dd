/**
 * What the engine has compiled of a text, kept with that text: code that was compiled of another text is never taken for
 * it, however alike the two are.
 */
const HEAD_BYTES = 8;

/** An image: how long the code is, the code, and the text that it was compiled of. */
export function imageOf(text: Buffer, code: Buffer): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32LE(code.length);
  return Buffer.concat([head, code, text]);
}

/** The code of an image; undefined where it was compiled of any other text. */
export function codeFor(text: Buffer, image: Buffer): Buffer | undefined {
  const end = image.length < HEAD_BYTES ? 0 : HEAD_BYTES + image.readUInt32LE();
  const isOfText = end > HEAD_BYTES && image.length - end === text.length && text.compare(image, end) === 0;
  return isOfText ? image.subarray(HEAD_BYTES, end) : undefined;
}
