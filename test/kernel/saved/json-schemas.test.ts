import { readdirSync, readFileSync } from "node:fs";
import { Ajv } from "ajv";
import formats from "ajv-formats";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { parseMerchantFile } from "../../../src/index.ts";
import { diagnosticTable } from "../../../src/kernel/rules/every-rule.ts";
import { merchantJsonSchema, projectJsonSchema } from "../../../src/kernel/saved/json-schemas.ts";
import { cases, folder, NOW } from "../read/support/cases.ts";

const stored = new URL("../../../schemas/merchant.schema.json", import.meta.url);

// Both packages are CommonJS, whose default export a test sees as a module or as the function itself.
const addFormats = formats as unknown as typeof formats.default;

// What editors look for beside what JSON Schema itself says.
const ajv = () => addFormats(new Ajv({ strict: true, allErrors: true }));

interface Node {
  readonly title?: string;
  readonly description?: string;
  readonly examples?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
  readonly anyOf?: readonly Node[];
  readonly default?: unknown;
}

/** Every key of the schema with its path; the forms of a union stand side by side. */
function keys(node: Node, path = ""): readonly (readonly [path: string, node: Node])[] {
  const own = Object.entries(node.properties ?? {}).flatMap(([key, inner]) => [
    [`${path}${key}`, inner] as const,
    ...keys(inner, `${path}${key}.`),
  ]);
  const items = node.items === undefined ? [] : keys(node.items, path);
  return [...own, ...items, ...(node.anyOf ?? []).flatMap((form) => keys(form, path))];
}

const ALL = keys(merchantJsonSchema() as Node);

describe("the JSON Schema that editors use", () => {
  test("is the one that the program parses with", () => {
    expect(readFileSync(stored, "utf8")).toBe(`${JSON.stringify(merchantJsonSchema(), null, 2)}\n`);
  });

  test("is the one that the program parses a project's file with", () => {
    const own = new URL("../../../schemas/rolecall.schema.json", import.meta.url);
    expect(readFileSync(own, "utf8")).toBe(`${JSON.stringify(projectJsonSchema(), null, 2)}\n`);
    ajv().compile(projectJsonSchema());
  });

  test("has every key of the language", () => {
    expect(ALL.map(([path]) => path)).toEqual([
      "version",
      "merchant",
      "environment",
      "api",
      "api.base_url",
      "api.key_env",
      "include",
      "sync",
      "sync.roles",
      "sync.members",
      "sync.reinvite",
      "sync.reinvite.for",
      "sync.replace_roles",
      "ignore",
      "ignore.roles",
      "ignore.members",
      "guards",
      "guards.max_removals",
      "guards.max_gains",
      "guards.protect",
      "guards.protect.roles",
      "guards.protect.members",
      "guards.min_holders",
      "guards.overrides",
      "policies",
      "policies.email_domains",
      "policies.separate",
      "policies.max_holders",
      "policies.require_until",
      "policies.require_mfa",
      "policies.forbid_permissions",
      "policies.escalation",
      "policies.escalation.assign",
      "policies.escalation.edit",
      "policies.escalation.create",
      "checks",
      "checks.can",
      "checks.only",
      "checks.reach",
      "checks.can",
      "checks.at_most",
      "checks.reach",
      "checks.member",
      "checks.cannot",
      "checks.reach",
      "roles",
      "roles.name",
      "roles.description",
      "roles.permissions",
      "roles.metadata",
      "roles.adjust",
      "roles.adjust.add",
      "roles.adjust.remove",
      "roles.previously",
      "roles.id",
      "members",
      "members.email",
      "members.roles",
      "members.roles.role",
      "members.roles.from",
      "members.roles.until",
      "members.from",
      "members.until",
      "members.suspended",
      "members.suspended.from",
      "members.suspended.until",
      "members.reinvite",
      "members.metadata",
      "members.managed",
      "members.managed.nickname",
      "members.managed.password_env",
      "members.previously",
      "members.id",
      "leavers",
      "leavers.email",
      "leavers.from",
    ]);
  });

  test.each(ALL)("explains %s, with an example that is right", (_, node) => {
    expect(node).toMatchObject({ title: expect.any(String), description: expect.any(String) });
    expect(node.examples?.length).toBeGreaterThan(0);
    const validate = ajv().compile(node);
    for (const example of [...(node.examples ?? []), ...("default" in node ? [node.default] : [])]) {
      expect(validate(example), JSON.stringify(example)).toBe(true);
    }
  });

  test("has examples that the program accepts, put together as one file", () => {
    const section = (key: string) => (merchantJsonSchema() as Node).properties?.[key]?.examples?.[0];
    const file = Object.fromEntries(
      Object.keys((merchantJsonSchema() as Node).properties ?? {})
        .filter((key) => key !== "include")
        .map((key) => [key, section(key)]),
    );
    const { diagnostics } = parseMerchantFile("x.yaml", JSON.stringify(file), { now: NOW });
    expect(diagnostics.filter(({ code }) => !/^(unknown|unheld)-/.test(code))).toEqual([]);
  });

  // What JSON Schema cannot say: other values, other files, the text itself, and which days there are.
  const BEYOND = new Set([
    ...diagnosticTable().flatMap(({ code, refusal, severity }) =>
      refusal === true || severity === "warning" ? [code] : [],
    ),
    "bad-base-url",
    "bad-number",
    "bad-until",
    "conflicting-grant",
    "duplicate-key",
    "duplicate-member",
    "duplicate-member-id",
    "duplicate-previously",
    "duplicate-role",
    "duplicate-role-id",
    "holders-contradiction",
    "ignored-entry",
    "include-not-read",
    "literal-key",
    "merge-key",
    "missing-key",
    "previously-declared",
    "unknown-role",
    "unsafe-key",
    "yaml-control",
  ]);
  const validate = ajv().compile(merchantJsonSchema());
  const examples = new URL("../../../examples/retail/", import.meta.url).pathname;
  const files = [
    ...cases.filter((name) => name.endsWith(".yaml")).map((name) => `${folder}${name}`),
    ...["access/", "shared/"].flatMap((of) => readdirSync(examples + of).map((name) => examples + of + name)),
  ];
  test.each(files)("accepts or rejects %s as the program does, as far as it can", (path) => {
    const text = readFileSync(path, "utf8");
    const errors = parseMerchantFile("x.yaml", text, { now: NOW }).diagnostics.filter(
      ({ severity }) => severity === "error",
    );
    if (errors.some(({ code }) => /^(yaml|merge-conflict|duplicate-key|file)/.test(code))) {
      return;
    }
    const valid = validate(parse(text));
    const told = errors.map(({ code }) => code).filter((code) => !BEYOND.has(code));
    if (valid) {
      expect(told).toEqual([]);
    } else {
      expect(errors).not.toEqual([]);
    }
    if (told.length > 0) {
      expect(valid).toBe(false);
    }
  });
});
