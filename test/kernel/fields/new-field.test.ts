import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { main } from "../../../src/cli/main.ts";
import { isProbe } from "../../support/probes.ts";
import { type Ended, realIo } from "../../support/rolecall.ts";

/** The only edit of the copied sources: types apart, a field is its entry in the table. */
const LOCALE = `
  locale: {
    kind: lineKind,
    response: "locale",
    post: "locale",
    put: "locale",
    clearable: true,
    personal: true,
    declared: {
      title: "Locale",
      description: "The language of the member.",
      examples: ["de-CH"],
      required: false,
      most: 35,
    },
  },
`;

const FILE = `version: 1
merchant: MC1
members:
  - email: owner@example.com
    roles: [role_owner]
  - email: ada@example.com
    roles: [role_employee]
    locale: de-CH
  - email: bob@example.com
    roles: [role_employee]
    locale: de-CH
`;

const PULLED = `version: 1
merchant: MC1
members:
  - email: owner@example.com
    roles: [role_owner]
  - email: bob@example.com
    roles: [role_employee]
    locale: fr-FR
`;

const ROOT = resolve(import.meta.dirname, "../../..");
const home = mkdtempSync(join(tmpdir(), "rolecall-new-field-"));
const file = join(home, "work/access/mc1.yaml");
let program: typeof main;
let service: Service;

beforeAll(async () => {
  cpSync(join(ROOT, "src"), join(home, "src"), { recursive: true });
  cpSync(join(ROOT, "package.json"), join(home, "package.json"));
  symlinkSync(join(ROOT, "node_modules"), join(home, "node_modules"));
  const table = join(home, "src/kernel/fields/member.ts");
  const end = "\n} satisfies FieldTable<CommonValues>;";
  writeFileSync(table, readFileSync(table, "utf8").replace(end, `${LOCALE}${end}`));
  const build = await rolldown({
    input: join(home, "src/cli/main.ts"),
    platform: "node",
    external: ["react-devtools-core"],
    onLog: () => undefined,
  });
  // Vitest leaves to Node.js what is in such a folder.
  const dist = join(home, "dist/node_modules");
  await build.write({
    dir: dist,
    format: "esm",
    entryFileNames: "[name].mjs",
    chunkFileNames: "[name]-[hash].mjs",
  });
  await build.close();
  program = (await import(pathToFileURL(join(dist, "main.mjs")).href)).main;
  mkdirSync(join(home, "work/access"), { recursive: true });
  writeFileSync(file, FILE);
  service = await startService();
});

afterAll(async () => {
  await service.close();
  rmSync(home, { recursive: true, force: true });
});

/** Runs the program with the new field. */
async function run(...args: readonly string[]): Promise<Ended> {
  const env = { ROLECALL_BASE_URL: service.url, ROLECALL_API_KEY: "sk_test_key" };
  const { io, written } = realIo({ cwd: join(home, "work"), env, waitFactor: 0 });
  const code = await program(args, io);
  return { code, ...written };
}

test("a field that is added to the table is planned, shown, sent, recorded, undone and pulled", async () => {
  expect((await run("schema")).stdout).toContain("The language of the member.");
  expect((await run("schema", "plan")).stdout).toContain('"const": "locale"');

  const text = await run("plan");
  expect(text.stdout).toMatch(/create ada@example\.com[^+]*\n +locale +de-CH\n/);
  expect(text.stdout).toMatch(/update bob@example\.com\n +locale +- fr-FR\n +\+ de-CH\n/);
  const markdown = await run("plan", "--format", "markdown");
  expect(markdown.stdout).toContain("-     locale: fr-FR\n+     locale: de-CH\n");
  const page = await run("plan", "--format", "html");
  expect(page.stdout).toContain('{"label":"locale","removed":["fr-FR"],"added":["de-CH"],"plain":[]}');
  const json = await run("plan", "--format", "json", "--out", "plan.json");
  expect(JSON.parse(json.stdout).plans[0].changes).toMatchObject([
    { kind: "create", after: { locale: "de-CH" } },
    {
      before: { locale: "fr-FR" },
      after: { locale: "de-CH" },
      fields: [{ field: "locale", before: "fr-FR", after: "de-CH" }],
    },
  ]);

  const applied = await run("apply", "--approved", "plan.json", "--yes");
  expect(applied.stdout).toContain("Verified: no changes remain.");
  expect(writes()).toEqual([
    ["POST", { email: "ada@example.com", roles: ["role_employee"], locale: "de-CH" }],
    ["PUT", { locale: "de-CH" }],
  ]);
  const runs = join(home, "work/.rolecall/runs");
  const [journal = ""] = readdirSync(runs);
  expect(intentsOf(readFileSync(join(runs, journal), "utf8"))).toMatchObject([
    { kind: "create", after: { locale: "de-CH" } },
    { kind: "update", before: { locale: "fr-FR" }, after: { locale: "de-CH" } },
  ]);

  const undone = await run("undo", journal.replace(/-MC1\.jsonl$/, ""), "--yes");
  expect(undone.stdout).toMatch(/update bob@example\.com\n +locale +- de-CH\n +\+ fr-FR\n/);
  expect(writes()).toEqual([
    ["PUT", { locale: "fr-FR" }],
    ["DELETE", {}],
  ]);

  await run("pull", "MC1", "--yes");
  expect(readFileSync(file, "utf8")).toBe(PULLED);
});

test("a field that is added to the table is restored where an update empties it", async () => {
  service.replaces = true;
  writeFileSync(file, PULLED.replace("    locale: fr-FR\n", "    metadata: { desk: A }\n"));
  const applied = await run("apply", "--yes");
  expect(writes()).toEqual([
    ["PUT", { metadata: { desk: "A" } }],
    ["PUT", { roles: ["role_employee"], metadata: { desk: "A" }, locale: "fr-FR" }],
  ]);
  expect(applied.stdout).toContain("Verified: no changes remain.");
});

/** Takes the requests since the last call that changed something. */
function writes(): readonly (readonly [method: string, body: Body])[] {
  return service.writes.splice(0).map(({ method, body }) => [method, body]);
}

function intentsOf(journal: string): readonly unknown[] {
  const lines = journal.trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line)).filter(({ type }) => type === "intent");
}

type Body = Readonly<Record<string, unknown>>;
type Member = Record<string, unknown> & { id: string; user: Record<string, unknown> };

interface Service {
  readonly url: string;
  /** The requests that change something. */
  readonly writes: { method: string; path: string; body: Body }[];
  /** If set, an update empties the fields that it does not contain. */
  replaces: boolean;
  readonly members: Map<string, Member>;
  close(): Promise<void>;
}

/** Starts a service that keeps whatever it is sent; the sandbox does not know the field. */
async function startService(): Promise<Service> {
  const members = new Map(
    [
      member("mem_owner", "owner@example.com", { roles: ["role_owner"] }),
      member("mem_bob", "bob@example.com", { roles: ["role_employee"], locale: "fr-FR" }),
    ].map((one) => [one.id, one]),
  );
  const writes: Service["writes"] = [];
  const state = { replaces: false };
  const change = (method: string, id: string, body: Body): unknown => {
    const found = members.get(id);
    switch (method) {
      case "POST": {
        const { email, ...fields } = body;
        const created = member(`mem_${members.size}`, String(email), fields);
        members.set(created.id, created);
        return created;
      }
      case "PUT": {
        const kept = state.replaces ? member(id, String(found?.user["email"]), { roles: [] }) : found;
        return kept && members.set(id, { ...kept, ...body }).get(id);
      }
      default:
        return members.delete(id) ? {} : undefined;
    }
  };
  const answer = (method: string, path: string, body: Body): unknown => {
    const [, section, id] = /\/merchants\/MC1\/(roles|members)(?:\/([^?]+))?/.exec(path) ?? [];
    if (section === "roles") return id === undefined ? { items: [] } : { ...ROLE, id };
    if (section === undefined) return undefined;
    if (method !== "GET") {
      const { email = null } = body as { readonly email?: string };
      if (isProbe({ method, path, name: email })) return undefined;
      writes.push({ method, path, body });
      return change(method, id ?? "", body);
    }
    return id === undefined ? { items: [...members.values()], total_count: members.size } : members.get(id);
  };
  const server = createServer(async (request, response) => {
    const result = answer(request.method ?? "", request.url ?? "", await bodyOf(request));
    response.writeHead(result === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(result ?? { title: "Not Found", status: 404 }));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  return Object.assign(state, {
    url: `http://127.0.0.1:${port}`,
    writes,
    members,
    close: () => closed(server),
  });
}

const ROLE = { name: "Role", permissions: [], is_predefined: true, created_at: "", updated_at: "" };

function member(id: string, email: string, fields: Body): Member {
  const user = { id: `user_${id}`, email, mfa_on_login_enabled: true, type: "user" };
  return {
    id,
    roles: [],
    permissions: [],
    status: "accepted",
    created_at: "",
    updated_at: "",
    user,
    ...fields,
  };
}

async function bodyOf(request: IncomingMessage): Promise<Body> {
  let text = "";
  for await (const chunk of request) text += chunk;
  return text === "" ? {} : JSON.parse(text);
}

function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((done) => void server.close(() => done()));
}
