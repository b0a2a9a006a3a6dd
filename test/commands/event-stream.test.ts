import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { EVENTS } from "../../src/model/event-registry.ts";
import { type RunningSandbox, rolecall, startSandbox } from "../support/rolecall.ts";

const SEED = `merchants:
  - code: MC1
    roles:
      - { name: Cashier, permissions: [catalog_view] }
    members:
      - { email: ada@example.com, roles: [role_owner] }
      - { email: ben@example.com, roles: [Cashier] }
      - { email: cy@example.com, roles: [Cashier] }
keys:
  - { key: sk_test_sandbox, owner: ada@example.com }
  - { key: sk_test_readonly, owner: ada@example.com, permissions: [merchant_read, members_view, roles_list, roles_view] }
`;

const FILE = `version: 1
merchant: MC1
roles:
  - { name: Cashier, permissions: [catalog_view, refunds_create] }
members:
  - { email: ada@example.com, roles: [role_owner] }
  - { email: ben@example.com, roles: [Cashier], metadata: { desk: "2" } }
  - { email: dee@example.com, roles: [Cashier] }
`;

type Event = Readonly<Record<string, unknown>> & { readonly type: string };

let folder = "";
let sandbox: RunningSandbox;
const now = (): number => Date.parse("2026-06-15T12:00:00.000Z");

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "rolecall-events-"));
  await writeFile(join(folder, "seed.yaml"), SEED);
  await writeFile(join(folder, "mc1.yaml"), FILE);
  sandbox = await startSandbox(["--seed", join(folder, "seed.yaml")], { now });
});

afterAll(async () => {
  await sandbox.stop();
  await rm(folder, { recursive: true });
});

async function fault(rules: readonly object[]): Promise<void> {
  await fetch(`${sandbox.url}/_sandbox/faults`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ rules }),
  });
}

async function eventsOf(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { stdout } = await rolecall([...args, "--yes", "--format", "json", "--concurrency", "1"], {
    cwd: folder,
    env: { ...sandbox.env, ...env },
    now,
  });
  return linesOf(stdout.replaceAll(sandbox.url, "http://127.0.0.1:4010"));
}

function linesOf(text: string): readonly Event[] {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

/** Returns an event with each of its fields on a line. */
function readable(event: Event): string {
  const fields = Object.entries(event).map(
    ([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)}`,
  );
  return `{\n${fields.join(",\n")}\n}\n`;
}

/** Returns the events, and fields of events, that a registry does not have. */
function undocumented(
  events: readonly Event[],
  registry: Readonly<Record<string, { readonly fields: Readonly<Record<string, string>> }>>,
): readonly string[] {
  return events.flatMap(({ type, at: _, ...rest }) => {
    const known = registry[type]?.fields;
    if (known === undefined) return [type];
    return Object.keys(rest).flatMap((field) => (field in known ? [] : [`${type}.${field}`]));
  });
}

test("apply and undo write a stream of documented events, whole and in order", async () => {
  const stream = { ...EVENTS.report, ...EVENTS.apply };

  const refused = await eventsOf(["apply", "mc1.yaml"], { ROLECALL_API_KEY: "sk_test_readonly" });
  expect(undocumented(refused, stream)).toEqual([]);
  expect(refused.map(({ type }) => type)).toEqual(["planned", "failed", "summary"]);

  await fault([{ kind: "status", status: 422, operation: "members.update" }]);
  const stopped = await eventsOf(["apply", "mc1.yaml"]);
  expect(undocumented(stopped, stream)).toEqual([]);
  expect(stopped.map(({ type }) => type)).toContain("apply-stopped");
  await fault([]);

  const applied = await eventsOf(["apply", "mc1.yaml"]);
  expect(undocumented(applied, stream)).toEqual([]);
  // The fingerprint depends on the sandbox's port.
  const [fingerprint = ""] = /(?<="fingerprint":")[0-9a-f]+/.exec(JSON.stringify(applied[0])) ?? [];
  await expect(applied.map(readable).join("").replaceAll(fingerprint, "FINGERPRINT")).toMatchFileSnapshot(
    "golden/apply-events.txt",
  );

  const undone = await eventsOf(["undo", "latest", "mc1.yaml"]);
  expect(undocumented(undone, stream)).toEqual([]);
  expect(undone[0]).toMatchObject({ type: "undo", notes: [{ merchant: "MC1" }] });

  const runs = join(folder, ".rolecall", "runs");
  const journals = (await readdir(runs)).filter((name) => name.endsWith(".jsonl"));
  expect(journals).toHaveLength(3);
  for (const name of journals) {
    const lines = linesOf(await readFile(join(runs, name), "utf8"));
    expect(undocumented(lines, EVENTS.journal)).toEqual([]);
  }
});
