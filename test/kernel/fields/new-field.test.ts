import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { main } from "../../../src/cli/main.ts";
import { copySources, importCopy } from "../../support/copied-program.ts";
import { isProbe } from "../../support/probes.ts";
import { type Ended, realIo } from "../../support/rolecall.ts";

/** Returns the entry of a field in its table, which is the only edit of the copied sources: types are erased. */
function entryOf(name: string, put: string | null, description: string): string {
  const [quotedName, quotedPut] = [name, put].map((text) => JSON.stringify(text));
  return `
  ${name}: {
    kind: proseKind,
    response: ${quotedName},
    post: ${quotedName},
    put: ${quotedPut},
    clearable: true,
    personal: true,
    declared: { title: ${quotedName}, description: "${description}", examples: [], required: false, most: 35 },
  },
`;
}

const LOCALE = entryOf("locale", "locale", "The language of the member.");
const TEAM = entryOf("team", "team", "The team of the role.");
const SITE = entryOf("site", null, "The site of the role, which the service cannot change in place.");

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

const home = mkdtempSync(join(tmpdir(), "rolecall-new-field-"));
const file = join(home, "work/access/mc1.yaml");
let program: typeof main;
let service: Service;

beforeAll(async () => {
  copySources(home);
  addEntries("member.ts", "CommonValues", LOCALE.replace("proseKind", "lineKind"));
  addEntries("role.ts", "RoleImage", TEAM + SITE);
  program = await importCopy(home);
  mkdirSync(join(home, "work/access"), { recursive: true });
  writeFileSync(file, FILE);
  service = await startService();
  open("MC1", {
    members: [member("mem_bob", "bob@example.com", { roles: ["role_employee"], locale: "fr-FR" })],
  });
});

afterAll(async () => {
  await service.close();
  rmSync(home, { recursive: true, force: true });
});

/** Adds fields at the end of a table of the copied sources. */
function addEntries(name: string, values: string, entries: string): void {
  const table = join(home, "src/kernel/fields", name);
  const end = `\n} satisfies FieldTable<${values}>;`;
  const text = readFileSync(table, "utf8");
  expect(text).toContain(end);
  writeFileSync(table, text.replace(end, `${entries}${end}`));
}

/** Runs the program with the new fields, in the project of the first tests. */
async function run(...args: readonly string[]): Promise<Ended> {
  return runIn("work", ...args);
}

/** Runs the program with the new fields, in a folder of its own. */
async function runIn(folder: string, ...args: readonly string[]): Promise<Ended> {
  const env = { ROLECALL_BASE_URL: service.url, ROLECALL_API_KEY: "sk_test_key" };
  const cwd = join(home, folder);
  mkdirSync(cwd, { recursive: true });
  const { io, written } = realIo({ cwd, env, waitFactor: 0 });
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

test("a field that may be empty is cleared by a file, and pulled where the service has cleared it", async () => {
  writeFileSync(file, PULLED.replace("fr-FR", '""'));
  const applied = await run("apply", "--yes");
  expect(applied.stdout).toContain("Verified: no changes remain.");
  expect(writes()).toEqual([["PUT", { locale: "" }]]);
  writeFileSync(file, PULLED);
  await run("pull", "MC1", "--yes");
  expect(readFileSync(file, "utf8")).toBe(PULLED.replace("fr-FR", '""'));

  writeFileSync(file, PULLED);
  await run("apply", "--yes");
  expect(writes()).toEqual([["PUT", { locale: "fr-FR" }]]);
});

test("a field that is added to the table is restored where an update empties it", async () => {
  service.replaces = true;
  writeFileSync(file, PULLED.replace("    locale: fr-FR\n", "    metadata: { desk: A }\n"));
  const applied = await run("apply", "--yes");
  service.replaces = false;
  expect(writes()).toEqual([
    ["PUT", { metadata: { desk: "A" } }],
    ["PUT", { roles: ["role_employee"], metadata: { desk: "A" }, locale: "fr-FR" }],
  ]);
  expect(applied.stdout).toContain("Verified: no changes remain.");
});

const OWNER = `  - email: owner@example.com
    roles: [role_owner]
`;

const ROLES = `version: 1
merchant: MC2
roles:
  - name: Clerk
    permissions: [catalog_view]
    team: till
    site: north
  - name: Porter
    permissions: [catalog_view]
    team: yard
members:
${OWNER}`;

test("a field that is added to the roles is planned, sent, undone, pulled, and refused where it is fixed", async () => {
  open("MC2", {
    roles: [role("role_clerk", "Clerk", { permissions: ["catalog_view"], team: "desk", site: "north" })],
  });
  const roles = write("roles/access/mc2.yaml", ROLES);
  const plan = await runIn("roles", "plan");
  expect(plan.stdout).toMatch(/update Clerk\n +team +- desk\n +\+ till\n/);
  expect(plan.stdout).toMatch(/create Porter\n(?:.*\n)? +team +yard\n/);
  const applied = await runIn("roles", "apply", "--yes");
  expect(applied.stdout).toContain("Verified: no changes remain.");
  expect(writes()).toEqual([
    ["POST", { name: "Porter", permissions: ["catalog_view"], team: "yard" }],
    ["PATCH", { team: "till" }],
  ]);
  await runIn("roles", "undo", "latest", "--yes");
  expect(writes()).toEqual([
    ["PATCH", { team: "desk" }],
    ["DELETE", {}],
  ]);

  write("roles/access/mc2.yaml", ROLES.replace("north", "south"));
  const refused = await runIn("roles", "plan");
  expect(refused.stdout).toContain('The site of role "Clerk" differs');
  expect(refused.stdout).toContain('Declare the live site, "north", or remove "site:"');
  const drift = await runIn("roles", "drift");
  expect(drift.stdout).toMatch(/site +- south\n +\+ north\n/);

  await runIn("roles", "pull", "MC2", "--yes");
  expect(readFileSync(roles, "utf8")).toContain("    team: desk\n    site: north\n");
});

test("a new address inherits the field, and a warning names it where the old membership differs", async () => {
  open("MC3", {
    members: [member("mem_ada", "ada@old.example", { roles: ["role_employee"], locale: "fr-FR" })],
  });
  const entry = "  - email: ada@new.example\n    previously: ada@old.example\n    roles: [role_employee]\n";
  const text = `version: 1\nmerchant: MC3\nmembers:\n${OWNER}${entry}`;
  write("renamed/access/mc3.yaml", `${text}    locale: it-IT\n`);
  const { stdout } = await runIn("renamed", "plan");
  expect(stdout.replaceAll(/\s+/g, " ")).toContain(
    "ada@old.example, the previous address of ada@new.example, lacks what the entry declares: its locale.",
  );

  write("renamed/access/mc3.yaml", text);
  await runIn("renamed", "apply", "--yes");
  expect(writes()[0]).toEqual([
    "POST",
    { email: "ada@new.example", roles: ["role_employee"], locale: "fr-FR" },
  ]);
});

test("roles are shared, and found to be equal, only if they have the field in common", async () => {
  const guides = (team: string): Role[] => [
    role("role_guide", "Guide", { permissions: ["catalog_view"], team }),
    role("role_usher", "Usher", { permissions: ["catalog_edit"], team: "door" }),
  ];
  open("MC4", { roles: guides("east") });
  open("MC5", { roles: guides("west") });
  await runIn("shared", "init", "MC4", "MC5", "--share-roles", "--yes");
  const shared = readFileSync(join(home, "shared/shared/roles.yaml"), "utf8");
  expect(shared).toContain("name: Usher");
  expect(shared).toContain("team: door");
  expect(shared).not.toContain("Guide");

  for (const [code, team] of [
    ["MC4", "east"],
    ["MC5", "west"],
  ] as const) {
    const roles = `  - name: Guide\n    permissions: [catalog_view]\n    team: ${team}\n  - name: Usher\n    permissions: [catalog_edit]\n    team: door\n`;
    write(`equal/access/${code}.yaml`, `version: 1\nmerchant: ${code}\nroles:\n${roles}members:\n${OWNER}`);
  }
  const lint = await runIn("equal", "lint");
  expect(lint.stdout).toContain('2 files declare "Usher" identically');
  expect(lint.stdout).not.toMatch(/Guide.*equally/);
});

test("an invitation that is lost is told with the field that it held", async () => {
  open("MC6", {
    members: [
      member("mem_eve", "eve@example.com", { roles: ["role_employee"], locale: "fr-FR", status: "expired" }),
    ],
  });
  const entry = "  - email: eve@example.com\n    roles: [role_employee]\n";
  write("lost/access/mc6.yaml", `version: 1\nmerchant: MC6\nmembers:\n${OWNER}${entry}`);
  service.refuses = true;
  const applied = await runIn("lost", "apply", "--yes");
  service.refuses = false;
  expect(applied.stderr.replaceAll(/\s+/g, " ")).toContain("; locale fr-FR. ");
  const runs = await runIn("lost", "runs", "latest");
  expect(runs.stdout).toMatch(/eve@example\.com at MC6: .*; locale fr-FR\n/);
});

/** Writes a file of a project, and returns its path. */
function write(path: string, text: string): string {
  const target = join(home, path);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, text);
  return target;
}

/** Takes the requests since the last call that changed something. */
function writes(): readonly (readonly [method: string, body: Body])[] {
  return service.writes.splice(0).map(({ method, body }) => [method, body]);
}

function intentsOf(journal: string): readonly unknown[] {
  const lines = journal.trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line)).filter(({ type }) => type === "intent");
}

type Body = Readonly<Record<string, unknown>>;
type Role = Record<string, unknown> & { id: string };
type Member = Role & { user: Record<string, unknown> };
type Target = readonly [section: "roles" | "members", id: string];

interface Account {
  readonly roles: Map<string, Role>;
  readonly members: Map<string, Member>;
}

interface Service {
  readonly url: string;
  /** The requests that change something. */
  readonly writes: { method: string; path: string; body: Body }[];
  /** If set, an update empties the fields that it does not contain. */
  replaces: boolean;
  /** If set, nobody can be invited. */
  refuses: boolean;
  readonly accounts: Map<string, Account>;
  close(): Promise<void>;
}

/** Starts a service that keeps whatever it is sent; the sandbox does not know the fields. */
async function startService(): Promise<Service> {
  const accounts: Service["accounts"] = new Map();
  const writes: Service["writes"] = [];
  const state = { replaces: false, refuses: false };
  const change = (
    { roles, members }: Account,
    method: string,
    [section, id]: Target,
    body: Body,
  ): unknown => {
    const resources: Map<string, Body> = section === "roles" ? roles : members;
    const found = resources.get(id);
    switch (method) {
      case "POST": {
        const { email, ...fields } = body;
        if (state.refuses) return undefined;
        const created: Role | Member =
          section === "roles"
            ? role(`role_${roles.size}`, String(body["name"]), fields)
            : member(`mem_${members.size}`, String(email), fields);
        resources.set(created.id, created);
        return created;
      }
      case "PATCH":
      case "PUT": {
        const email = members.get(id)?.user["email"];
        const kept = state.replaces ? member(id, String(email), { roles: [] }) : found;
        return kept && resources.set(id, { ...kept, ...body }).get(id);
      }
      default:
        return resources.delete(id) ? {} : undefined;
    }
  };
  const answer = (method: string, path: string, body: Body): unknown => {
    const [, code = "", section, id = ""] =
      /\/merchants\/(\w+)\/(roles|members)(?:\/([^?]+))?/.exec(path) ?? [];
    const account = accounts.get(code);
    if (account === undefined || (section !== "roles" && section !== "members")) return undefined;
    if (method !== "GET") {
      const { email = null, name = email } = body as { readonly email?: string; readonly name?: string };
      if (isProbe({ method, path, name })) return undefined;
      writes.push({ method, path, body });
      return change(account, method, [section, id], body);
    }
    const { roles, members } = account;
    const items = [...(section === "roles" ? roles : members).values()];
    if (id === "") return { items, total_count: items.length };
    return section === "members"
      ? members.get(id)
      : (roles.get(id) ?? { ...role(id, "Role", {}), is_predefined: true });
  };
  const server = createServer(async (request, response) => {
    const result = answer(request.method ?? "", request.url ?? "", await bodyOf(request));
    const status = result === undefined ? (state.refuses ? 409 : 404) : 200;
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(result ?? { title: "No", status }));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  return Object.assign(state, {
    url: `http://127.0.0.1:${port}`,
    writes,
    accounts,
    close: () => closed(server),
  });
}

/** Adds an account with an owner, and some roles and members. */
function open(code: string, { roles = [], members = [] }: { roles?: Role[]; members?: Member[] }): Account {
  const owner = member("mem_owner", "owner@example.com", { roles: ["role_owner"] });
  const account = { roles: byId(roles), members: byId([owner, ...members]) };
  service.accounts.set(code, account);
  return account;
}

function byId<Resource extends { readonly id: string }>(items: readonly Resource[]): Map<string, Resource> {
  return new Map(items.map((item) => [item.id, item]));
}

function role(id: string, name: string, fields: Body): Role {
  return { id, name, permissions: [], is_predefined: false, created_at: "", updated_at: "", ...fields };
}

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
