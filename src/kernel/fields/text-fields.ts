import { quoted } from "../../lib/text.ts";
import { differs, type FieldKind, revertedWhole, undivided } from "./kind.ts";

type Text = string | null;

// The service treats an empty text as absent.
const isSame = (a: Text, b: Text): boolean => (a ?? "") === (b ?? "");
const lines = (text: Text): readonly string[] => (text ? [text] : []);

const text = {
  empty: null,
  normal: (value) => value,
  isSame,
  ...undivided<Text>(isSame),
  diff: (before, after) => ({ before, after: after ?? "" }),
  inverted: ({ before, after }) => ({ before: after, after: before ?? "" }),
  lines,
  changedLines: ({ before, after }) => ({ removed: lines(before), added: lines(after) }),
  surprises: (field, planned, live) =>
    isSame(planned, live) ? [] : [differs(field, quoted(planned ?? ""), quoted(live ?? ""))],
  sent: (value) => value ?? "",
  // So that a new field does not change the fingerprints of resources without it.
  content: (value) => value || undefined,
  reverted: revertedWhole(isSame),
} satisfies Omit<FieldKind<Text>, "name">;

/** A text on one line. */
export const lineKind: FieldKind<Text, "line"> = {
  ...text,
  name: "line",
  normal: (value) => value || null,
};

/** A text that may have several lines. */
export const proseKind: FieldKind<Text, "prose"> = { name: "prose", ...text };

/** The name of a resource, which the title of its row shows. */
export const nameKind: FieldKind<string, "name"> = {
  ...text,
  name: "name",
  empty: "",
  normal: (value) => value,
  ...undivided<string>(isSame),
  diff: (before, after) => ({ before, after }),
  inverted: ({ before, after }) => ({ before: after, after: before }),
  lines: () => [],
  reverted: revertedWhole<string>(isSame),
};
