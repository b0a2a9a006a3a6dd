import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const FIRST =
  "ada bob cleo dan eve femi gus hana ines jo karim lena mia noor otto priya rosa sam tara uli".split(" ");
const LAST = "adler berg costa diaz evans frei gupta haas ito jones kaya lund mori novak okafor park".split(
  " ",
);

/** The number of merchants of the fleet. */
export const FLEET = 60;

/** Writes a fleet of shops of different sizes and with different changes: as files, and as the live state before. */
export function writeFleet(folder) {
  mkdirSync(join(folder, "access"), { recursive: true });
  const live = Array.from({ length: FLEET }, (_, index) => {
    const number = String(index + 1).padStart(3, "0");
    const code = `MC0SHOP${number}`;
    const person = (at) => {
      const [first, last] = [FIRST[(at * 7 + index) % FIRST.length], LAST[(at * 3 + index) % LAST.length]];
      return `${first}.${last}${at}@shop${index + 1}.example.com`;
    };
    const members = (from, to) =>
      Array.from({ length: to - from }, (_, at) => member(person(from + at), (from + at) % 9 === 4));
    const size = 12 + ((index * 37) % 70);
    const [gone, come] = [1 + (index % 3), 2 + ((index * 5) % 6)];
    writeFileSync(
      join(folder, "access", `${code}.yaml`),
      [
        "version: 1",
        `merchant: ${code}`,
        "roles:",
        role("Cashier", "catalog_view, sales_create, customers_view"),
        role("Shift Lead", "refunds_create, payouts_view"),
        ...(index % 2 === 0 ? [role("Auditor", "payouts_view, transactions_view")] : []),
        "members:",
        OWNER,
        ...members(gone, size + come),
        ...(index % 2 === 0 ? [`  - { email: audit${index + 1}@example.com, roles: [Auditor] }`] : []),
        "",
      ].join("\n"),
    );
    const before = [
      "roles:",
      role("Cashier", "catalog_view, sales_create"),
      role("Shift Lead", "refunds_create, payouts_view"),
      "members:",
      OWNER,
      ...members(0, size),
    ];
    return [`  - code: ${code}`, ...before.map((line) => `    ${line}`)].join("\n");
  });
  writeFileSync(
    join(folder, "seed.yaml"),
    `merchants:\n${live.join("\n")}\nkeys:\n  - { key: sk_test_sandbox, owner: owner@example.com }\n`,
  );
}

const OWNER = "  - { email: owner@example.com, roles: [role_owner] }";

function role(name, permissions) {
  return `  - { name: ${name}, permissions: [${permissions}] }`;
}

function member(email, leads) {
  return `  - { email: ${email}, roles: [${leads ? "Shift Lead" : "Cashier"}] }`;
}
