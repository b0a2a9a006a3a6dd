import { Box, render, Text, useApp, useInput } from "ink";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { oneLine } from "../../lib/escape.ts";
import type { Style } from "../style.ts";
import { type Line, typeInto } from "./terminal-text.ts";

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
  const [shown, setShown] = useState<Line>({ state: "open", text: "" });
  // Several pieces of input may come before the next drawing, so the line itself is not React's.
  const line = useRef(shown);
  useInput((input, key) => {
    if (line.current.state !== "open") return;
    line.current = typeInto(line.current.text, input, key);
    setShown(line.current);
    if (line.current.state !== "open") {
      onAnswer(line.current.state === "sent" ? line.current.text.trim() : null);
    }
  });
  // After the drawing, so that what was typed stays on the screen.
  useEffect(() => {
    if (shown.state !== "open") exit();
  }, [shown, exit]);
  const [first, ...rest] = question.lines;
  return (
    <Box flexDirection="column" marginTop={1}>
      <Text>{style.bold(first ?? "")}</Text>
      {rest.map((text) => (
        <Text key={text}>{text}</Text>
      ))}
      <Text>
        Type {style.yellow(question.answer)} to continue; anything else cancels: {oneLine(shown.text)}
        {shown.state === "open" && "_"}
      </Text>
      {shown.state !== "open" && <Text>{reply(shown, question.answer)}</Text>}
    </Box>
  );
}
