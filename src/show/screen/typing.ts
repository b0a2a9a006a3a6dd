/** A line that is being typed, was submitted with Enter, or was cancelled. */
export interface Line {
  readonly state: "open" | "sent" | "left";
  readonly text: string;
}

/** The keys other than text. */
export interface Key {
  readonly ctrl: boolean;
  readonly escape: boolean;
  readonly backspace: boolean;
  readonly delete: boolean;
}

/** Matches the marks that some terminals put around pasted text. */
const PASTE_MARK = /^\[20[01]~$/;

const CONTROL = /\p{Cc}/u;

/** Adds one piece of input to a line. A paste brings text and Enter in one piece, so each character counts for itself. */
export function typeInto(text: string, input: string, key: Key): Line {
  if (key.escape || (key.ctrl && (input === "c" || input === "d"))) return { state: "left", text };
  if (key.backspace || key.delete) return { state: "open", text: withoutLast(text) };
  if (key.ctrl) return { state: "open", text: input === "u" ? "" : text };
  if (PASTE_MARK.test(input)) return { state: "open", text };
  let line = text;
  for (const character of input) {
    switch (character) {
      case "\r":
      case "\n":
        return { state: "sent", text: line };
      case "\u0003":
      case "\u0004":
        return { state: "left", text: line };
      case "\b":
      case "\u007f":
        line = withoutLast(line);
        break;
      default:
        if (!CONTROL.test(character)) line += character;
    }
  }
  return { state: "open", text: line };
}

function withoutLast(text: string): string {
  return [...text].slice(0, -1).join("");
}
