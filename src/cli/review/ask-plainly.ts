import { createInterface } from "node:readline";
import type { Question } from "./confirmation.ts";

/** Asks on a terminal that cannot be drawn on; true when the exact answer was typed. */
export async function askPlainly(
  { lines, answer }: Question,
  input: NodeJS.ReadStream,
  output: NodeJS.WritableStream,
): Promise<boolean> {
  const reader = createInterface({ input, output });
  output.write(`\n${lines.join("\n")}\n`);
  const typed = await new Promise<string | null>((resolve) => {
    reader.on("SIGINT", () => resolve(null));
    reader.on("close", () => resolve(null));
    reader.question(`Type ${answer} to continue; anything else cancels: `, resolve);
  });
  reader.close();
  if (typed !== null && typed.trim() !== answer) output.write(`Not confirmed.\n`);
  return typed?.trim() === answer;
}
