import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Plan } from "../../src/model/plan.ts";
import { plansJson } from "../../src/show/machine/machine-formats.ts";
import { desired, live, liveMember, liveRole, member, planOf, role } from "../support/build.ts";
import { richPlan } from "../support/rich-plan.ts";
import { rolecall, startSandbox } from "../support/rolecall.ts";

const ROOT = resolve(import.meta.dirname, "../..");

let folder = "";
let page = "";
let hasJq = false;

beforeAll(async () => {
  page = await readFile(join(ROOT, "docs/plan-json.md"), "utf8");
  folder = await mkdtemp(join(tmpdir(), "rolecall-plan-json-"));
  await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
  for (const name of ["no-new-payers.mjs", "check-plan.mjs"])
    await writeFile(join(folder, name), script(name));
  await writeFile(join(folder, "payers.json"), plansJson([payersPlan(), richPlan()]));
  await writeFile(join(folder, "nobody.json"), plansJson([richPlan()]));
  hasJq = (await shell("jq --version")).code === 0;

  const sandbox = await startSandbox(["--seed", "examples/retail/live.yaml"]);
  const path = join(folder, "retail.json");
  const { code } = await rolecall(["plan", "examples/retail/access", "--out", path], { env: sandbox.env });
  expect(code).toBe(0);
  await sandbox.stop();
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

/** Returns a plan in which one member gains payouts_edit through a changed role, and one through a granted role. */
function payersPlan(): Plan {
  const is = live(
    [
      liveRole("role_1", "Clerk", { permissions: ["catalog_view"] }),
      liveRole("role_2", "Payer", { permissions: ["payouts_edit"] }),
    ],
    [
      liveMember("mem_1", "ada@example.com", { roles: ["role_1"] }),
      liveMember("mem_2", "bob@example.com", { roles: [] }),
    ],
  );
  return planOf(
    desired({
      merchant: "MC7",
      roles: [
        role("Clerk", { permissions: ["catalog_view", "payouts_edit"] }),
        role("Payer", { permissions: ["payouts_edit"] }),
      ],
      members: [
        member("ada@example.com", { roles: ["Clerk"] }),
        member("bob@example.com", { roles: ["Payer"] }),
      ],
    }),
    is,
  );
}

/** Returns the page's block of JavaScript with this name. */
function script(name: string): string {
  const [, block = ""] = page.slice(page.indexOf(`as \`${name}\``)).split(/```js\n|```/);
  return block;
}

/** Returns the page's command that contains this, with another plan than plan.json. */
function command(part: string, plan: string): string {
  const found = [...page.matchAll(/```sh\n(.*?)```/gs)].find(([block]) => block.includes(part));
  return String(found?.[1]).replaceAll("plan.json", plan);
}

function shell(
  text: string,
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const bin = join(folder, "node_modules/.bin");
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env["PATH"]}` };
  return new Promise((done) => {
    execFile("sh", ["-c", text], { cwd: folder, env }, (error, stdout, stderr) => {
      done({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

describe("the rules of docs/plan-json.md", () => {
  test("in JavaScript find everybody who would gain a permission, and fail", async () => {
    const some = await shell(command("no-new-payers.mjs", "payers.json"));
    expect(some).toEqual({ code: 1, stdout: "MC7 ada@example.com\nMC7 bob@example.com\n", stderr: "" });
    const none = await shell(command("no-new-payers.mjs", "nobody.json"));
    expect(none).toEqual({ code: 0, stdout: "nobody\n", stderr: "" });
  });

  test("in jq find the same, if jq is installed", async () => {
    if (!hasJq) return;
    const some = await shell(command("payouts_edit", "payers.json"));
    expect(some.stdout).toContain('"MC7 ada@example.com",\n  "MC7 bob@example.com"');
    expect(some.code).toBe(1);
    expect((await shell(command("payouts_edit", "nobody.json"))).code).toBe(0);
  });

  test("in jq list what would be removed, if jq is installed", async () => {
    if (!hasJq) return;
    expect((await shell(command("--raw-output", "retail.json"))).stdout).toBe(
      [
        "MC4F7K2P role Weekend Helper",
        "MC4F7K2P member bernd.hoffmann@example.com",
        "MC4F7K2P member summer-desk@agency.example",
        "MC9Q3T8X member karim.benali@example.com",
        "",
      ].join("\n"),
    );
  });
});

test("the validation in docs/plan-json.md accepts plans, and rejects an invalid one", async () => {
  const text = await readFile(join(folder, "payers.json"), "utf8");
  await writeFile(join(folder, "spoiled.json"), text.replace('"kind": "update"', '"kind": "upsert"'));
  const schema = join(ROOT, "schemas/plan.schema.json");
  const check = (plan: string) => shell(`node check-plan.mjs ${schema} ${plan}`);
  const accepted = await Promise.all(["payers.json", "nobody.json", "retail.json"].map(check));
  expect(accepted).toEqual(Array.from(accepted, () => ({ code: 0, stdout: "", stderr: "" })));
  expect((await check("spoiled.json")).code).toBe(1);
});

test("docs/plan-json.md names every key, kind and reason of a plan", async () => {
  const schema: unknown = JSON.parse(await readFile(join(ROOT, "schemas/plan.schema.json"), "utf8"));
  const missing = wordsOf(schema).filter(
    (word) => !page.includes(`\`${word}\``) && !page.includes(`"${word}"`),
  );
  expect([...new Set(missing)]).toEqual([]);
});

/** Returns every key and every constant of a schema. */
function wordsOf(schema: unknown): readonly string[] {
  if (Array.isArray(schema)) return schema.flatMap(wordsOf);
  if (typeof schema !== "object" || schema === null) return [];
  const {
    properties = {},
    enum: words = [],
    const: word,
    ...rest
  } = schema as {
    readonly properties?: object;
    readonly enum?: readonly string[];
    readonly const?: unknown;
  };
  return [
    ...Object.keys(properties),
    ...words,
    ...(typeof word === "string" ? [word] : []),
    ...wordsOf(Object.values(properties)),
    ...Object.values(rest).flatMap(wordsOf),
  ];
}
