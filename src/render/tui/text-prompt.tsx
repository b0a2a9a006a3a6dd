import { Box, render, Text, useApp, useInput } from "ink";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { oneLine } from "../../lib/escape.ts";
import type { Style } from "../style.ts";
import type { Terminal } from "./browse/browser.tsx";
import { type Line, shown, typeInto } from "./terminal-text.ts";

/** A question that is answered by typing one exact word. */
export interface Question {
  /** The consequences, one line each. */
  readonly lines: readonly string[];
  /** The text to type to continue. */
  readonly answer: string;
}

/** Asks on a terminal; resolves to true only for the exact answer. */
export async function confirm(
  question: Question,
  style: Style,
  stdout: NodeJS.WriteStream,
): Promise<boolean> {
  let typed: string | null = null;
  const app = render(
    <Prompt
      question={question}
      style={style}
      onAnswer={(text) => {
        typed = text;
      }}
    />,
    { stdout, exitOnCtrlC: true },
  );
  await app.waitUntilExit();
  return typed === question.answer;
}

/** The properties of the prompt. */
export interface PromptProps {
  readonly question: Question;
  /** Ink's own colours know nothing of NO_COLOR and `--no-color`. */
  readonly style: Style;
  /** Receives the typed text, or `null` if the dialog was closed; called once. */
  readonly onAnswer: (text: string | null) => void;
}

/** Returns the reply to an answer; empty for the right one. */
function reply({ state, text }: Line, answer: string): string {
  if (state === "left") return "Cancelled.";
  return text.trim() === answer ? "" : "Not confirmed.";
}

/** Shows the question and reads one line; Escape, Ctrl-C and Ctrl-D cancel. */
export function Prompt({ question, style, onAnswer }: PromptProps): ReactNode {
  const { exit } = useApp();
  const [drawn, setDrawn] = useState<Line>({ state: "open", text: "" });
  // Several pieces of input may come before the next drawing, so the line itself is not React's.
  const line = useRef(drawn);
  useInput((input, key) => {
    if (line.current.state !== "open") return;
    line.current = typeInto(line.current.text, input, key);
    setDrawn(line.current);
    if (line.current.state !== "open") {
      onAnswer(line.current.state === "sent" ? line.current.text.trim() : null);
    }
  });
  // After the drawing, so that what was typed stays on the screen.
  useEffect(() => {
    if (drawn.state !== "open") exit();
  }, [drawn, exit]);
  const [first, ...rest] = question.lines;
  return (
    <Box flexDirection="column" marginTop={1}>
      <Text>{style.bold(first ?? "")}</Text>
      {rest.map((text) => (
        <Text key={text}>{text}</Text>
      ))}
      <Text>
        Type {style.yellow(question.answer)} to continue; anything else cancels: {oneLine(drawn.text)}
        {drawn.state === "open" && "_"}
      </Text>
      {drawn.state !== "open" && <Text>{reply(drawn, question.answer)}</Text>}
    </Box>
  );
}

/** A question with a line of text as its answer. */
export interface TextQuestion {
  readonly title: string;
  readonly initial: string;
  /** Returns why a text is no answer; null if it is one. */
  readonly problem: (text: string) => string | null;
}

/** Asks for a line of text; resolves to null if the question was left. */
export async function askText(
  question: TextQuestion,
  style: Style,
  { stdin, stderr }: Terminal,
): Promise<string | null> {
  let answer: string | null = null;
  const app = render(
    <TextPrompt
      question={question}
      style={style}
      onAnswer={(text) => {
        answer = text;
      }}
    />,
    { stdin, stdout: stderr, exitOnCtrlC: false, patchConsole: false },
  );
  await app.waitUntilExit();
  return answer;
}

interface TextPromptProps {
  readonly question: TextQuestion;
  readonly style: Style;
  /** Called once, with the trimmed text, or null if the question was cancelled. */
  readonly onAnswer: (text: string | null) => void;
}

/** Shows a question and reads one line; an answer with a problem is asked for again. */
export function TextPrompt({ question, style, onAnswer }: TextPromptProps): ReactNode {
  const { exit } = useApp();
  const [drawn, setDrawn] = useState({ text: question.initial, problem: "", done: false, left: false });
  const state = useRef(drawn);
  useInput((input, key) => {
    if (state.current.done) return;
    const next = typeInto(state.current.text, input, key);
    const text = next.text.trim();
    const problem = next.state === "sent" ? question.problem(text) : null;
    const done = next.state === "left" || (next.state === "sent" && problem === null);
    state.current = { text: next.text, problem: problem ?? "", done, left: next.state === "left" };
    setDrawn(state.current);
    if (done) onAnswer(next.state === "left" ? null : text);
  });
  useEffect(() => {
    if (drawn.done) exit();
  }, [drawn, exit]);
  return (
    <Box flexDirection="column">
      <Text>
        {question.title} {style.bold(shown(drawn.text))}
        {!drawn.done && "_"}
        {drawn.left && " left"}
      </Text>
      {drawn.problem !== "" && <Text>{style.yellow(drawn.problem)}</Text>}
    </Box>
  );
}
