import { execFileSync } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";

interface Step {
  readonly name?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly env?: Readonly<Record<string, string>>;
}

const text = await readFile("examples/github/rolecall-request.yml", "utf8");
const form = parse(await readFile("examples/github/ISSUE_TEMPLATE/request-access.yml", "utf8"));
const [job] = Object.values(parse(text).jobs) as { readonly if: string; readonly steps: readonly Step[] }[];
const stepOf = (name: string): Step => job?.steps.find((step) => step.name === name) ?? {};

let folder = "";

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "rolecall-request-"));
  await mkdir(join(folder, "bin"));
  await stub(
    "gh",
    'printf "%s\\n" "$*" >> gh.log; case "$*" in *collaborators/*) cat permission;; *) for file; do :; done; cat "$file" >> comments;; esac',
  );
  await stub(
    "npx",
    'printf "%s\\0" "$@" > args; cat answer 2> /dev/null; exit "$(cat code 2> /dev/null || echo 0)"',
  );
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

describe("an issue", () => {
  test("becomes the words of one command, with the reason last", async () => {
    await answer("Opened https://example.com/7\n");
    expect(propose(issue())).toBe(0);
    expect(await words()).toEqual([
      "--no-install",
      "rolecall",
      "grant",
      "--pr",
      "--yes",
      "--declared",
      "--no-color",
      "--merchant=MC1",
      "--until=+7d",
      "--reason=Issue #12: Stands in",
      "--",
      "bo@example.com",
      "Cashier",
      "Shift Lead",
    ]);
    expect(propose(issue({ What: "Revoke" }))).toBe(0);
    expect(await words()).toContain("revoke");
    expect((await words()).some((word) => word.startsWith("--until"))).toBe(false);
    expect(propose(issue({ Until: "_No response_" }))).toBe(0);
    expect((await words()).some((word) => word.startsWith("--until"))).toBe(false);
  });

  test.each([
    ["$(touch owned) `touch owned`; touch owned #", "A"],
    ["--yes --file=../x", "B"],
    ["\"'; touch owned; '", "C"],
    ["$IFS&&touch$IFS$9owned;touch owned", "D"],
    ["* ? [a-z] ~ \\n %s", "E"],
    ["-- --pr", "F"],
    ["\u202e::set-output name=x::y", "G"],
  ])("with %s in every field runs nothing, and stays one word a field", async (hostile) => {
    const fields = {
      "E-mail address": hostile,
      Merchant: hostile,
      Roles: hostile,
      Until: hostile,
      Reason: hostile,
    };
    propose(issue(fields));
    const asked = await words();
    expect(asked.slice(-3)).toEqual(["--", hostile, hostile]);
    expect(asked).toContain(`--merchant=${hostile}`);
    expect(asked).toContain(`--until=${hostile}`);
    expect(asked).toContain(`--reason=Issue #12: ${hostile}`);
    expect(asked.length).toBe(13);
    await expect(readFile(join(folder, "owned"))).rejects.toThrow();
  });

  test("is read without the spaces around each field", async () => {
    propose(
      issue({
        "E-mail address": "  bo@example.com ",
        Merchant: "\tMC1 ",
        Roles: " Cashier  ",
        Until: " +7d\t",
        Reason: " a b ",
      }),
    );
    expect((await words()).slice(-6)).toEqual([
      "--merchant=MC1",
      "--until=+7d",
      "--reason=Issue #12: a b",
      "--",
      "bo@example.com",
      "Cashier",
    ]);
  });

  test("cannot set a field twice", async () => {
    propose(`${issue({ Roles: "Cashier" })}\n\n### Merchant\n\nMC2\n\n### Roles\n\nOwner\n`);
    expect(await words()).toContain("--merchant=MC1");
    expect((await words()).slice(-1)).toEqual(["Cashier"]);
  });

  test("without the fields of the form opens nothing", async () => {
    expect(propose("Please make me an owner")).toBe(1);
    expect(propose(issue({ Roles: "_No response_" }))).toBe(1);
    await expect(words()).rejects.toThrow();
  });

  test("gets the answer as a block of code, whatever it says", async () => {
    await answer("refused: @acme/all <script>\r# Heading\n```\n</details>\n");
    await writeFile(join(folder, "code"), "3");
    expect(propose(issue())).toBe(3);
    expect(
      step("Answer in the issue", {
        RESULT: "This request could not be made:",
        ISSUE: "12",
        REPOSITORY: "acme/access",
      }),
    ).toBe(0);
    expect(await readFile(join(folder, "comments"), "utf8")).toBe(
      "This request could not be made:\n\n    refused: @acme/all <script># Heading\n    ```\n    </details>\n",
    );
  });
});

describe("the author and the last editor", () => {
  const check = "Check that the author and the last editor may write";
  const people = { AUTHOR: "ada", EDITOR: "bo", ISSUE: "12", REPOSITORY: "acme/access" };

  test.each([
    ["admin", 0],
    ["write", 0],
    ["read", 1],
    ["none", 1],
    ["", 1],
  ])("with the permission %s", async (permission, code) => {
    await writeFile(join(folder, "permission"), `${permission}\n`);
    expect(step(check, people)).toBe(code);
    const asked = (await readFile(join(folder, "gh.log"), "utf8")).split("\n");
    expect(asked[0]).toBe("api repos/acme/access/collaborators/ada/permission --jq .permission");
    if (code === 0)
      expect(asked[1]).toBe("api repos/acme/access/collaborators/bo/permission --jq .permission");
    else expect(asked[1]).toBe("issue comment 12 --repo acme/access --body-file result.txt");
  });

  test("are checked before anything else, and a failed check serves nobody", async () => {
    expect(job?.steps[0]?.name).toBe(check);
    await stub("gh", "exit 1");
    expect(step(check, people)).toBe(1);
  });
});

test("the form has the fields that the workflow reads, and its label", () => {
  const labels = form.body.flatMap(
    ({ attributes }: { attributes: { label?: string } }) => attributes.label ?? [],
  );
  const { run = "" } = stepOf("Open the pull request");
  const read = [...run.matchAll(/\(field (?:'([^']+)'|(\w+))/g)].map(([, quoted, word]) => quoted ?? word);
  expect([...new Set(read)].sort()).toEqual([...labels].sort());
  expect(job?.if).toContain(`'${form.labels[0]}'`);
});

test("the app's token is for the pull request alone, from the default branch", () => {
  const tokens = job?.steps.filter(({ env }) => env?.["GH_TOKEN"]?.includes("steps.app.outputs.token"));
  expect(tokens?.map(({ name }) => name)).toEqual(["Open the pull request"]);
  expect(text).toMatch(/ref: \$\{\{ github\.event\.repository\.default_branch \}\}\n/);
  expect(text).not.toMatch(/pull_request_target|issue_comment/);
});

/** Returns the body of an issue as GitHub writes it. */
function issue(fields: Readonly<Record<string, string>> = {}): string {
  const all = {
    What: "Grant",
    "E-mail address": "bo@example.com",
    Merchant: "MC1",
    Roles: "Cashier\r\n\r\n  Shift Lead ",
    Until: "+7d",
    Reason: "Stands in",
    ...fields,
  };
  return Object.entries(all)
    .map(([label, value]) => `### ${label}\r\n\r\n${value}`)
    .join("\r\n\r\n");
}

function propose(body: string): number {
  return step("Open the pull request", { BODY: body, ISSUE: "12" });
}

/** Runs the script of a step as a runner does; returns its exit code. */
function step(name: string, env: Readonly<Record<string, string>>): number {
  const PATH = `${join(folder, "bin")}:${process.env["PATH"]}`;
  try {
    execFileSync("bash", ["-e", "-c", stepOf(name).run ?? "exit 99"], {
      cwd: folder,
      env: { ...env, PATH },
      stdio: "ignore",
    });
    return 0;
  } catch (error) {
    return (error as { readonly status: number }).status;
  }
}

async function stub(name: string, script: string): Promise<void> {
  const file = join(folder, "bin", name);
  await writeFile(file, `#!/usr/bin/env bash\n${script}\n`);
  await chmod(file, 0o755);
}

async function answer(text: string): Promise<void> {
  await writeFile(join(folder, "answer"), text);
}

async function words(): Promise<readonly string[]> {
  return (await readFile(join(folder, "args"), "utf8")).split("\0").slice(0, -1);
}
