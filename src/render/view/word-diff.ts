import { diffWordsWithSpace } from "diff";

/** Some words of a sentence that changed, and what became of them. */
export interface WordView {
  readonly kind: "same" | "removed" | "added";
  readonly text: string;
}

/** Comparing words takes long where nearly all of many differ; two texts then say it better anyway. */
const MAX_CHARACTERS = 4000;
const MAX_EDITS = 200;

/** Returns the words removed and added; `null` if too little stays for a word diff to help. */
export function wordDiff(before: string, after: string): readonly WordView[] | null {
  if (before.length + after.length > MAX_CHARACTERS) return null;
  const parts = diffWordsWithSpace(before, after, { maxEditLength: MAX_EDITS });
  if (parts === undefined) return null;
  const words = parts.map(({ added, removed, value }): WordView => {
    return { kind: added ? "added" : removed ? "removed" : "same", text: value };
  });
  const letters = (text: string): number => text.replaceAll(/\s/g, "").length;
  const same = words.reduce((sum, { kind, text }) => sum + (kind === "same" ? letters(text) : 0), 0);
  return same * 2 >= Math.max(letters(before), letters(after)) ? words : null;
}

/** The words in one line, as in `Opens [-and shuts-] {+and closes+} the till`. */
export function wordDiffText(words: readonly WordView[]): string {
  return words
    .map(({ kind, text }) => {
      switch (kind) {
        case "same":
          return text;
        case "removed":
          return `[-${text}-]`;
        case "added":
          return `{+${text}+}`;
        default:
          return kind satisfies never;
      }
    })
    .join("");
}
