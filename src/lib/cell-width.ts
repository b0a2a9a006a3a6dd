// Scripts and symbols that terminals draw two cells wide.
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{17000}-\u{18cff}\u{1b000}-\u{1b2ff}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;

/** How many terminal cells one character takes: two for wide ones, none for marks that sit on another. */
export function cellWidth(character: string): number {
  if (character <= "~") {
    return 1;
  }
  if (/\p{M}/u.test(character)) {
    return 0;
  }
  return WIDE.test(character) ? 2 : 1;
}
