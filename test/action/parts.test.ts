import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { annotate, type RunnerLog, safeSink } from "../../src/action/context/action-log.ts";
import { passwordsIn, readInputs, secretsIn } from "../../src/action/context/inputs.ts";
import { appliedBody } from "../../src/action/github/comment-body.ts";
import {
  firstSeenLine,
  firstSeenOf,
  parseFirstSeen,
  sameDifferences,
} from "../../src/action/github/drift-issue.ts";
import { withRetries } from "../../src/action/github/retry-request.ts";
import { maskAddresses, maskText } from "../../src/action/review/annotations.ts";
import { loadFiles } from "../../src/action/review/load-and-plan.ts";
import { renderReviewSummary } from "../../src/action/review/publish-plan.ts";
import { planView } from "../../src/show/view/plan-view.ts";
import { desired, live, planOf, role } from "../support/build.ts";
import { createClock } from "../support/clock.ts";
import { testIo } from "../support/io.ts";
import { richPlan } from "../support/rich-plan.ts";

describe("waiting for GitHub", () => {
  const refused = (status: number, headers: Record<string, string> = {}, message = "no") =>
    Object.assign(new Error(message), { status, headers });
  const ask = async (answers: readonly (Error | string)[], repeatable = true) => {
    const clock = createClock(0);
    let at = 0;
    const send = async (): Promise<string> => {
      const answer = answers[Math.min(at++, answers.length - 1)] ?? "";
      if (answer instanceof Error) throw answer;
      return answer;
    };
    const world = { now: clock.now, sleep: clock.sleep, log: () => undefined };
    const result = await withRetries(
      send,
      (error) => error as ReturnType<typeof refused>,
      repeatable,
      world,
    ).catch((error: Error) => error.message);
    return { result, slept: clock.slept, sent: at };
  };

  test("takes as long as GitHub says", async () => {
    const { result, slept } = await ask([refused(403, { "retry-after": "30" }), "done"]);
    expect(result).toBe("done");
    expect(slept).toEqual([30_000]);
    const reset = { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "40" };
    expect((await ask([refused(403, reset), "done"])).slept).toEqual([41_000]);
  });

  test("takes a minute, then two, where a secondary limit does not say, and is bounded", async () => {
    const secondary = refused(403, {}, "You have exceeded a secondary rate limit");
    expect((await ask([secondary, secondary, "done"])).slept).toEqual([60_000, 120_000]);
    const forever = await ask([secondary]);
    expect(forever.result).toContain("secondary");
    expect(forever.slept.reduce((sum, ms) => sum + ms, 0)).toBeLessThanOrEqual(300_000);
    expect((await ask([refused(429, { "retry-after": "3600" })])).slept).toEqual([]);
  });

  test("is not for what is forbidden, nor for a write that may have been done", async () => {
    expect((await ask([refused(403)])).sent).toBe(1);
    expect((await ask([refused(502)], false)).sent).toBe(1);
    expect((await ask([refused(502), "done"])).result).toBe("done");
    expect((await ask([refused(502)])).sent).toBe(5);
  });
});

describe("masked addresses", () => {
  test("show the domain and a first letter, wherever they stand", () => {
    expect(maskText('delete "ada.l+x@shop.example.com", or <bob@example.com>.')).toBe(
      'delete "a***@shop.example.com", or <b***@example.com.>'.replace(".>", ">."),
    );
    expect(maskAddresses({ a: ["x@example.com"], b: { c: 1, d: null } })).toEqual({
      a: ["x***@example.com"],
      b: { c: 1, d: null },
    });
  });

  test("no address gets through in a rich plan", () => {
    const text = JSON.stringify(planView(maskAddresses(richPlan())));
    expect(text).not.toMatch(/[a-z]{2,}@[\w-]+\.[a-z]/);
  });

  test("let none through that anybody may have", () => {
    fc.assert(
      fc.property(fc.emailAddress(), (address) => {
        const local = address.slice(0, address.indexOf("@"));
        fc.pre(local.length > 1 && /^[\w.+-]+$/.test(local));
        expect(maskText(`to ${address}, now`)).not.toContain(address);
      }),
    );
  });
});

describe("the log", () => {
  const logged = (): { readonly lines: string[]; readonly log: RunnerLog } => {
    const lines: string[] = [];
    const add = (level: string) => (text: string) => void lines.push(`${level} ${text}`);
    return {
      lines,
      log: { info: add("info"), error: add("error"), warning: add("warning"), notice: add("notice") },
    };
  };

  test("has no line that the runner takes for a command", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("::", "##[", "\n", "\r", " ", "\u2028", "\u200b", "error", "x")),
        (parts) => {
          const { lines, log } = logged();
          safeSink(log).write(parts.join(""));
          for (const line of lines) {
            const text = line.slice("info ".length);
            expect(text).not.toMatch(/[\r\n]/);
            expect(text.replaceAll(/^[\s\u200b]+/g, "").startsWith("::")).toBe(false);
            expect(text).not.toContain("##[");
          }
        },
      ),
    );
  });

  test("has ten annotations of a level, and a count of the rest", () => {
    const { lines, log } = logged();
    const one = { level: "error", message: "m", hint: null, title: "t", file: null, line: null } as const;
    annotate(
      Array.from({ length: 13 }, () => one),
      log,
    );
    expect(lines).toHaveLength(11);
    expect(lines.at(-1)).toBe("notice 3 more errors: the job summary has all of them.");
  });
});

describe("inputs", () => {
  test("are what action.yml says where nothing is given", () => {
    expect(readInputs({ INPUT_COMMAND: "plan" })).toMatchObject({
      command: "plan",
      paths: ["access"],
      merchants: [],
      scope: "changed",
      refs: "refs/rolecall",
      concurrency: 10,
      maskAddresses: "auto",
    });
  });

  test("take lists by line, and merchants also with spaces and commas", () => {
    const inputs = readInputs({
      INPUT_COMMAND: "plan",
      INPUT_PATHS: "access/a b.yaml\n\naccess/c.yaml",
      INPUT_MERCHANTS: "MC1, MC2 MC3\nMC4",
      "INPUT_API-KEYS": "MC1=sk_test_a\nMC2 = sk_test_b=",
      INPUT_SHARD: "2/5",
    });
    expect(inputs.paths).toEqual(["access/a b.yaml", "access/c.yaml"]);
    expect(inputs.merchants).toEqual(["MC1", "MC2", "MC3", "MC4"]);
    expect([...inputs.apiKeys]).toEqual([
      ["MC1", "sk_test_a"],
      ["MC2", "sk_test_b="],
    ]);
    expect(inputs.shard).toEqual({ index: 2, count: 5 });
  });

  test.each([
    [{ INPUT_COMMAND: "plan", INPUT_SHARD: "6/5" }, "shard"],
    [{ INPUT_COMMAND: "plan", INPUT_CONCURRENCY: "0" }, "concurrency"],
    [{ INPUT_COMMAND: "plan", INPUT_REFS: "refs/heads/main" }, "refs"],
    [{ INPUT_COMMAND: "plan", INPUT_REFS: "refs/x/../heads" }, "refs"],
    [{ INPUT_COMMAND: "plan", INPUT_SCOPE: "some" }, "scope"],
    [{}, "command"],
  ])("that are wrong are named: %o", (env, name) => {
    expect(() => readInputs(env)).toThrow(name);
  });

  test("passwords are given with a name, one per line; an error shows neither", () => {
    const read = (passwords: string) => readInputs({ INPUT_COMMAND: "apply", INPUT_PASSWORDS: passwords });
    expect([...read("TILL_1=a=b c==\r\n\n  _2=p\nTILL_1=a=b c==").passwords]).toEqual([
      ["TILL_1", "a=b c=="],
      ["_2", "p"],
    ]);
    for (const [text, message] of [
      ["TILL_1=ok\nc2VjcmV0", "Line 2 of the input passwords is not NAME=password."],
      ["c2VjcmV0-c2VjcmV0==", "Line 1 of the input passwords is not NAME=password."],
      ["TILL_1=", "Line 1 of the input passwords is not NAME=password."],
      ["TILL_1= hunter22\nX=y", "Line 1 of the input passwords has spaces around its password."],
      ["GITHUB_TOKEN=hunter22", "Line 1 of the input passwords names a variable of the runner."],
      ["TILL_1=a\nTILL_2=b\nTILL_1=c", "Line 3 of the input passwords has the same name as line 1."],
    ] as const)
      expect(() => read(text)).toThrow(message);
    const masked = passwordsIn({ INPUT_PASSWORDS: "TILL_1=a=b c==\nhunter22\nX= =\n=" });
    expect(masked).toEqual(["TILL_1=a=b c==", "a=b c==", "hunter22", "X= ="]);
  });

  test("that are secret are all known before anything is checked", () => {
    const env = {
      "INPUT_API-KEYS": "MC1=one\nnonsense",
      "INPUT_API-KEY": "two",
      "INPUT_GITHUB-TOKEN": "three",
      ROLECALL_API_KEY_MC2: "four",
    };
    expect(secretsIn(env)).toEqual(expect.arrayContaining(["one", "two", "three", "four", "nonsense"]));
  });
});

describe("what an issue remembers", () => {
  const DIFFERENCES = ["MC1:0123456789abcdef", "MC_2-x:fedcba9876543210"];

  test("is when each difference was first seen", () => {
    const first = firstSeenOf(DIFFERENCES, new Map(), 1_000_000);
    const body = `<!-- marker -->\n${firstSeenLine(first)}\n\ntext`;
    expect(parseFirstSeen(body)).toEqual(first);
    expect(sameDifferences(body, first)).toBe(true);
    const later = firstSeenOf(
      [...DIFFERENCES.slice(1), "MC3:0000000000000000"],
      parseFirstSeen(body),
      9_000_000,
    );
    expect(sameDifferences(body, later)).toBe(false);
    expect([...later.values()]).toEqual([1_000_000, 9_000_000]);
  });

  test("is nothing where somebody has changed the text, and never too long", () => {
    expect(parseFirstSeen("<!-- rolecall:first-seen:1 MC1:x=1 -->").size).toBe(0);
    const many = Array.from({ length: 5000 }, (_, index) => `MC1:${index.toString(16).padStart(16, "0")}`);
    const line = firstSeenLine(firstSeenOf(many, new Map(), Date.parse("2026-11-21")));
    expect(line.length).toBeLessThan(20_000);
    expect(sameDifferences(line, firstSeenOf(many, parseFirstSeen(line), Date.parse("2026-11-22")))).toBe(
      true,
    );
  });
});

test("a link to outside the checkout, or into .git, is not read", async () => {
  const folder = await mkdtemp(join(tmpdir(), "rolecall-links-"));
  try {
    const workspace = join(folder, "work");
    await mkdir(join(workspace, ".git"), { recursive: true });
    await writeFile(join(folder, "secret.yaml"), "token: hunter2\n");
    await writeFile(join(workspace, ".git", "config"), "token: hunter2\n");
    await symlink(join(folder, "secret.yaml"), join(workspace, "out.yaml"));
    await symlink(join(workspace, ".git", "config"), join(workspace, "git.yaml"));
    const { io, written } = testIo({ cwd: workspace });
    for (const path of ["out.yaml", "git.yaml", "../secret.yaml"]) {
      const inputs = readInputs({ INPUT_COMMAND: "plan", INPUT_PATHS: path });
      await expect(loadFiles(inputs, io)).rejects.toThrow(/outside the (checkout|project)/);
    }
    expect(JSON.stringify(written)).not.toContain("hunter2");
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("a summary is never longer than GitHub takes, in whatever script the names are", () => {
  const roles = Array.from({ length: 800 }, (_, index) =>
    // Equal ones are one line.
    role(`役割${index}`, { permissions: ["a"], description: `${"説".repeat(500)}${index}` }),
  );
  const views = [planView(planOf(desired({ roles }), live([], [])))];
  const review = { command: "plan", views, unplanned: [], fileErrors: 0 } as const;
  const text = renderReviewSummary({ marker: "", review, about: [], after: ["**On merge** …"] });
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1024 * 1024);
  expect(text).toContain("Left out to keep this short");
  expect(text.trimEnd().endsWith("**On merge** …")).toBe(true);
});

test("a comment that gets too long keeps whole blocks of the reviewed plan, and counts the others", () => {
  const fence = "```text\na\n\nb\n```";
  const fold = `<details><summary>All</summary>\n\n${"x".repeat(5_000)}\n\n</details>`;
  const before = `<!-- c -->\n${["## Plan", "", fence, fold, "Last."].join("\n\n")}`;
  const body = appliedBody("<!-- c -->", () => "Applied.", before, 3_000);
  expect(body).toContain(`\n\n## Plan\n\n${fence}\n\nLast.\n\n1 part left out to keep this short.\n\n`);
});
