import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import type { Io } from "../../../src/app/io/io.ts";
import { chooseConnection, openInterview } from "../../../src/cli/adopt/init-questions.ts";
import { realIo } from "../../support/rolecall.ts";

test("a question fits a narrow terminal, and what is no variable's name is not repeated", async () => {
  const stdin = Object.assign(new PassThrough(), { isTTY: true, ref: () => stdin });
  const answers = ["sk_ada_full", "SHOP_KEY"];
  let screen = "";
  const write = (text: string) => {
    screen += text;
    if (/: $/.test(text)) setImmediate(() => stdin.write(`${answers.shift()}\n`));
  };
  const { io: real } = realIo({
    env: { SHOP_KEY: "sk_test_0", TERM: "xterm", ROLECALL_BASE_URL: "https://api.example.com" },
  });
  const terminal = { ...real.terminal, stdin } as unknown as Io["terminal"];
  const io = { ...real, stdinIsTTY: true, terminal, stderr: { write, isTTY: true, columns: 40 } };
  const options = { color: false, merchant: [], concurrency: 1, maxItems: 1000 };
  const { keySource } = await chooseConnection(options, openInterview(options, io), io);
  expect(keySource).toBe("SHOP_KEY");
  expect(screen).toContain("Name of the variable with the API key\n[ROLECALL_API_KEY]: ");
  expect(screen).toContain("No variable of this name is set.");
  expect(screen).not.toContain("sk_ada");
  // The terminal itself shows the line break that is typed.
  for (const line of screen.split(/\n|(?<=: )/)) expect(line.length).toBeLessThanOrEqual(40);
});
