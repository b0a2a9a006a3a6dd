import { render } from "ink-testing-library";
import { expect, test } from "vitest";
import { PLAIN } from "../../../src/render/style.ts";
import { TextPrompt } from "../../../src/render/tui/text-prompt.tsx";
import { eventually } from "../../support/eventually.ts";

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
