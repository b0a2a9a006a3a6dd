import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { parseMerchantFile } from "../../../src/index.ts";
import { spanFinder } from "../../../src/kernel/yaml/locate.ts";
import { anyCharacter } from "../../support/any-character.ts";
import { runs } from "../../support/property-runs.ts";

const name = fc
  .string({ minLength: 1, maxLength: 20, unit: "grapheme" })
  .filter(
    (text) =>
      /\S/.test(text) && !/[\p{Cc}\p{Cs}\u2028-\u202e\u2066-\u2069]/u.test(text) && !/^role_|sk_/i.test(text),
  );
const names = fc.uniqueArray(name, { maxLength: 5 });
const metadata = fc.dictionary(
  fc.string({ maxLength: 10 }).filter((key) => key !== "__proto__" && key !== "<<"),
  fc
    .jsonValue({ maxDepth: 2 })
    .filter((value) => !/__proto__|"<<"|sk_/i.test(JSON.stringify(value)) && exact(value)),
  { maxKeys: 5 },
);

function exact(value: unknown): boolean {
  if (typeof value === "number") {
    return !Object.is(value, -0) && (!Number.isInteger(value) || Number.isSafeInteger(value));
  }
  return typeof value !== "object" || value === null || Object.values(value).every(exact);
}

const merchantFile = fc
  .uniqueArray(name, { minLength: 1, maxLength: 4 })
  .chain((roleNames) =>
    fc.record(
      {
        version: fc.constant(1),
        merchant: fc.stringMatching(/^[A-Za-z0-9_-]{1,20}$/),
        environment: fc.constantFrom("live", "test"),
        sync: fc.record({ roles: fc.constantFrom("authoritative", "additive") }),
        roles: fc
          .constant(roleNames)
          .chain((all) =>
            fc.tuple(
              ...all.map((each) =>
                fc.record(
                  { name: fc.constant(each), description: fc.string(), permissions: names, metadata },
                  { requiredKeys: ["name"] },
                ),
              ),
            ),
          ),
        members: fc.array(fc.record({ roles: fc.subarray(roleNames), metadata }, { requiredKeys: [] }), {
          maxLength: 4,
        }),
      },
      { requiredKeys: ["version", "merchant"] },
    ),
  )
  .map((file) => ({
    ...file,
    ...("members" in file && file.members
      ? { members: file.members.map((member, index) => ({ email: `m${index}@example.com`, ...member })) }
      : {}),
  }))
  // A merchant code that reads as a number, or a key anywhere, is rightly refused.
  .filter((file) => !/sk_(live|test)_/i.test(JSON.stringify(file)));

function withoutOrigins(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (key, inner) => (key === "origin" ? undefined : inner)));
}

describe("for any file", () => {
  test.each([
    ["block", { defaultStringType: "QUOTE_DOUBLE", defaultKeyType: "PLAIN" }],
    ["flow", { collectionStyle: "flow", defaultStringType: "QUOTE_SINGLE", defaultKeyType: null }],
    ["plain", { lineWidth: 40 }],
  ] as const)("that is valid, %s style parses to what was written", (_, options) => {
    fc.assert(
      fc.property(merchantFile, (file) => {
        const text = stringify(file, { ...options });
        // The yaml package may fold a text inside a surrogate pair, and half of one cannot be written in UTF-8.
        fc.pre(!/\p{Cs}/u.test(text));
        const { state, diagnostics } = parseMerchantFile("x.yaml", text);
        expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
        expect(withoutOrigins(state)).toEqual(
          JSON.parse(
            JSON.stringify({
              ...file,
              version: undefined,
              sync: {
                roles: "authoritative",
                members: "authoritative",
                reinvite: { text: "30d", ms: 30 * 86_400_000 },
                replaceRoles: false,
                ...file.sync,
              },
              ignore: { roles: [], members: [] },
              guards: { protect: { roles: [], members: [] } },
              policies: {
                separate: [],
                maxHolders: {},
                requireUntil: {},
                requireMfa: [],
                forbidPermissions: [],
              },
              checks: [],
              members: file.members?.map(({ roles, ...member }) =>
                roles === undefined ? member : { ...member, roles: roles.map((role) => ({ role })) },
              ),
            }),
          ),
        );
      }),
      { numRuns: runs(60) },
    );
  });

  test("nothing is thrown, and a state comes exactly when there is no error", () => {
    const soup = fc
      .array(
        fc.constantFrom(
          ..."version: 1|merchant: M|roles:|members:|\n|\n  |\n  - |- |name: |email: |metadata: |: |*a|&a |!t |[|]|{|}|\"|'|\\|#|,|?|---|...|%YAML 1.1|<<|__proto__|\t|\r\n|\u0000|\u001b|\uFEFF|\ud800|店|null|1e999|.nan|sk_live_abcdefghijklmnop|role_x|a@b.co||>-".split(
            "|",
          ),
        ),
        { maxLength: 40 },
      )
      .map((parts) => parts.join(""));
    fc.assert(
      fc.property(
        fc.oneof(
          soup,
          fc.string({ unit: anyCharacter }),
          soup.map((text) => `version: 1\nmerchant: M\n${text}`),
        ),
        (text) => {
          const { state, diagnostics } = parseMerchantFile("x.yaml", text);
          expect(state === null).toBe(diagnostics.some(({ severity }) => severity === "error"));
          const shown = diagnostics
            .map(({ message, hint, frame }) => `${message}${hint}${frame?.replaceAll("\n", "")}`)
            .join("");
          expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
          expect(shown).not.toMatch(/abcdefghijklmnop/i);
          expect(spanFinder(text)(["roles", 0, "name"])).toSatisfy(
            (span) => span === null || typeof span === "object",
          );
        },
      ),
      { numRuns: runs(250) },
    );
  });
});
