import { render } from "ink-testing-library";
import { expect, test } from "vitest";
import { PLAIN } from "../../../src/render/style.ts";
import { Prompt, TextPrompt } from "../../../src/render/tui/text-prompt.tsx";
import { eventually } from "../../support/eventually.ts";

const QUESTION = {
  lines: ["11 changes at MC1, 3 of them removals.", "It is not a test account."],
  answer: "MC1",
};

interface Asked {
  readonly stdin: { write(keys: string): void };
  readonly frame: () => string | undefined;
  readonly answers: readonly (string | null)[];
}

function ask(): Asked {
  const answers: (string | null)[] = [];
  const { stdin, lastFrame } = render(
    <Prompt question={QUESTION} style={PLAIN} onAnswer={(text) => answers.push(text)} />,
  );
  return { stdin, frame: lastFrame, answers };
}

/** Types when Ink listens for keys, which it does only after its first effects have run. */
async function type({ stdin, frame }: Asked, text: string): Promise<void> {
  await eventually(() => {
    stdin.write("x");
    expect(frame()).toContain("cancels: x");
  });
  stdin.write("\u0015");
  stdin.write(text);
  await eventually(() => expect(frame()).toMatch(new RegExp(`cancels: ${text}(?!x)`)));
}

test("the prompt says what will happen and what has to be typed", () => {
  const { frame } = ask();
  expect(frame()).toContain(
    "11 changes at MC1, 3 of them removals.\nIt is not a test account.\nType MC1 to continue",
  );
});

test("the prompt has the colours that its style has, and no others", () => {
  const style = {
    ...PLAIN,
    bold: (text: string) => `<b>${text}</b>`,
    yellow: (text: string) => `<y>${text}</y>`,
  };
  const coloured = render(
    <Prompt question={QUESTION} style={style} onAnswer={() => undefined} />,
  ).lastFrame();
  expect(coloured).toContain("<b>11 changes at MC1, 3 of them removals.</b>");
  expect(coloured).toContain("Type <y>MC1</y> to continue");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: no escape sequence of Ink's own
  expect(ask().frame()).not.toMatch(/\u001b/);
});

test.each(["yes", "mc1"])("what is typed (%s) is handed on as it is", async (text) => {
  const asked = ask();
  await type(asked, text);
  asked.stdin.write("\r");
  await eventually(() => expect(asked.answers).toEqual([text]));
});

test.each(["MC1\r", "MC1\n", "  MC1  \r"])(
  "what is pasted together with Enter (%j) is an answer",
  async (text) => {
    const asked = ask();
    await eventually(() => {
      if (asked.answers.length === 0) asked.stdin.write(text);
      expect(asked.answers).toEqual(["MC1"]);
    });
    await eventually(() => expect(asked.frame()).toMatch(/cancels: +MC1/));
  },
);

test("an answer is given once, whatever is typed after it", async () => {
  const asked = ask();
  await type(asked, "yes");
  asked.stdin.write("\r");
  asked.stdin.write("MC1\r");
  await eventually(() => expect(asked.answers).toEqual(["yes"]));
});

test("a wrong answer is reported", async () => {
  const asked = ask();
  await type(asked, "yes");
  asked.stdin.write("\r");
  await eventually(() => expect(asked.frame()).toContain("Not confirmed."));
});

test("a mistake can be taken back", async () => {
  const asked = ask();
  await type(asked, "MC2");
  for (const keys of ["\u007f", "1", "\r"]) asked.stdin.write(keys);
  await eventually(() => expect(asked.answers).toEqual(["MC1"]));
});

test.each(["\u001b", "\u0003"])("Escape and Ctrl-C (%j) leave without an answer", async (key) => {
  const asked = ask();
  await type(asked, "MC1");
  asked.stdin.write(key);
  await eventually(() => expect(asked.answers).toEqual([null]));
});

test("a question for text begins with a proposal, and asks again for what is no answer", async () => {
  const answers: (string | null)[] = [];
  const question = {
    title: "Base URL:",
    initial: "http",
    problem: (text: string) => (text === "https" ? null : "That is no URL."),
  };
  const { stdin, lastFrame } = render(
    <TextPrompt question={question} style={PLAIN} onAnswer={(text) => answers.push(text)} />,
  );
  await eventually(() => {
    stdin.write("\r");
    expect(lastFrame()).toContain("That is no URL.");
  });
  stdin.write("s");
  stdin.write("\r");
  await eventually(() => expect(answers).toEqual(["https"]));
});
