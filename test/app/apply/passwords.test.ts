import { expect, test } from "vitest";
import { passwordsFor } from "../../../src/app/apply/passwords.ts";
import { desired, live, member, planOf } from "../../support/build.ts";

const tills = ["TILL_1", "TILL_2", "TILL_3", "TILL_4"].map((passwordEnv) =>
  member(`${passwordEnv.toLowerCase()}@example.com`, { managed: { passwordEnv } }),
);
const plan = planOf(desired({ members: tills }), live());

test("passwords that are missing are told apart from passwords that are too short, and none is printed", () => {
  const env = { TILL_1: "s3cr3t7", TILL_2: "", TILL_4: "long enough" };
  expect(() => passwordsFor([plan], [], env)).toThrow(
    "First passwords of managed users come from the environment: " +
      "TILL_2, TILL_3 are not set; TILL_1 has fewer than 8 characters.",
  );
});

test("of many missing passwords the first are named", () => {
  const plan = planOf(
    desired({
      members: Array.from({ length: 12 }, (_, n) =>
        member(`t${n}@example.com`, { roles: [], managed: { passwordEnv: `TILL_${n + 10}` } }),
      ),
    }),
    live(),
  );
  expect(() => passwordsFor([plan], [], {})).toThrow("TILL_18, TILL_19 and 2 more are not set.");
});

test("passwords of eight characters and more are found by their variable", () => {
  const env = Object.fromEntries(
    ["TILL_1", "TILL_2", "TILL_3", "TILL_4"].map((name) => [name, `of ${name}`]),
  );
  expect(passwordsFor([plan], [], env)("TILL_3")).toBe("of TILL_3");
});

test("a plan that creates no managed user needs none", () => {
  const plain = planOf(desired({ members: [member("ada@example.com")] }), live());
  expect(() => passwordsFor([plain], [], {})).not.toThrow();
});

test("the key that signs records is never sent as a password, whichever variable holds it", () => {
  const withVariable = (passwordEnv: string) =>
    planOf(desired({ members: [member("till@example.com", { managed: { passwordEnv } })] }), live());
  const env = { ROLECALL_APPROVAL_SECRET: "0123456789abcdef0123456789abcdef" };
  for (const name of ["ROLECALL_APPROVAL_SECRET", "COPY"]) {
    expect(() =>
      passwordsFor([withVariable(name)], [], { ...env, COPY: env.ROLECALL_APPROVAL_SECRET }),
    ).toThrow(`${name} cannot be a password: it holds the key that signs records.`);
  }
});

test("an API key is never sent as a password, whichever variable a file names", () => {
  const withVariable = (passwordEnv: string) =>
    planOf(desired({ members: [member("till@example.com", { managed: { passwordEnv } })] }), live());
  const key = ["sk", "live", "0123456789abcdef"].join("_");
  expect(() => passwordsFor([withVariable("TILL_1")], [], { TILL_1: key })).toThrow(
    "TILL_1 cannot be a password: it is for an API key.",
  );
  const env = { ROLECALL_API_KEY_MC1: "restricted-0123456789" };
  expect(() => passwordsFor([withVariable("ROLECALL_API_KEY_MC1")], [], env)).toThrow(
    "ROLECALL_API_KEY_MC1 cannot be a password: it is for an API key.",
  );
});
