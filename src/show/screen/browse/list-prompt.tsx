import { render, useApp, useInput } from "ink";
import { type ReactNode, useEffect, useRef, useState } from "react";
import type { Style } from "../../style.ts";
import { wrapText } from "../../text/wrap.ts";
import { Frame, useSize } from "../frame.tsx";
import { type Size, secondScreen, shown } from "../second-screen.ts";
import { cutTo, line, padded, widthOf } from "../terminal-text.ts";
import { type Key as TextKey, typeInto } from "../typing.ts";
import type { Terminal } from "./browser.tsx";

/** An item of a list to choose from; `note` stands beside it, dimmed. */
export interface Choice {
  readonly label: string;
  readonly note?: string;
}

/** A list to tick items in, or with `single`, to choose one of. */
export interface ListQuestion {
  readonly title: string;
  readonly choices: readonly Choice[];
  readonly single?: true;
  /** Indexes of the items that are ticked at first; with `single`, of the item under the cursor. */
  readonly ticked?: readonly number[];
}

/** The state of a list: `answer` is set at the end, null if the list was left. */
export interface ListState {
  /** Index among the choices that the filter leaves. */
  readonly cursor: number;
  readonly ticked: ReadonlySet<number>;
  readonly filter: string;
  readonly filtering: boolean;
  readonly hint: string;
  readonly answer?: readonly number[] | null;
}

/** The keys of a list that are more than text. */
export interface ListKey extends TextKey {
  readonly upArrow: boolean;
  readonly downArrow: boolean;
  readonly pageUp: boolean;
  readonly pageDown: boolean;
  readonly return: boolean;
}

/** Returns the state of a list before the first key. */
export function initialListState({ ticked = [], single }: ListQuestion): ListState {
  const [cursor = 0] = single ? ticked : [];
  return { cursor, ticked: new Set(single ? [] : ticked), filter: "", filtering: false, hint: "" };
}

/** Returns the indexes of the choices that contain the filter's text, in any case. */
function matching({ choices }: ListQuestion, filter: string): readonly number[] {
  const lowerFilter = filter.toLowerCase();
  return choices.flatMap(({ label, note = "" }, index) =>
    `${label} ${note}`.toLowerCase().includes(lowerFilter) ? [index] : [],
  );
}

/** Returns the state after one key. */
export function pressInList(
  question: ListQuestion,
  state: ListState,
  input: string,
  key: ListKey,
): ListState {
  if (key.ctrl && (input === "c" || input === "d")) return { ...state, answer: null };
  const matches = matching(question, state.filter);
  const move = (by: number): ListState => ({
    ...state,
    hint: "",
    cursor: Math.min(Math.max(state.cursor + by, 0), Math.max(matches.length - 1, 0)),
  });
  if (key.upArrow) return move(-1);
  if (key.downArrow) return move(1);
  if (key.pageUp) return move(-PAGE);
  if (key.pageDown) return move(PAGE);
  if (state.filtering) return typeFilter(state, input, key);
  if (key.escape && state.filter !== "") return { ...state, filter: "", cursor: 0 };
  if (key.escape || input === "q") return { ...state, answer: null };
  if (key.return) return accept(question, state, matches);
  switch (input) {
    case "k":
      return move(-1);
    case "j":
      return move(1);
    case "/":
      return { ...state, filtering: true, hint: "" };
    case " ":
      return question.single
        ? state
        : { ...state, hint: "", ticked: toggled(state.ticked, matches[state.cursor]) };
    case "a":
      return question.single ? state : { ...state, hint: "", ticked: allToggled(state.ticked, matches) };
    default:
      return state;
  }
}

const PAGE = 10;

function typeFilter(state: ListState, input: string, key: ListKey): ListState {
  if (key.escape) return { ...state, filtering: false, filter: "", cursor: 0 };
  if (key.return) return { ...state, filtering: false };
  return { ...state, filter: typeInto(state.filter, input, key).text, cursor: 0 };
}

function accept({ single }: ListQuestion, state: ListState, matches: readonly number[]): ListState {
  const chosen = matches[state.cursor];
  if (single) return chosen === undefined ? state : { ...state, answer: [chosen] };
  return state.ticked.size === 0
    ? { ...state, hint: "Nothing is selected: press Space to select, or q to quit." }
    : { ...state, answer: [...state.ticked].sort((a, b) => a - b) };
}

function toggled(ticked: ReadonlySet<number>, index: number | undefined): ReadonlySet<number> {
  const next = new Set(ticked);
  if (index !== undefined && !next.delete(index)) next.add(index);
  return next;
}

/** Ticks all of these, or if they are ticked already, none. */
function allToggled(ticked: ReadonlySet<number>, matches: readonly number[]): ReadonlySet<number> {
  const next = new Set(ticked);
  const isAll = matches.every((index) => ticked.has(index));
  for (const index of matches) {
    if (isAll) next.delete(index);
    else next.add(index);
  }
  return next;
}

/** Lines besides the title and the items: filter, keys, and two of the terminal that stay free. */
const OTHER_LINES = 4;

/** Returns the lines of a list, fewer than the window has, with the cursor's item in sight. */
export function listLines(
  question: ListQuestion,
  state: ListState,
  size: Size,
  style: Style,
): readonly string[] {
  const { columns } = size;
  const { title, choices, single } = question;
  const matches = matching(question, state.filter);
  const count = single ? "" : ` (${state.ticked.size} of ${choices.length} ticked)`;
  const titles = titleLines([title, style.bold], [count], columns).slice(
    0,
    Math.max(size.rows - OTHER_LINES - 1, 1),
  );
  const isBelow = single === true && columns < NARROW;
  const height = Math.max(Math.floor((size.rows - OTHER_LINES - titles.length) / (isBelow ? 2 : 1)), 1);
  const first = Math.min(Math.max(state.cursor - height + 1, 0), Math.max(matches.length - height, 0));
  const visible = matches.slice(first, first + height);
  const widest = Math.max(0, ...choices.map(({ label }) => widthOf(shown(label))));
  const labelColumns = Math.min(widest, Math.max(Math.floor(columns / 2), 12));
  const items = visible.flatMap((index, row) => {
    const { label, note = "" } = choices[index] as Choice;
    const isCursor = first + row === state.cursor;
    const box = single ? "" : state.ticked.has(index) ? "[x] " : "[ ] ";
    const isBeside = note !== "" && !isBelow;
    const item = line(
      [
        [isCursor ? "> " : "  ", style.cyan],
        [box, state.ticked.has(index) ? style.green : undefined],
        [isBeside ? padded(shown(label), labelColumns) : shown(label), isCursor ? style.bold : undefined],
        [isBeside ? `  ${shown(note)}` : "", style.dim],
      ],
      columns,
    );
    return isBelow && note !== "" ? [item, line([["    "], [shown(note), style.dim]], columns)] : [item];
  });
  const keys = single ? SINGLE_KEYS : columns < NARROW ? NARROW_LIST_KEYS : LIST_KEYS;
  return [
    ...titles,
    ...(matches.length === 0 ? [cutTo("  Nothing matches the filter.", columns)] : items),
    ...(state.filtering || state.filter !== ""
      ? [line([["/", style.cyan], [shown(state.filter)], [state.filtering ? "_" : "", style.cyan]], columns)]
      : []),
    line([[state.hint === "" ? keys : state.hint, state.hint === "" ? style.dim : style.yellow]], columns),
  ].slice(0, Math.max(size.rows - 1, 1));
}

/** Minimum width for notes beside the choices of a list, in cells; below it they have lines of their own. */
const NARROW = 60;

const LIST_KEYS = "space tick · a all · / filter · enter · q leave";
const NARROW_LIST_KEYS = "space tick, a all, / filter, enter, q";
const SINGLE_KEYS = "↑↓ move · enter choose · q leave";

/** Asks for items of a list on the whole screen; resolves to their indexes, or null if the list was left. */
export async function askList(
  question: ListQuestion,
  style: Style,
  { stdin, stderr }: Terminal,
): Promise<readonly number[] | null> {
  let answer: readonly number[] | null = null;
  const app = render(
    <List
      question={question}
      style={style}
      onAnswer={(chosen) => {
        answer = chosen;
      }}
    />,
    { stdin, stdout: secondScreen(stderr), exitOnCtrlC: false, patchConsole: false },
  );
  await app.waitUntilExit();
  return answer;
}

interface ListProps {
  readonly question: ListQuestion;
  readonly style: Style;
  /** Called once. */
  readonly onAnswer: (chosen: readonly number[] | null) => void;
}

/** Shows a list until it is answered or left. */
export function List({ question, style, onAnswer }: ListProps): ReactNode {
  const { exit } = useApp();
  const size = useSize();
  const [drawn, setDrawn] = useState(() => initialListState(question));
  // Several pieces of input may come before the next drawing, so the state itself is not React's.
  const state = useRef(drawn);
  useInput((input, key) => {
    const pieces = input.length > 1 && !key.ctrl ? [...input] : [input];
    for (const piece of pieces) {
      if (state.current.answer !== undefined) return;
      const isReturn = key.return || piece === "\r" || piece === "\n";
      state.current = pressInList(question, state.current, piece, { ...key, return: isReturn });
    }
    setDrawn(state.current);
    if (state.current.answer !== undefined) onAnswer(state.current.answer);
  });
  useEffect(() => {
    if (drawn.answer !== undefined) exit();
  }, [drawn, exit]);
  return <Frame lines={listLines(question, drawn, size, style)} />;
}

/** Returns the lines that stay of a list after its answer. */
export function answerLines(
  { title, choices, single }: ListQuestion,
  answer: readonly number[] | null,
  style: Style,
): readonly string[] {
  const { columns } = style;
  const labels = (answer ?? []).map((index) => shown(choices[index]?.label ?? ""));
  const text =
    answer === null
      ? "left"
      : single || labels.length <= FEW_LABELS
        ? labels.join(", ")
        : `${labels.length} of ${choices.length}`;
  return titleLines([`${title} `], [text, style.bold], columns);
}

/** Returns a title and what follows it, on several lines only if they do not fit on one. */
function titleLines(title: Piece, rest: Piece, columns: number): readonly string[] {
  const text = `${title[0]}${rest[0]}`;
  if (widthOf(text) <= columns) return [line([title, rest], columns)];
  return wrapText(text, columns).map((wrapped) => line([[wrapped]], columns));
}

type Piece = Parameters<typeof line>[0][number];

const FEW_LABELS = 3;
