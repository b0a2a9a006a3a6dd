import stringWidth from "string-width";
import { counted, grouped, sortNaturally } from "../../../lib/text.ts";
import type { Impact, MemberImpact, Selection } from "../../../model/plan.ts";
import type { Tone } from "../../style.ts";
import { sameImpact } from "../../text/impact-text.ts";
import { wrapText } from "../../text/wrap.ts";
import type { DetailView } from "../../view/change-view.ts";
import { namesText } from "../../view/names-text.ts";
import type { PlaceOf } from "../../view/plan-view.ts";
import { shown } from "../second-screen.ts";
import type { Piece } from "../theme.tsx";
import type { BrowsedChange } from "./browse-model.ts";
import type { FileLine } from "./browse-state.ts";

/** A line of the detail, not yet cut to its width. */
export type DetailLine = readonly Piece[];

/** The width of the detail, in cells. */
export interface Layout {
  readonly width: number;
  /** The sensitive permissions of the plan. */
  readonly sensitive?: readonly string[];
}

/** The context of a row's detail. */
export interface DetailContext {
  readonly selection: Selection;
  /** Returns the permissions of a live role; `null` if they are unknown. */
  readonly permissionsOf: (merchant: string, roleId: string) => readonly string[] | null;
  /** Returns where a change is declared; `null` if that is unknown. */
  readonly fileLineOf: (change: BrowsedChange) => FileLine | null;
  readonly placeOf: PlaceOf;
  readonly selects: boolean;
}

/** Maximum number of names in a list; the others are only counted. */
export const DETAIL_NAMES = 200;

/** Returns the fields of a change, with what is removed and added. */
export function fieldLines(details: readonly DetailView[], layout: Layout): readonly DetailLine[] {
  return details.flatMap(({ label, removed, added, plain }) => [
    [[`${label[0]?.toUpperCase()}${label.slice(1)}`, "bold"]] as DetailLine,
    ...signed(removed, "-", layout),
    ...signed(added, "+", layout),
    ...signed(plain, " ", layout),
  ]);
}

/** Returns what is lost, gained and kept, below a title. */
export function comparison(
  title: string,
  { lost, gained, kept }: Readonly<Record<"lost" | "gained" | "kept", readonly string[]>>,
  layout: Layout,
): readonly DetailLine[] {
  return [
    [[title, "bold"]],
    ...signed(lost, "-", layout),
    ...signed(gained, "+", layout),
    ...signed(kept, " ", layout),
  ];
}

function signed(items: readonly string[], sign: "+" | "-" | " ", layout: Layout): readonly DetailLine[] {
  const tone = ({ "+": "green", "-": "red", " ": "dim" } as const)[sign];
  return items.flatMap((item) => {
    const lines = wrapped(item, layout.width - 6);
    return lines.map((text, index): DetailLine => {
      const isLast = index === lines.length - 1 && sign === "+" && layout.sensitive?.includes(item);
      return [
        [`  ${index === 0 ? sign : " "} `, tone],
        [text, tone],
        [isLast ? " !" : "", "yellow"],
      ];
    });
  });
}

/** Returns how many members gain and lose each permission. */
export function permissionSums(
  { permissions, sensitive }: Impact,
  only: ReadonlySet<string> | null,
  { width }: Layout,
): readonly DetailLine[] {
  return permissions
    .filter(({ permission }) => only === null || only.has(permission))
    .map(({ permission, gained, lost }): DetailLine => {
      const name = permission;
      const space = " ".repeat(Math.max(Math.min(28, width - 16) - stringWidth(shown(name)), 0));
      return [
        [`  ${name}${space}`],
        [gained > 0 ? `  +${grouped(gained)}` : "", "green"],
        [lost > 0 ? `  -${grouped(lost)}` : "", "red"],
        [gained > 0 && sensitive?.includes(permission) ? "  !" : "", "yellow"],
      ];
    });
}

/** From this number on, people with the same gains and losses are one paragraph. */
const MANY_ALIKE = 4;

/** Returns people with what they gain and lose, those with the same together. */
export function impactLines(people: readonly MemberImpact[], layout: Layout): readonly DetailLine[] {
  const groups = sameImpact(sortNaturally(people, ({ name }) => name)).toSorted(
    (a, b) => b.length - a.length,
  );
  const shownGroups = groups.slice(0, DETAIL_NAMES);
  const lines = shownGroups.flatMap((group) => {
    const [first] = group;
    if (group.length < MANY_ALIKE) return group.map((impact) => impactLine(impact.name, impact));
    const names = namesText(
      group.map(({ name }) => name),
      NAMED_ALIKE,
    );
    return [impactLine(counted(group.length, "member"), first), ...paragraph(`    ${names}`, layout, "dim")];
  });
  return [...lines, ...more(groups.length)];
}

const NAMED_ALIKE = 12;

function impactLine(who: string, { gained, lost, unknownGained, unknownLost }: MemberImpact): DetailLine {
  const [plus, minus] = [
    [...gained, ...unknownGained],
    [...lost, ...unknownLost],
  ];
  return [
    [`  ${who}`],
    [plus.length === 0 ? "" : ` +${brief(plus)}`, "green"],
    [minus.length === 0 ? "" : ` -${brief(minus)}`, "red"],
  ];
}

/** Returns the only permission, or the number of several. */
export function brief(permissions: readonly string[]): string {
  return permissions.length === 1 ? permissions.join("") : grouped(permissions.length);
}

/** Returns the line that counts what a list leaves out. */
export function more(count: number): readonly DetailLine[] {
  return count > DETAIL_NAMES ? [[[`  … and ${grouped(count - DETAIL_NAMES)} more`, "dim"]]] : [];
}

/** Breaks a text into lines, which keep its indent. */
export function paragraph(text: string, { width }: Layout, ...tones: readonly Tone[]): readonly DetailLine[] {
  const indent = /^ */.exec(text)?.[0] ?? "";
  return wrapped(text.trimStart(), width - indent.length).map(
    (each): DetailLine => [[indent], [each, ...tones]],
  );
}

/** Matches printable ASCII: a cell for each character. */
const PLAIN_TEXT = /^[\x20-\x7e]*$/;

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** Breaks a text into lines of a maximum number of cells, at its spaces where possible. */
function wrapped(text: string, width: number): readonly string[] {
  const most = Math.max(width, 8);
  return wrapText(shown(text), most).flatMap((line) => {
    if (stringWidth(line) <= most) return [line];
    // Going through a long text character by character is slow.
    if (PLAIN_TEXT.test(line)) {
      return Array.from({ length: Math.ceil(line.length / most) }, (_, index) =>
        line.slice(index * most, (index + 1) * most),
      );
    }
    const parts: string[] = [];
    let part = "";
    for (const { segment } of graphemes.segment(line)) {
      if (stringWidth(part + segment) > most && part !== "") {
        parts.push(part);
        part = "";
      }
      part += segment;
    }
    return [...parts, part];
  });
}
