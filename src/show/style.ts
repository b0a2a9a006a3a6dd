import type { Change } from "../model/plan.ts";

/** Paints text; the plain style returns it unchanged. */
export type Paint = (text: string) => string;

/** The style of text, chosen once at the edge; renderers never look it up. */
export interface Style {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly red: Paint;
  readonly green: Paint;
  readonly yellow: Paint;
  readonly cyan: Paint;
  /** Swaps the colours of text and background. */
  readonly inverse: Paint;
  /** Width to lay text out for, in cells. */
  readonly columns: number;
  /** False for files and pipes, where messages stay on one line. */
  readonly onTerminal: boolean;
}

/** The tones of text. */
export type Tone = Exclude<keyof Style, "columns" | "onTerminal">;

/** The amount shown: totals, errors and refusals only; truncated lists; everything. */
export type Verbosity = "quiet" | "normal" | "verbose";

const plain: Paint = (text) => text;

/** The style for files and pipes: no colours, 80 columns. */
export const PLAIN: Style = {
  bold: plain,
  dim: plain,
  red: plain,
  green: plain,
  yellow: plain,
  cyan: plain,
  inverse: plain,
  columns: 80,
  onTerminal: false,
};

/** The sign of each kind of change. */
export const SIGNS: Readonly<Record<Change["kind"], string>> = {
  create: "+",
  update: "~",
  replace: "±",
  delete: "-",
};

/** The colour of each kind of change. */
export const KIND_TONES = { create: "green", update: "yellow", replace: "yellow", delete: "red" } as const;

/** Returns the paint of a kind of change. */
export function kindPaint(kind: Change["kind"], style: Style): Paint {
  return style[KIND_TONES[kind]];
}
