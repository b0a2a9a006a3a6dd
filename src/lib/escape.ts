/**
 * Control characters, line separators, bidirectional overrides, invisible marks and lone surrogates: whatever could
 * make a terminal show something else than what is there. The two joiners stay: scripts and emoji need them.
 */
const UNSAFE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}]/gu;

/** What nearly all texts are: nothing in them has to be looked at twice. */
const PLAIN_TEXT = /^[\x20-\x7e]*$/;

/** One line of text from a file or the service, made safe for a terminal and for a CI log. */
export function oneLine(text: string): string {
  if (PLAIN_TEXT.test(text) && !text.includes("::") && !text.includes("##[")) return text;
  return (
    text
      .replace(UNSAFE, visible)
      // Not only at the beginning: a line may be broken at any space.
      .replaceAll(/(?<=^|\s)::/g, ":\\:")
      .replaceAll("##[", "#\\#[")
  );
}

function visible(character: string): string {
  if (character === "\n") return "\\n";
  if (character === "\t") return "\\t";
  if (character === "\r") return "\\r";
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
