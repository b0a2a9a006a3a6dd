import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Ajv } from "ajv";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { rolecall } from "../support/rolecall.ts";

const RETAIL = resolve(import.meta.dirname, "../../examples/retail");

let cwd = "";

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "rolecall-schema-"));
  await Promise.all(
    ["access", "shared"].map((name) => cp(join(RETAIL, name), join(cwd, name), { recursive: true })),
  );
  const pinned = "roles: [{ name: Pinned, id: role_Pinned1, permissions: [reports_view] }]";
  await writeFile(join(cwd, "access/pinned.yaml"), `version: 1\nmerchant: MC1PINNED\n${pinned}\n`);
});

afterAll(() => rm(cwd, { recursive: true }));

type Node = Readonly<Record<string, unknown>>;

async function filesSchema(): Promise<Node> {
  const { code, stdout } = await rolecall(["schema", "--for-files"], { cwd });
  expect(code).toBe(0);
  return JSON.parse(stdout);
}

/** Follows keys and words of the schema: `members.items` has the properties of an entry. */
function at(schema: unknown, path: string): unknown {
  let node = schema;
  for (const step of path.split(".")) {
    const { properties = {}, ...words } = node as Node & { readonly properties?: Node };
    node = (properties as Node)[step] ?? words[step];
  }
  return node;
}

test("the schema for the files has their roles, with what these grant, permissions and addresses", async () => {
  const { definitions } = (await filesSchema()) as unknown as {
    readonly definitions: {
      readonly knownRoles: { readonly anyOf: readonly { const: string; description: string }[] };
      readonly knownPermissions: { readonly enum: readonly string[] };
      readonly knownAddresses: { readonly enum: readonly string[] };
      readonly knownHolders: { readonly enum: readonly string[] };
    };
  };
  const roles = new Map(definitions.knownRoles.anyOf.map((role) => [role.const, role.description]));
  expect(roles.get("Parcel Desk")).toBe("Grants customers_view and transactions_view.");
  expect(roles.get("role_Pinned1")).toBe("Grants reports_view.");
  // Held, and in no file.
  expect(roles.get("Holiday Kiosk")).toBe("No file declares its permissions.");
  expect([...roles.keys()]).toContain("role_owner");
  expect(definitions.knownPermissions.enum).toContain("transactions_view");
  expect(definitions.knownAddresses.enum).toContain("omar.farouk@example.com");
  expect(definitions.knownHolders.enum).toEqual(
    expect.arrayContaining(["role:Cashier", "omar.farouk@example.com"]),
  );
});

test.each([
  ["roles.items.name", "knownRoles"],
  ["guards.protect.roles.items", "knownRoles"],
  ["policies.separate.items.items", "knownRoles"],
  ["roles.items.permissions.items", "knownPermissions"],
  ["roles.items.adjust.add.items", "knownPermissions"],
  ["policies.forbid_permissions.items", "knownPermissions"],
  ["members.items.email", "knownAddresses"],
  ["leavers.items.email", "knownAddresses"],
  ["guards.protect.members.items", "knownAddresses"],
])("an editor suggests at %s what the files know", async (path, known) => {
  const { anyOf } = at(await filesSchema(), path) as { readonly anyOf: readonly Node[] };
  expect(anyOf[1]).toEqual({ $ref: `#/definitions/${known}` });
});

test("a role of a member is suggested alone and with dates, as are keys of limits", async () => {
  const schema = await filesSchema();
  const [alone, dated] = (at(schema, "members.items.roles.items") as { anyOf: readonly Node[] }).anyOf;
  for (const node of [alone, at(dated, "role")])
    expect((node as { anyOf: readonly Node[] }).anyOf[1]).toEqual({ $ref: "#/definitions/knownRoles" });
  expect(at(schema, "guards.min_holders.Cashier")).toMatchObject({ type: "integer" });
});

test("what is valid stays valid, also names that no file knows, and what is not stays invalid", async () => {
  const [plain, forFiles] = await Promise.all([
    rolecall(["schema"]).then(({ stdout }) => JSON.parse(stdout)),
    filesSchema(),
  ]);
  const [isValid, isValidForFiles] = [plain, forFiles].map((schema) =>
    new Ajv({ strict: false, validateFormats: false }).compile(schema),
  );
  const text = await readFile(join(RETAIL, "access/station-road.yaml"), "utf8");
  const files = [
    text,
    text.replaceAll("Parcel Desk", "Something New"),
    text.replaceAll("omar.farouk", "somebody.else"),
    text.replace("omar.farouk@example.com", "no address"),
    text.replace("roles: [Parcel Desk]", "roles: [7]"),
    text.replace("version: 1", "version: 2"),
  ].map((file) => parse(file));
  const results = files.map((file) => isValid?.(file));
  expect(results).toEqual([true, true, true, false, false, false]);
  expect(files.map((file) => isValidForFiles?.(file))).toEqual(results);
});

test("without files, there is no such schema, and a file with errors is left out", async () => {
  const empty = await mkdtemp(join(tmpdir(), "rolecall-schema-"));
  const none = await rolecall(["schema", "--for-files"], { cwd: empty });
  await rm(empty, { recursive: true });
  expect(none).toMatchObject({ code: 1, stdout: "" });
  const broken = join(cwd, "access/broken.yaml");
  await writeFile(broken, "version: 1\nmerchant: MC1\nroles: [\n");
  const { code, stdout, stderr } = await rolecall(["schema", "--for-files"], { cwd });
  await rm(broken);
  expect(code).toBe(0);
  expect(stderr).toBe("warning: 1 file with errors may be left out (rolecall validate).\n");
  expect(stdout).toContain("Parcel Desk");
});

test("--output writes the schema to a file, and another kind has none for the files", async () => {
  const { code, stdout } = await rolecall(["schema", "--for-files", "--output", "files.json"], { cwd });
  expect([code, stdout]).toEqual([0, ""]);
  expect(JSON.parse(await readFile(join(cwd, "files.json"), "utf8"))).toHaveProperty("definitions");
  const { code: refused, stderr } = await rolecall(["schema", "plan", "--for-files"], { cwd });
  expect(refused).toBe(1);
  expect(stderr).toContain("Omit --for-files, or the kind.");
});
