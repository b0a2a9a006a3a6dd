/** Paints text; the plain style gives it back as it is. */
export type Paint = (text: string) => string;

/** How text is dressed: decided once at the edge, never looked up by a renderer. */
export interface Style {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly red: Paint;
  readonly green: Paint;
  readonly yellow: Paint;
  readonly cyan: Paint;
  /** Width to lay text out for, in cells. */
  readonly columns: number;
}

/** How much is shown: sums, errors and refusals only; long lists cut short; everything. */
export type Verbosity = "quiet" | "normal" | "verbose";

const plain: Paint = (text) => text;

/** No colours, 80 columns: what goes into a file or a pipe. */
export const PLAIN: Style = {
  bold: plain,
  dim: plain,
  red: plain,
  green: plain,
  yellow: plain,
  cyan: plain,
  columns: 80,
};
