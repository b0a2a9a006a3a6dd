import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parseMerchantFile } from "../../../src/index.ts";
import { describeProblems } from "../../../src/kernel/messages/describe-problems.ts";
import { FILE_MESSAGES } from "../../../src/kernel/messages/file-messages.ts";
import { toDiagnostics } from "../../../src/kernel/messages/to-diagnostics.ts";
import { inFile } from "../../../src/kernel/problems/in-file.ts";
import { loadMerchants } from "../../../src/kernel/read/load-merchants.ts";
import type { ReadResult } from "../../../src/kernel/read/load-sources.ts";
import { locationOfAcross, resultsAcross } from "../../../src/kernel/rules/across-merchants.ts";
import { diagnosticTable } from "../../../src/kernel/rules/every-rule.ts";
import { judgeDeclared } from "../../../src/kernel/rules/judge-rules.ts";
import { parse } from "../../../src/kernel/yaml/to-value.ts";
import { desired, member, NO_POLICIES } from "../../support/build.ts";
import { cases, folder, NOW, run } from "./support/cases.ts";
import { print } from "./support/print.ts";

describe("what a user reads about files with mistakes", () => {
  test.each(cases)("%s", async (name) => {
    const diagnostics = await run(name);
    expect(diagnostics).not.toHaveLength(0);
    await expect(print(diagnostics)).toMatchFileSnapshot(`${folder}${name.replace(/\.yaml$/, "")}.out`);
  });

  const head = "version: 1\nmerchant: MC4F7K2P\n";
  test.each([
    ["file-too-large", " ".repeat(32 * 1024 * 1024 + 1)],
    ["too-many-checks", `${head}checks: [${"{ can: a, at_most: 1 }, ".repeat(1001)}]`],
    [
      "too-much-to-judge",
      `${head}roles: [{ name: A }]
policies: { separate: [${Array.from({ length: 15_000 }, (_, i) => `[A, role_${i}]`).join(", ")}] }
members: [${Array.from({ length: 1500 }, (_, i) => `{ email: u${i}@example.com, roles: [A] }`).join(",")}]`,
    ],
    [
      "too-many-includes",
      `${head}include: [${Array.from({ length: 101 }, (_, i) => `${i}.yaml`).join(", ")}]`,
    ],
    ["too-many-wrong-values", `${head}roles: [${"1,".repeat(200_000)}]`],
    ["too-many-problems", `${head}${Array.from({ length: 1001 }, (_, i) => `key-${i}: 1\n`).join("")}`],
  ])("%s, in a file that is too large to keep", async (code, text) => {
    const { diagnostics } = parseMerchantFile(`${code}.yaml`, text, { now: NOW });
    const about = diagnostics.filter((each) => each.code === code);
    expect(about).toHaveLength(1);
    await expect(print(about)).toMatchFileSnapshot(`${folder}large/${code}.out`);
  });

  test("file-too-long, with a smaller limit", async () => {
    const { problems } = parse(`${head}roles: [a, b, c]`, 10);
    const located = problems.map((problem) => inFile("file-too-long.yaml", problem));
    await expect(print(toDiagnostics(new Map(), located, FILE_MESSAGES))).toMatchFileSnapshot(
      `${folder}large/file-too-long.out`,
    );
  });

  test.each(["too-large", "unreadable"] as const)("a file that is %s", async (reason) => {
    const read = (path: string): Promise<ReadResult> =>
      Promise.resolve(
        path === "a.yaml"
          ? { ok: true, file: path, text: `${head}include: [b.yaml]\n` }
          : { ok: false, reason },
      );
    const { diagnostics, merchants } = await loadMerchants(["a.yaml", "c.yaml"], read, {
      now: NOW,
      judge: judgeDeclared,
    });
    expect(merchants.map(({ state }) => state)).toEqual([null, null]);
    await expect(print(diagnostics)).toMatchFileSnapshot(`${folder}large/read-${reason}.out`);
  });
});

test("a link that is not read is a warning without a place in a text", async () => {
  const diagnostics = toDiagnostics(
    new Map(),
    (["broken", "outside", "folder"] as const).map((why) => {
      const location = { at: "file", file: `access/${why}.yaml` } as const;
      return { code: "link-not-read", why, location };
    }),
    FILE_MESSAGES,
  );
  await expect(print(diagnostics)).toMatchFileSnapshot(`${folder}large/link-not-read.out`);
});

test("rules across merchants are located in the project's file, whoever breaks them", async () => {
  const text = "version: 1\nacross_merchants:\n  max_holders: { role_admin: 1 }\n";
  const state = (merchant: string) =>
    desired({
      merchant,
      members: [member(`${merchant}@example.com`, { roles: ["role_admin"] })],
      projects: [
        {
          across: {
            policies: { ...NO_POLICIES, maxHolders: { role_admin: 1 } },
            checks: [],
            origin: { file: "rolecall.yaml", path: ["across_merchants"] },
          },
        },
      ],
    });
  const broken = resultsAcross([], ["MC1", "MC2"].map(state), NOW, "plan").flatMap((rule) =>
    rule.broken.map(({ refusal: { message, hint } }) => {
      const location = locationOfAcross(rule);
      return { code: "across-merchants", message, hint, location } as const;
    }),
  );
  const diagnostics = describeProblems(new Map([["rolecall.yaml", text]]), [
    ...broken,
    {
      code: "across-not-counted",
      files: ["access/a.yaml"],
      location: { at: "key", file: "rolecall.yaml", path: ["across_merchants"] },
    },
  ]);
  await expect(print(diagnostics)).toMatchFileSnapshot(`${folder}large/across-merchants.out`);
});

test("every diagnostic that there is is shown by one of these files", () => {
  const shown = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".out"))
    .flatMap((name) => readFileSync(`${folder}${name}`, "utf8").split("\n"))
    .map((line) => /^\S+ (?:error|warning) (\S+)$/.exec(line)?.[1]);
  expect(diagnosticTable().map(({ code }) => code)).toEqual([...new Set(shown)].filter(Boolean).toSorted());
});
