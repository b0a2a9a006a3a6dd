import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core";

const KNOWN = [
  process.env["CHROMIUM"],
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Where a browser is; null where there is none. In CI that is an error: the pages have to be looked at somewhere. */
export function findBrowser(): string | null {
  const found = KNOWN.find((path) => path !== undefined && path !== "" && existsSync(path)) ?? null;
  if (found === null && process.env["CI"] === "true") {
    throw new Error(
      "No browser was found. Install Debian's chromium (apt-get install chromium), or name one in CHROMIUM.",
    );
  }
  return found;
}

/** A page in a browser of its own, and what it did. */
export interface OpenPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Addresses that it asked for, besides the page itself. */
  readonly requests: readonly string[];
  /** What went wrong in it: errors, violations of its policy. */
  readonly complaints: readonly string[];
  /** Dialogs such as `alert` that it opened. */
  readonly dialogs: readonly string[];
  /** Writes another page and opens that one. */
  open(html: string): Promise<void>;
  close(): Promise<void>;
}

/** Opens a page from a file, as somebody would who was sent it. */
export async function openPage(
  executablePath: string,
  html: string,
  options: BrowserContextOptions = {},
): Promise<OpenPage> {
  const folder = await mkdtemp(join(tmpdir(), "rolecall-page-"));
  const context = await chromium.launchPersistentContext(join(folder, "profile"), {
    executablePath,
    headless: true,
    args: FLAGS,
    timeout: 300_000,
    ...options,
  });
  const page = context.pages()[0] ?? (await context.newPage());
  page.setDefaultTimeout(30_000);
  const url = pathToFileURL(join(folder, "page.html")).href;
  const requests: string[] = [];
  const complaints: string[] = [];
  const dialogs: string[] = [];
  context.on("request", (request) => {
    if (request.url() !== url) requests.push(request.url());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  page.on("dialog", (dialog) => {
    dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  const open = async (text: string): Promise<void> => {
    await writeFile(join(folder, "page.html"), text);
    await page.goto(url);
  };
  await open(html);
  return {
    page,
    context,
    requests,
    complaints,
    dialogs,
    open,
    close: async () => {
      await context.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
