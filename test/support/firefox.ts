import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { WebSocket } from "undici";

const KNOWN = [process.env["FIREFOX"], "/usr/bin/firefox-esr", "/usr/bin/firefox"];

/** Where Firefox is; null where there is none. In CI that is an error. */
export function findFirefox(): string | null {
  const found = KNOWN.find((path) => path !== undefined && path !== "" && existsSync(path)) ?? null;
  if (found === null && process.env["CI"] === "true") {
    throw new Error("No Firefox was found. Install Debian's firefox-esr, or name one in FIREFOX.");
  }
  return found;
}

/** A page in a Firefox of its own. */
export interface FirefoxPage {
  /** Writes a page and opens it; `hash` is the link within it. */
  open(html: string, hash?: string): Promise<void>;
  /** Runs an expression in the page. */
  evaluate(expression: string): Promise<unknown>;
  /** Prints the page as somebody would. */
  pdf(): Promise<Buffer>;
  close(): Promise<void>;
}

interface Reply {
  readonly id: number;
  readonly type: "success" | "error";
  readonly message?: string;
  // biome-ignore lint/suspicious/noExplicitAny: the results of the protocol's commands differ.
  readonly result: any;
}

/** Starts a stock Firefox and speaks WebDriver BiDi with it, of which Playwright has only that of its own builds. */
export async function openFirefox(path: string): Promise<FirefoxPage> {
  const folder = await mkdtemp(join(tmpdir(), "rolecall-firefox-"));
  const browser = spawn(
    path,
    ["--headless", "--no-remote", "--remote-debugging-port", "0", "--profile", folder],
    { stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, HOME: folder } },
  );
  const socket = new WebSocket(`${await addressOf(browser)}/session`);
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve);
    socket.addEventListener("error", reject);
  });
  const waiting = new Map<number, (reply: Reply) => void>();
  socket.addEventListener("message", ({ data }) => {
    const reply = JSON.parse(String(data)) as Reply;
    waiting.get(reply.id)?.(reply);
  });
  let last = 0;
  const send = async (method: string, params: object): Promise<Reply["result"]> => {
    last += 1;
    const id = last;
    const reply = await new Promise<Reply>((resolve) => {
      waiting.set(id, resolve);
      socket.send(JSON.stringify({ id, method, params }));
    });
    if (reply.type === "error") throw new Error(`${method}: ${reply.message}`);
    return reply.result;
  };
  await send("session.new", { capabilities: {} });
  const { contexts } = await send("browsingContext.getTree", {});
  const { context } = contexts[0];
  const file = join(folder, "page.html");
  return {
    async open(html, hash = "") {
      await writeFile(file, html);
      await send("browsingContext.navigate", { context, url: "about:blank", wait: "complete" });
      await send("browsingContext.navigate", {
        context,
        url: pathToFileURL(file).href + hash,
        wait: "complete",
      });
    },
    async evaluate(expression) {
      const { result } = await send("script.evaluate", {
        expression,
        target: { context },
        awaitPromise: true,
      });
      return result.value;
    },
    async pdf() {
      const { data } = await send("browsingContext.print", { context });
      return Buffer.from(data, "base64");
    },
    async close() {
      const ended = new Promise((resolve) => browser.once("exit", resolve));
      socket.close();
      browser.kill();
      await ended;
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Returns the address that Firefox prints when it is ready. */
async function addressOf(browser: ChildProcess): Promise<string> {
  let said = "";
  return await new Promise((resolve, reject) => {
    browser.once("exit", (code) => reject(new Error(`Firefox ended with ${code}: ${said}`)));
    browser.stderr?.on("data", (chunk) => {
      said += String(chunk);
      const address = /WebDriver BiDi listening on (ws:\/\/\S+)/.exec(said)?.[1];
      if (address !== undefined) resolve(address);
    });
  });
}
