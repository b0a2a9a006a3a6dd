import { Box, render, useApp, useInput } from "ink";
import { type ReactNode, useEffect, useRef, useState } from "react";
import stringWidth from "string-width";
import type { Style } from "../../style.ts";
import { wrapText } from "../../text/wrap.ts";
import { type Size, secondScreen, shown } from "../second-screen.ts";
import { type Piece, TextLine, Theme, Words } from "../theme.tsx";
import { type Key as TextKey, typeInto } from "../typing.ts";
import { useSize } from "../use-size.ts";
import type { Terminal } from "./browser.tsx";

/** An item of a list to choose from; `note` stands beside it, dimmed. */
export interface Choice {
  readonly label: string;
  readonly note?: string;
}

/** A list in which items can be selected, or with `single`, only one. */
export interface ListQuestion {
  readonly title: string;
  readonly choices: readonly Choice[];
  readonly single?: true;
  /** Indexes of the items that are selected initially; with `single`, of the item under the cursor. */
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

/** The keys of a list other than text. */
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

/** Returns the indexes of the choices that contain the filter's text, ignoring case. */
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

/** Selects all of these or, if they are already selected, none. */
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

/** A list with its title, the filter and the keys, lower than the window, with the cursor's item in sight. */
export function Checklist({
  question,
  state,
  size: { columns, rows },
}: {
  readonly question: ListQuestion;
  readonly state: ListState;
  readonly size: Size;
}): ReactNode {
  const { title, choices, single } = question;
  const matches = matching(question, state.filter);
  const count = single ? "" : ` (${state.ticked.size} of ${choices.length} ticked)`;
  const titles = titleLines([title, "bold"], [count], columns).slice(0, Math.max(rows - OTHER_LINES - 1, 1));
  const isBelow = single === true && columns < NARROW;
  const height = Math.max(Math.floor((rows - OTHER_LINES - titles.length) / (isBelow ? 2 : 1)), 1);
  const first = Math.min(Math.max(state.cursor - height + 1, 0), Math.max(matches.length - height, 0));
  const visible = matches.slice(first, first + height);
  const widest = Math.max(0, ...choices.map(({ label }) => stringWidth(shown(label))));
  const labelColumns = Math.min(widest, Math.max(Math.floor(columns / 2), 12));
  const keys = single ? SINGLE_KEYS : columns < NARROW ? NARROW_LIST_KEYS : LIST_KEYS;
  return (
    <Box flexDirection="column" width={columns} height={Math.max(rows - 1, 1)} overflow="hidden">
      {titles.map((pieces) => (
        <TextLine key={pieces.join()} pieces={pieces} />
      ))}
      {matches.length === 0 && <TextLine pieces={[["  Nothing matches the filter."]]} />}
      {visible.map((index, row) => (
        <Item
          key={index}
          choice={choices[index] as Choice}
          isTicked={single ? null : state.ticked.has(index)}
          isHere={first + row === state.cursor}
          labelColumns={isBelow ? null : labelColumns}
        />
      ))}
      {(state.filtering || state.filter !== "") && (
        <TextLine pieces={[["/", "cyan"], [state.filter], [state.filtering ? "_" : "", "cyan"]]} />
      )}
      <TextLine pieces={[state.hint === "" ? [keys, "dim"] : [state.hint, "yellow"]]} />
    </Box>
  );
}

/** An item, with its note beside it, or below it if there is no column for labels. */
function Item({
  choice: { label, note = "" },
  isTicked,
  isHere,
  labelColumns,
}: {
  readonly choice: Choice;
  /** `null` in a list with a single choice. */
  readonly isTicked: boolean | null;
  readonly isHere: boolean;
  readonly labelColumns: number | null;
}): ReactNode {
  const box = isTicked === null ? "" : isTicked ? "[x] " : "[ ] ";
  const name = <Words pieces={[[label, isHere ? "bold" : undefined]]} />;
  const isBeside = labelColumns !== null && note !== "";
  return (
    <Box flexDirection="column" flexShrink={0}>
      <Box height={1}>
        <Box flexShrink={0}>
          <Words
            pieces={[
              [isHere ? "> " : "  ", "cyan"],
              [box, isTicked ? "green" : undefined],
            ]}
          />
        </Box>
        {isBeside ? (
          <Box width={labelColumns} flexShrink={0}>
            {name}
          </Box>
        ) : (
          name
        )}
        {isBeside && <Words pieces={[[`  ${note}`, "dim"]]} />}
      </Box>
      {!isBeside && note !== "" && <TextLine pieces={[[`    ${note}`, "dim"]]} />}
    </Box>
  );
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
    <Theme value={style}>
      <List
        question={question}
        onAnswer={(chosen) => {
          answer = chosen;
        }}
      />
    </Theme>,
    { stdin, stdout: secondScreen(stderr), exitOnCtrlC: false, patchConsole: false },
  );
  await app.waitUntilExit();
  return answer;
}

interface ListProps {
  readonly question: ListQuestion;
  /** Called once. */
  readonly onAnswer: (chosen: readonly number[] | null) => void;
}

/** Shows a list until it is answered or left. */
export function List({ question, onAnswer }: ListProps): ReactNode {
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
  return <Checklist question={question} state={drawn} size={size} />;
}

/** Returns the lines that remain on the screen after a list is answered. */
export function answerLines(
  { title, choices, single }: ListQuestion,
  answer: readonly number[] | null,
  style: Style,
): readonly string[] {
  const labels = (answer ?? []).map((index) => shown(choices[index]?.label ?? ""));
  const text =
    answer === null
      ? "left"
      : single || labels.length <= FEW_LABELS
        ? labels.join(", ")
        : `${labels.length} of ${choices.length}`;
  return titleLines([`${shown(title)} `], [text, "bold"], style.columns).map((pieces) =>
    pieces.map(([part, tone]) => (tone === undefined ? part : style[tone](part))).join(""),
  );
}

/** Returns a title and what follows it, on several lines only if they do not fit on one. */
function titleLines(title: Piece, rest: Piece, columns: number): readonly (readonly Piece[])[] {
  const text = `${title[0]}${rest[0]}`;
  return stringWidth(text) <= columns
    ? [[title, rest]]
    : wrapText(text, columns).map((wrapped) => [[wrapped]]);
}

const FEW_LABELS = 3;
