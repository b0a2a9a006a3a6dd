import type { Tone } from "../style.ts";
import { cutText } from "./cut-list.ts";

/** A run of text in a tone of its own; raw, since printers escape it. */
export interface TonedText {
  readonly text: string;
  readonly tone?: Tone;
  /** True if it stays on one line if it fits. */
  readonly isWhole?: true;
}

/** Text of a block; raw, since printers escape it. */
export type Text = string | readonly (string | TonedText)[];

/** The marks that a sentence or a fact may begin with. */
export type Mark = "ok" | "failed" | "unknown" | "warning" | "risk" | "next" | "idle";

/** A sentence, with what belongs to it below. */
export interface Sentence {
  readonly kind: "sentence";
  readonly text: Text;
  readonly mark?: Mark;
  /** The tone of the parts that have none of their own. */
  readonly tone?: Tone;
  /** True if its second line is not indented. */
  readonly isProse?: true;
  /** True if it stays on one line in files and pipes, so that it can be searched for. */
  readonly isLogged?: true;
  readonly below?: readonly Block[];
}

/** Items below a sentence. */
export interface ListBlock {
  readonly kind: "list";
  readonly items: readonly Text[];
  /** Maximum number of items that are shown, and one more if the count would replace only that one. */
  readonly most: number;
}

/** Labels with a text each, such as the fields of a problem. */
export interface Facts {
  readonly kind: "facts";
  readonly rows: readonly Fact[];
  /** Width of the labels, in cells; a longer one moves only its own text. */
  readonly width?: number;
  /** True if the labels are not dim. */
  readonly isPlain?: true;
  /** True if each stays on one line in files and pipes. */
  readonly isLogged?: true;
}

/** A label with its text. */
export interface Fact {
  readonly label: Text;
  readonly text: Text;
  readonly mark?: Mark;
}

/** Rows in aligned columns. */
export interface Grid {
  readonly kind: "grid";
  /** The titles of the columns; empty for none. */
  readonly heads: readonly string[];
  readonly rows: readonly GridRow[];
  /** True if rows with the same first cell belong together, and only the first of them shows it. */
  readonly isGrouped?: boolean;
  /** The columns whose cells are broken into lines where space is short. */
  readonly flexible?: readonly number[];
}

/** A row of cells, with the tones of all or of each of them. */
export interface GridRow {
  readonly cells: readonly string[];
  readonly tone?: Tone | readonly (Tone | undefined)[];
}

/** Blocks below a title, which are folded where that is possible. */
export interface Fold {
  readonly kind: "fold";
  readonly title: Text;
  readonly tone?: Tone;
  readonly blocks: readonly Block[];
}

/** A part of a document. */
export type Block = Sentence | ListBlock | Facts | Grid | Fold;

/** A report: paragraphs of blocks. */
export type Document = readonly (readonly Block[])[];

/** Returns text in a tone. */
export function toned(tone: Tone, text: string): TonedText {
  return { text, tone };
}

/** Returns names as text that is broken only between them. */
export function names(items: readonly string[], separator = ", "): Text {
  return items.flatMap((text, index): readonly TonedText[] =>
    index === 0 ? [{ text, isWhole: true }] : [{ text: separator }, { text, isWhole: true }],
  );
}

/** Returns a sentence. */
export function sentence(text: Text, more: Omit<Sentence, "kind" | "text"> = {}): Sentence {
  return { kind: "sentence", text, ...more };
}

/** Returns blocks below a title. */
export function fold(title: Text, blocks: readonly Block[], tone: Tone = "bold"): Fold {
  return { kind: "fold", title, tone, blocks };
}

/** Returns blocks below a sentence. */
export function below(text: Text, blocks: readonly Block[]): Sentence {
  return sentence(text, { below: blocks });
}

/** Returns blocks that are indented. */
export function indented(blocks: readonly Block[]): Fold {
  return { kind: "fold", title: [], blocks };
}

/** Maximum number of items in a list. */
export const ITEMS_SHOWN = 10;

/** Returns a list; none without items. */
export function cutItems(items: readonly Text[], most: number = ITEMS_SHOWN): readonly ListBlock[] {
  return items.length === 0 ? [] : [{ kind: "list", items, most }];
}

/** Returns the line below a cut list, which `--verbose` shows whole; none if nothing is hidden. */
export function verboseShows(hidden: number): readonly Sentence[] {
  return hidden > 0 ? [sentence(`${cutText(hidden)} (--verbose shows all)`, { tone: "dim" })] : [];
}
