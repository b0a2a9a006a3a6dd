import { diffWordsWithSpace } from "diff";
import { type ShownField, shownFields } from "../../kernel/fields/show.ts";
import type { Change, MemberImage } from "../../model/plan.ts";

/** One field of a row: its value, or the values that are removed and added. */
export interface DetailView {
  readonly label: string;
  readonly removed: readonly string[];
  readonly added: readonly string[];
  /** The values of a created or removed resource. */
  readonly plain: readonly string[];
  /** True if it stands for values of equal changes that are not the same. */
  readonly differs?: true;
  /** Word diff of a text that changes only a little. */
  readonly words?: readonly WordView[];
}

/** The view of one change, the same in every format. Texts are raw: each renderer escapes them. */
export interface RowView {
  readonly kind: Change["kind"];
  /** Replaces the kind for changes that have happened: "added outside git". */
  readonly verb?: string;
  readonly resource: Change["resource"];
  readonly name: string;
  /** The reason or the state: "not in the file", "pending"; may be empty. */
  readonly remark: string;
  readonly details: readonly DetailView[];
  /** True if it adds a sensitive permission to a role. */
  readonly sensitive?: true;
  /** The equal changes that the row stands for, if there are several. */
  readonly equal?: EqualRows;
}

/** Equal changes, of one name at several merchants, or of several names. */
export interface EqualRows {
  readonly names: readonly string[];
  /** Codes of the merchants, in order. */
  readonly merchants: readonly string[];
  /** Codes of the other merchants that are shown. */
  readonly others: readonly string[];
  readonly changes: number;
  /** The row of each change. */
  readonly rows: readonly RowView[];
  /** Number of members who gain a permission that the changes add to a role. */
  readonly gain: number;
  /** Number of members who lose a permission that the changes take from a role. */
  readonly lose: number;
}

/** Returns the view of a change that every format shows. */
export function rowOf(change: Change, sensitive: readonly string[] = []): RowView {
  const { kind, resource, name } = change;
  const details = shownFields(change).map(detailOf);
  const isSensitive = details.some(
    ({ label, added, plain }) =>
      label === "permissions" && [...added, ...plain].some((permission) => sensitive.includes(permission)),
  );
  return { kind, resource, name, remark: remarkOf(change), details, ...(isSensitive && { sensitive: true }) };
}

function detailOf({ prose, ...detail }: ShownField): DetailView {
  const words = prose ? wordDiff(detail.removed.join(), detail.added.join()) : null;
  return words === null ? detail : { ...detail, words };
}

function remarkOf(change: Change): string {
  const { reason, kind } = change;
  switch (reason) {
    case "unlisted":
      return "not in the file";
    case "access-ended":
      return "its end date has passed";
    case "access-not-begun":
      return "it begins later";
    case "suspended":
      return "suspended";
    case "suspension-ended":
      return kind === "replace" ? "back from a suspension, with a new invitation" : "back from a suspension";
    case "address-changed":
      return "the address has changed";
    case "left":
      return "has left";
    case "invitation-expired":
      return kind === "replace" ? "renews the expired invitation" : "an expired invitation";
    case "immutable-field":
      return kind === "replace" ? "replaced by a new role, with its holders" : "moves to the new role";
    case "declared":
      return declaredRemark(change);
    case "undone":
      return undoneRemark(change);
    default:
      return reason satisfies never;
  }
}

function declaredRemark(change: Change): string {
  if (change.resource === "role") return "";
  const { before, after } = change;
  if (change.kind === "create" && (change.after.managed || change.after.status === null))
    return joinRemark(change.after);
  // A member that was added outside git exists already.
  const status = (before ?? after)?.status ?? "accepted";
  return status === "accepted" ? "" : status;
}

function joinRemark({ managed }: MemberImage): string {
  return managed ? "managed user" : "invitation";
}

function undoneRemark(change: Change): string {
  switch (change.kind) {
    case "create":
      return change.resource === "role" ? "restored" : `${joinRemark(change.after)}, restored`;
    case "update":
      return declaredRemark(change);
    case "replace":
      return "replaced by a new role, with its holders";
    case "delete":
      return "created by that run";
    default:
      return change satisfies never;
  }
}

/** A run of words in a changed sentence: kept, removed or added. */
export interface WordView {
  readonly kind: "same" | "removed" | "added";
  readonly text: string;
}

/** Maximum size of a comparison by words; above it, the two texts are shown whole. */
const MAX_CHARACTERS = 4000;
const MAX_EDITS = 200;

/** Returns the words removed and added; `null` if too little stays the same for a word diff to help. */
function wordDiff(before: string, after: string): readonly WordView[] | null {
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
