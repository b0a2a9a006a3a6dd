// Controls, and what reorders or hides text: bidirectional and zero-width characters, line separators, lone halves of pairs.
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;

/** Text from a file with everything that a terminal would act on, or not show, written as an escape. */
export function escapeText(text: string): string {
  return text.replace(UNSAFE, escapeCharacter);
}

/** One character in its escaped form: `\x1b`, `\u202e`, `\u{e0001}`. */
function escapeCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  if (code <= 0xff) {
    return `\\x${hex.padStart(2, "0")}`;
  }
  return code <= 0xffff ? `\\u${hex.padStart(4, "0")}` : `\\u{${hex}}`;
}
