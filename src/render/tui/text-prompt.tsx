import { Box, render, Text, useApp, useInput } from "ink";
import { type ReactNode, useEffect, useRef, useState } from "react";
import type { Style } from "../style.ts";
import type { Terminal } from "./browse/browser.tsx";
import { shown, typeInto } from "./terminal-text.ts";

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
