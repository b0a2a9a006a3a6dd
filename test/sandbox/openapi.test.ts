import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { expect, test } from "vitest";
import { type Got, MEMBERS, ROLES, start } from "./support.ts";

const SEED = {
  merchants: [
    {
      code: "MC0DEMO1",
      logo: "https://example.com/logo.png",
      roles: [{ name: "Cashier", id: "role_cash", description: "Sells", metadata: { owner: "ops" } }],
      members: [
        { email: "owner@example.com", id: "mem_owner", roles: ["role_owner"], attributes: { tier: 2 } },
        { email: "till@example.com", id: "mem_till", status: "disabled", managed: { nickname: "Till" } },
        { email: "ann@example.com", id: "mem_ann", status: "pending", metadata: { a: [1] } },
        { id: "mem_none", no_address: true },
      ],
    },
  ],
};

/** Every operation, with what it needs to succeed. */
const REQUESTS: Readonly<Record<string, readonly [method: string, path: string, body?: object]>> = {
  "roles.list": ["GET", ROLES],
  "roles.create": ["POST", ROLES, { name: "New", permissions: ["catalog_view"], metadata: { a: 1 } }],
  "roles.retrieve": ["GET", `${ROLES}/role_owner`],
  "roles.update": ["PATCH", `${ROLES}/role_cash`, { description: "" }],
  "roles.delete": ["DELETE", `${ROLES}/role_cash`],
  "members.list": ["GET", MEMBERS],
  "members.create": ["POST", MEMBERS, { email: "bob@example.com", roles: ["role_employee"] }],
  "members.retrieve": ["GET", `${MEMBERS}/mem_till`],
  "members.update": ["PUT", `${MEMBERS}/mem_till`, { user: { password: "long enough" } }],
  "members.delete": ["DELETE", `${MEMBERS}/mem_ann`],
  "memberships.list": ["GET", "/v0.1/memberships"],
};

// biome-ignore lint/suspicious/noExplicitAny: the description is what the tests are about.
const description = async (): Promise<any> => (await start().call("GET", "/_sandbox/openapi.json")).body;

test("its patterns use no syntax that only JavaScript has", async () => {
  const patterns = [...JSON.stringify(await description()).matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)];
  expect(patterns).not.toEqual([]);
  for (const [, pattern = '""'] of patterns) expect(JSON.parse(pattern)).not.toMatch(/\\[pP]\{|\\u\{|\(\?</);
});

test.each(Object.entries(REQUESTS))("%s answers exactly what the description says", async (name, request) => {
  const { operation, status: expected } = operationOf(await description(), name);
  const [method, path, body] = request;
  const got = await start({ seed: SEED }).call(method, path, { body });
  expect(got.status).toBe(expected);
  const schema = operation.responses[expected].content?.["application/json"].schema;
  expect(await problemsOf(schema, got)).toEqual([]);
});

test("the description has every operation and its failures", async () => {
  const { paths } = await description();
  const names = Object.values<object>(paths).flatMap((path) =>
    Object.values(path).map(({ operationId }) => operationId),
  );
  expect(names.sort()).toEqual(Object.keys(REQUESTS).sort());
  const refused = await start().call("GET", `${MEMBERS}?limit=26`);
  expect(await problemsOf({ $ref: "#/components/schemas/Problem" }, refused)).toEqual([]);
});

test("the description has the limits and the query parameters that are checked", async () => {
  const list = operationOf(await description(), "members.list").operation;
  const parameters = new Map(
    list.parameters.map((one: { name: string; schema: object }) => [one.name, one.schema]),
  );
  expect(parameters.get("limit")).toMatchObject({ type: "integer", minimum: 1, maximum: 25, default: 10 });
  expect(parameters.get("offset")).toMatchObject({ type: "integer", minimum: 0, default: 0 });
  expect(parameters.get("roles")).toEqual({ type: "array", items: { type: "string" } });
  const create = operationOf(await description(), "roles.create").operation;
  expect(create.requestBody.content["application/json"].schema).toMatchObject({
    required: ["name", "permissions"],
    additionalProperties: false,
    properties: { permissions: { maxItems: 100 }, metadata: { type: "object", maxProperties: 64 } },
  });
});

/** Bodies at a limit of the contract, and the smallest ones beyond it. */
const items = (count: number) => Array.from({ length: count }, (_, index) => `p${index}`);
const LIMITED: readonly [operation: string, limit: string, within: object, beyond: object][] = [
  ...(["roles.create", "roles.update"] as const).map((name): [string, string, object, object] => [
    name,
    "100 permissions",
    { name: "New", permissions: items(100) },
    { name: "New", permissions: items(101) },
  ]),
  ...(
    [
      ["roles.create", { name: "New", permissions: [] }],
      ["members.create", { email: "bob@example.com", roles: ["role_employee"] }],
      ["members.update", {}],
    ] as const
  ).map(([name, body]): [string, string, object, object] => [
    name,
    "64 properties of metadata",
    { ...body, metadata: Object.fromEntries(items(64).map((key) => [key, 1])) },
    { ...body, metadata: Object.fromEntries(items(65).map((key) => [key, 1])) },
  ]),
  ["roles.create", "a name", { name: "N", permissions: [] }, { name: " ", permissions: [] }],
  ...(["pass wor", "🔑🔑🔑🔑🔑🔑🔑🔑"] as const).flatMap((password): [string, string, object, object][] => {
    const managed = { email: "bob@example.com", roles: ["role_employee"], is_managed_user: true };
    const short = [...password].slice(1).join("");
    const limit = `a password of 8 characters: ${password}`;
    return [
      ["members.create", limit, { ...managed, password }, { ...managed, password: short }],
      ["members.update", limit, { user: { password } }, { user: { password: short } }],
    ];
  }),
];

test.each(LIMITED)("%s: the description and the sandbox limit alike: %s", async (name, _, within, beyond) => {
  const [method, path] = REQUESTS[name] ?? ["", ""];
  const { operation } = operationOf(await description(), name);
  const validate = compile(operation.requestBody.content["application/json"].schema);
  for (const [body, isValid] of [
    [within, true],
    [beyond, false],
  ] as const) {
    expect(validate(body)).toBe(isValid);
    const { status } = await start({ seed: SEED }).call(method, path, { body });
    expect(status < 300).toBe(isValid);
  }
});

// biome-ignore lint/suspicious/noExplicitAny: so is each operation.
function operationOf(openapi: any, name: string): { operation: any; status: number } {
  for (const path of Object.values<object>(openapi.paths)) {
    for (const operation of Object.values(path)) {
      if (operation.operationId === name) {
        return { operation, status: Number(Object.keys(operation.responses)[0]) };
      }
    }
  }
  throw new Error(`no operation ${name}`);
}

/** Returns where a response differs from its schema, which allows no field that it does not name. */
async function problemsOf(schema: object | undefined, got: Got): Promise<unknown> {
  if (schema === undefined) return got.text === "" ? [] : [got.text];
  const { components } = await description();
  const validate = compile({ ...schema, components: closed(components) });
  return validate(got.body) ? [] : validate.errors;
}

function compile(schema: object) {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  return ajv.compile(schema);
}

function closed(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const inner = Object.fromEntries(Object.entries(value).map(([key, one]) => [key, closed(one)]));
  return "properties" in inner ? { ...inner, additionalProperties: false } : inner;
}
