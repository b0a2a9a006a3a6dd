import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { stringify } from "yaml";
import { folder } from "./cases.ts";

const word = fc.constantFrom(
  "Cashier",
  "Shift Lead",
  "role_owner",
  "role_7Kq2",
  "Till 7",
  "no",
  "007",
  "店長",
  "*",
);
const permission = fc.constantFrom("catalog_view", "catlog_view", "refunds_create", "payouts_edit");
const email = fc.constantFrom(
  "ada@example.com",
  "ADA@example.com",
  "bob@shop.example",
  "x@y.example",
  "broken",
);
const until = fc.constantFrom("2027-01-31", "2020-01-31", "2027-01-31T18:00:00+01:00", "2027-02-30", "soon");
const metadata = fc.dictionary(
  fc.constantFrom("owner", "__proto__", "constructor", "<<", "a b"),
  fc.oneof(fc.jsonValue({ maxDepth: 2 }), word),
  { maxKeys: 3 },
);
const some = <T>(item: fc.Arbitrary<T>) => fc.array(item, { maxLength: 4 });
const part = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }) => fc.record(model, { requiredKeys: [] });

/** A file of the whole language that is right in its form, if not in what it says. */
const file = part({
  version: fc.constant(1),
  merchant: fc.constantFrom("MC4F7K2P", "M"),
  environment: fc.constantFrom("live", "test", "prod"),
  api: part({ base_url: fc.webUrl(), key_env: fc.constant("RETAIL_API_KEY") }),
  include: some(fc.constantFrom("a.yaml", "../b.yaml", "c/d.yml", "x.yaml")),
  sync: part({
    roles: fc.constantFrom("authoritative", "additive"),
    members: fc.constantFrom("authoritative", "additive"),
    reinvite: fc.constantFrom<unknown>(true, false, { for: "30d" }, { for: "0d" }, { for: 30 }, {}),
    replace_roles: fc.boolean(),
  }),
  ignore: part({ roles: some(word), members: some(fc.constantFrom("*@x.example", "a?", "[")) }),
  guards: part({
    max_removals: fc.constantFrom<string | number>("25%", 3, "101%", 0.5),
    protect: part({ roles: some(word), members: some(email) }),
    min_holders: fc.dictionary(word, fc.integer({ min: -1, max: 3 }), { maxKeys: 2 }),
  }),
  policies: part({
    email_domains: some(fc.constantFrom("example.com", "*.example", "x")),
    separate: some(fc.array(word, { minLength: 1, maxLength: 3 })),
    max_holders: fc.dictionary(word, fc.integer({ min: 0, max: 3 }), { maxKeys: 2 }),
    require_until: some(word),
    require_mfa: some(word),
    forbid_permissions: some(permission),
  }),
  checks: some(
    part({
      can: permission,
      only: some(
        fc.oneof(
          email,
          word.map((name) => `role:${name}`),
        ),
      ),
      at_most: fc.integer({ min: -1, max: 2 }),
      member: email,
      cannot: some(permission),
    }),
  ),
  roles: some(
    part({
      name: word,
      description: fc.string(),
      permissions: some(permission),
      metadata,
      previously: word,
      id: fc.constantFrom("role_7Kq2", "rol"),
    }),
  ),
  members: some(
    part({
      email,
      roles: some(fc.oneof(word, part({ role: word, until }))),
      until,
      metadata,
      managed: part({ nickname: word, password_env: fc.constantFrom("P", "p-w") }),
      id: fc.constantFrom("mem_1", "mem_2", "m"),
    }),
  ),
});

const written = fc
  .tuple(
    file,
    fc.constantFrom("block", "flow", "json"),
    fc.constantFrom("PLAIN", "QUOTE_DOUBLE", "QUOTE_SINGLE"),
  )
  .map(([value, style, type]) =>
    style === "json"
      ? JSON.stringify(value, null, 1)
      : stringify(value, {
          collectionStyle: style === "flow" ? "flow" : "block",
          defaultStringType: type as "PLAIN",
          aliasDuplicateObjects: false,
        }),
  );

const corpus = readdirSync(folder)
  .sort()
  .filter((name) => name.endsWith(".yaml"))
  .map((name) => readFileSync(`${folder}${name}`, "utf8"))
  .filter((text) => text.length < 2000);

const NASTY = [
  ..."[|]|{|}|: |- |? |, |#| #|\n|\r\n|\t|  |&a |*a|*|!t |!!str |!!binary |%YAML 1.1\n|---\n|...\n|<<: *a|\"|'|\\|>|>-\n|@|`|~|null|.inf|.nan|1e999|0x1F|1_0|-0|yes|2027-02-30|\u0000|\u0007|\u0085|\u2028|\u202e|\u200b|\uFEFF|\ud800|👩|é|__proto__: 1|constructor|25%|role:|role_x|a@b.co|99999999999999999999".split(
    "|",
  ),
  "|\n",
  "sk_live_abcdefghijklmnop",
  "[".repeat(70),
  "x".repeat(300),
  "- &x [*x]\n",
];

const nat = fc.nat({ max: 100_000 });
const mutation = fc.oneof(
  fc.record({ kind: fc.constant("insert" as const), at: nat, text: fc.constantFrom(...NASTY) }),
  fc.record({ kind: fc.constant("delete" as const), at: nat, length: fc.integer({ min: 1, max: 20 }) }),
  fc.record({ kind: fc.constant("replace-line" as const), at: nat, text: fc.constantFrom(...NASTY) }),
  fc.record({ kind: fc.constant("repeat-line" as const), at: nat, to: nat }),
  fc.record({ kind: fc.constant("indent" as const), at: nat, by: fc.constantFrom("  ", " ", "\t", "") }),
  fc.record({ kind: fc.constant("value" as const), at: nat, text: fc.constantFrom(...NASTY) }),
  fc.record({ kind: fc.constant("cut" as const), at: nat }),
  fc.record({ kind: fc.constant("lines" as const), with: fc.constantFrom("\r\n", "\r", "\n\n") }),
  fc.record({
    kind: fc.constant("splice" as const),
    at: nat,
    text: fc.constantFrom(...corpus),
    from: nat,
    length: fc.nat(200),
  }),
);

type Mutation = typeof mutation extends fc.Arbitrary<infer M> ? M : never;

function mutate(text: string, change: Mutation): string {
  const lines = text.split("\n");
  const at = "at" in change ? change.at % (text.length + 1) : 0;
  const line = "at" in change ? change.at % lines.length : 0;
  switch (change.kind) {
    case "insert":
      return text.slice(0, at) + change.text + text.slice(at);
    case "delete":
      return text.slice(0, at) + text.slice(at + change.length);
    case "replace-line":
      return lines.with(line, change.text).join("\n");
    case "repeat-line":
      return lines.toSpliced(change.to % (lines.length + 1), 0, lines[line] ?? "").join("\n");
    case "indent":
      return lines.with(line, change.by + (lines[line] ?? "").trimStart()).join("\n");
    case "value":
      return lines.with(line, (lines[line] ?? "").replace(/:.*/, `: ${change.text}`)).join("\n");
    case "cut":
      return text.slice(0, at);
    case "lines":
      return text.replaceAll("\n", change.with);
    case "splice":
      return (
        text.slice(0, at) +
        change.text.slice(change.from % change.text.length).slice(0, change.length) +
        text.slice(at)
      );
    default:
      return change satisfies never;
  }
}

/** Files as people and strangers write them: valid ones and known bad ones, with up to six things done to each. */
export const mutatedFile = fc
  .tuple(fc.oneof(written, fc.constantFrom(...corpus)), fc.array(mutation, { maxLength: 6 }))
  .map(([text, changes]) => changes.reduce(mutate, text));
