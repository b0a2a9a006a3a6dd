import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { rolecall } from "../support/rolecall.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const SCRIPT = join(ROOT, "examples/gitlab/merge-request.mjs");

/** Returns the commands in a pipeline, wherever its keys put them. */
function scriptsIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(scriptsIn);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === "script" || key === "before_script"
      ? [inner].flat().filter((line) => typeof line === "string")
      : scriptsIn(inner),
  );
}

test.each(["gitlab/.gitlab-ci.yml", "azure/azure-pipelines.yml"])(
  "examples/%s runs commands that there are, with options that they have",
  async (path) => {
    const scripts = scriptsIn(parse(readFileSync(join(ROOT, "examples", path), "utf8")));
    const calls = scripts.flatMap((line) =>
      Array.from(line.matchAll(/(?:^|&& )rolecall ([^&|>#]+)/g), ([, args = ""]) => args.trim().split(" ")),
    );
    expect(new Set(calls.map(([command]) => command)).size).toBeGreaterThan(2);
    for (const [command = "", ...args] of calls) {
      const { code, stdout } = await rolecall([command, "--help"]);
      expect([command, code]).toEqual([command, 0]);
      for (const option of args.filter((one) => one.startsWith("-"))) {
        expect(stdout).toMatch(new RegExp(`${option}[ ,]`));
      }
    }
  },
);

test.each(["gitlab/.gitlab-ci.yml", "azure/azure-pipelines.yml"])(
  "examples/%s installs an exact version, plans and applies only what changed, and makes what is due",
  (path) => {
    const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    const scripts = scriptsIn(parse(readFileSync(join(ROOT, "examples", path), "utf8")));
    const installs = scripts.filter((line) => line.startsWith("npm install"));
    expect(new Set(installs)).toEqual(new Set([`npm install --global rolecall@${version}`]));
    const calls = scripts.filter((line) => /^rolecall (plan|apply) /.test(line));
    expect(calls.length).toBeGreaterThan(2);
    for (const call of calls) expect(call).toMatch(/ --changed-since |^rolecall apply --yes --only due /);
    expect(calls.filter((call) => call.includes(" --only due "))).toHaveLength(1);
  },
);

describe("examples/gitlab/merge-request.mjs", () => {
  let folder = "";
  let server: Server;
  let requests: { method: string; path: string; body: string; token: string }[] = [];
  let notes: readonly { id: number; author: { id: number }; body: string }[] = [];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "rolecall-gitlab-"));
    requests = [];
    notes = [];
    server = createServer(async (request, response) => {
      let body = "";
      for await (const chunk of request.setEncoding("utf8")) body += chunk;
      const path = String(request.url).replace("/api/v4", "");
      const token = String(request.headers["private-token"] ?? request.headers["job-token"]);
      requests.push({ method: String(request.method), path, body, token });
      const page = Number(new URL(path, "http://gitlab").searchParams.get("page") ?? 1);
      // Two notes a page.
      const next = page * 2 < notes.length ? String(page + 1) : "";
      const lists: readonly (readonly [RegExp, unknown])[] = [
        [/^\/user$/, { id: 7 }],
        [
          /\/merge_requests$/,
          [
            { iid: 3, state: "closed" },
            { iid: 12, state: "merged" },
          ],
        ],
        [/\/jobs\/artifacts\//, { format: 1 }],
        [/\/notes\?/, notes.slice((page - 1) * 2, page * 2)],
      ];
      const [, value = {}] = lists.find(([pattern]) => pattern.test(path)) ?? [];
      response.writeHead(200, { "x-next-page": next }).end(JSON.stringify(value));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
  });

  afterEach(async () => {
    server.close();
    await rm(folder, { recursive: true });
  });

  async function run(...args: readonly string[]): Promise<number> {
    const env = {
      PATH: process.env["PATH"],
      CI_API_V4_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v4`,
      CI_PROJECT_ID: "42",
      CI_MERGE_REQUEST_IID: "12",
      CI_COMMIT_SHA: "abc",
      CI_JOB_TOKEN: "job",
      GITLAB_NOTE_TOKEN: "note",
    };
    const [code] = await once(spawn(process.execPath, [SCRIPT, ...args], { cwd: folder, env }), "close");
    return code;
  }

  test("writes one note, and edits its own, on whichever page it is", async () => {
    await writeFile(join(folder, "plan.md"), "## a plan\n");
    expect(await run("note", "plan.md")).toBe(0);
    expect(requests.at(-1)).toEqual({
      method: "POST",
      path: "/projects/42/merge_requests/12/notes",
      body: JSON.stringify({ body: "<!-- rolecall -->\n\n## a plan\n" }),
      token: "note",
    });
    notes = [
      { id: 1, author: { id: 9 }, body: "<!-- rolecall -->\n\nforged" },
      { id: 2, author: { id: 7 }, body: "something else" },
      { id: 3, author: { id: 7 }, body: "<!-- rolecall -->\n\nolder" },
    ];
    expect(await run("note", "plan.md")).toBe(0);
    expect(requests.at(-1)).toMatchObject({ method: "PUT", path: "/projects/42/merge_requests/12/notes/3" });
  });

  test("saves the plan of the merged merge request, with the token of the job", async () => {
    expect(await run("approved-plan", "plan.json")).toBe(0);
    expect(await readFile(join(folder, "plan.json"), "utf8")).toBe('{"format":1}');
    expect(requests.at(-1)).toMatchObject({
      path: "/projects/42/jobs/artifacts/refs%2Fmerge-requests%2F12%2Fhead/raw/plan.json?job=plan",
      token: "job",
    });
  });
});
