import { expect, test } from "vitest";
import { cellWidth } from "../../../src/lib/text.ts";
import type { Diagnostic } from "../../../src/model/diagnostic.ts";
import type { ErrorCode, Failure } from "../../../src/model/errors.ts";
import { documentText } from "../../../src/show/blocks/text-blocks.ts";
import { renderFailure, unreadDocument } from "../../../src/show/documents/failure.ts";
import { nextStepFor } from "../../../src/show/documents/next-step.ts";
import { PLAIN } from "../../../src/show/style.ts";
import { renderDiagnostics } from "../../../src/show/text/diagnostics-text.ts";

const FAILURE = {
  code: "conflict",
  message: "PUT /v0.1/merchants/MC1/members/mem_1 returned 409 Conflict",
  hint: 'Somebody else may have changed it: run "rolecall plan" again.',
  request: {
    method: "PUT",
    path: "/v0.1/merchants/MC1/members/mem_1",
    status: 409,
    attempts: 2,
    problem: {
      type: "https://rolecall.invalid/problem/conflict",
      title: "Conflict",
      status: 409,
      detail: "The member\u001b[31m is being changed.",
      instance: "urn:request:1",
    },
  },
} as const;

test("a Problem is shown whole, with what to do next", () => {
  expect(renderFailure(FAILURE, PLAIN)).toBe(
    [
      "error: PUT /v0.1/merchants/MC1/members/mem_1 returned 409 Conflict",
      "  type     https://rolecall.invalid/problem/conflict",
      "  title    Conflict",
      "  status   409",
      "  detail   The member\\u{1b}[31m is being changed.",
      "  instance urn:request:1",
      "  sent     2 times",
      '  → Somebody else may have changed it: run "rolecall plan" again.',
      "",
    ].join("\n"),
  );
});

test("members of a Problem that the standard does not name follow it", () => {
  const extensions = [
    { name: "errors", value: '[{"field":"roles"}]' },
    { name: "correlation_id", value: "4bf9\u001b[2J" },
  ];
  const problem = { type: "about:blank", extensions };
  const request = { method: "PUT", path: "/x", status: 400, attempts: 1, problem };
  expect(renderFailure({ code: "bad-request", message: "No.", request }, PLAIN)).toBe(
    [
      "error: No.",
      "  type     about:blank",
      '  errors   [{"field":"roles"}]',
      "  correlation_id 4bf9\\u{1b}[2J",
      "",
    ].join("\n"),
  );
});

/** A refusal as the client words it: the message ends with the Problem's detail. */
function refused(
  member: string,
  request: string,
  detail = "The API key lacks the permission members_update.",
) {
  const path = `/v0.1/merchants/MC1/members/${member}`;
  const type = "https://rolecall.invalid/problem/forbidden";
  return {
    code: "forbidden",
    message: `PUT ${path} returned 403 Forbidden: ${detail}`,
    request: { method: "PUT", path, status: 403, attempts: 1, problem: { type, detail, instance: request } },
  } as const;
}

test("the text of the Problem is not repeated", () => {
  expect(renderFailure(refused("mem_1", "urn:request:1"), PLAIN)).toBe(
    [
      "error: PUT /v0.1/merchants/MC1/members/mem_1 returned 403 Forbidden.",
      "  type     https://rolecall.invalid/problem/forbidden",
      "  detail   The API key lacks the permission members_update.",
      "  instance urn:request:1",
      "",
    ].join("\n"),
  );
  const { problem: _, ...request } = refused("mem_1", "").request;
  const bare = { ...refused("mem_1", ""), request };
  expect(renderFailure(bare, PLAIN)).toContain("403 Forbidden: The API key lacks");
});

test.each([40, 80, 120])(
  "a message breaks between words on a terminal of %d columns, and stays whole elsewhere",
  (columns) => {
    const failure = {
      code: "usage" as const,
      message: `The file ${"is much too long ".repeat(9)}to be read.`,
    };
    const lines = renderFailure(failure, { ...PLAIN, columns, onTerminal: true })
      .trimEnd()
      .split("\n");
    expect(lines.length).toBeGreaterThan(1);
    expect(lines.every((line) => line.length <= columns)).toBe(true);
    expect(lines.map((line) => line.trim()).join(" ")).toBe(`error: ${failure.message}`);
    expect(renderFailure(failure, PLAIN)).toBe(`error: ${failure.message}\n`);
  },
);

const HINT = "The hint of the failure.";

test.each<[code: ErrorCode, says: string]>([
  [
    "bad-request",
    "Correct the file as the detail says; if the file is correct, report this as a bug in rolecall.",
  ],
  ["unauthorized", HINT],
  [
    "request-failed",
    "Fix what the detail describes; if it is unclear, contact the service's operators about this instance.",
  ],
  ["forbidden", HINT],
  [
    "not-found",
    "It may have been removed in the meantime; otherwise check the merchant code, the base URL and the key.",
  ],
  [
    "conflict",
    "This conflicts with the current live state: find out what has changed, and correct the file or the account.",
  ],
  ["unprocessable", "The service rejected the request as invalid: correct the file as the detail says."],
  ["dependency-failed", "A dependency of the service has failed: try again later."],
  ["rate-limited", HINT],
  ["service-failed", "The service has an internal error: try again later."],
  ["unexpected-status", HINT],
  ["network", "Check the network and the base URL, and that the service is up."],
  ["timeout", "Check the network and the base URL, and that the service is up."],
  ["bad-response", HINT],
  ["listing-unstable", "Somebody is changing this account right now: try again later."],
  ["stale", "Check that the file is still what you want."],
  ["journal-unwritable", HINT],
  ["usage", HINT],
])("after %s it says in one sentence what to do", (code, says) => {
  expect(nextStepFor("failed", { code, message: "It failed.", hint: HINT })).toBe(says);
});

test("a write that may have been applied is not called a failure, whatever the cause of the lost response", () => {
  for (const code of ["timeout", "service-failed", "bad-response"] as const) {
    expect(nextStepFor("unknown", { code, message: "It was lost.", hint: HINT })).toBe(
      "The change may have taken effect: the next plan shows whether it has.",
    );
  }
});

test("a failure without a hint has no next step if the next step is its hint", () => {
  expect(nextStepFor("failed", { code: "forbidden", message: "No." })).toBeNull();
});

test.each<[Failure, boolean]>([
  [{ code: "key-missing", message: "There is no API key for MC1." }, true],
  [{ code: "base-url-missing", message: "No base URL is configured." }, true],
  [{ code: "network", message: "No.", request: { method: "GET", path: "/x", attempts: 1 } }, true],
  [{ code: "forbidden", message: "No.", request: { method: "GET", path: "/x", attempts: 1 } }, true],
  [{ code: "forbidden", message: "No.", request: { method: "PUT", path: "/x", attempts: 1 } }, false],
  [{ code: "conflict", message: "No.", request: { method: "GET", path: "/x", attempts: 1 } }, false],
])("a failure on the way to the service names doctor: %#", (failure, named) => {
  expect(
    renderFailure({ ...failure, hint: "Do this." }, PLAIN).includes('Do this. Run "rolecall doctor"'),
  ).toBe(named);
});

test("merchants that failed for the same reason are named together", () => {
  const missing = { code: "key-missing" } as const;
  const failed = ["MC1", "MC2", "MC3"].map((merchant) => ({
    merchant,
    error: {
      failure: { ...missing, message: `There is no API key for ${merchant}.`, hint: `Set KEY_${merchant}.` },
    },
  }));
  const other = {
    merchant: "MC4",
    error: { failure: { ...missing, message: "The key is malformed.", hint: "Set KEY_MC4." } },
  };
  const next = (key: string) => `  → Set ${key}. Run "rolecall doctor" to find the cause.\n`;
  expect(documentText(unreadDocument("planned", [...failed, other]), PLAIN)).toBe(
    `MC1, MC2, MC3 could not be planned.\nerror, 3 times: There is no API key for these merchants.\n${next("KEY_<MERCHANT>")}\nMC4 could not be planned.\nerror: The key is malformed.\n${next("KEY_MC4")}`,
  );
  expect(documentText(unreadDocument("planned", []), PLAIN)).toBe("");
});

/** A warning in one of many files. */
function warningIn(shop: number, message = 'The role "Cashier" is now called "Seller".'): Diagnostic {
  return {
    code: "previous-role-name",
    severity: "warning",
    message,
    hint: 'Write "Seller".',
    file: `access/shop-${shop}.yaml`,
    span: { line: 4, column: 13, endLine: 4, endColumn: 20 },
    frame: `> 4 |     roles: [Cashier] # ${shop}`,
  };
}

test("errors that differ in the person they name are one, with every place", () => {
  const errors = Array.from(
    { length: 24 },
    (_, index): Diagnostic => ({
      ...warningIn(index + 1, `user-${index}@example.com would hold "Contractor" without an end date.`),
      code: "policy-require-until",
      severity: "error",
    }),
  );
  const text = renderDiagnostics(errors, PLAIN);
  expect(text.match(/without an end date/g)).toHaveLength(1);
  expect(text.match(/access\/shop-\d+\.yaml:4:13/g)).toHaveLength(24);
  expect(text).toContain("24 errors");
});

test("equal warnings in many files are shown once, with the first places and how many more there are", () => {
  const warnings = Array.from({ length: 300 }, (_, index) => warningIn(index + 1));
  const other = warningIn(7, "Something else.");
  expect(renderDiagnostics([...warnings, other], PLAIN)).toBe(
    [
      'access/shop-1.yaml:4:13: warning: The role "Cashier" is now called "Seller". [previous-role-name]',
      "  > 4 |     roles: [Cashier] # 1",
      "  Also at access/shop-2.yaml:4:13, access/shop-3.yaml:4:13, access/shop-4.yaml:4:13 and 296 more.",
      '  → Write "Seller".',
      "",
      "access/shop-7.yaml:4:13: warning: Something else. [previous-role-name]",
      "  > 4 |     roles: [Cashier] # 7",
      '  → Write "Seller".',
      "",
      "301 warnings",
      "",
    ].join("\n"),
  );
});

test("two equal warnings are both shown whole", () => {
  const shown = renderDiagnostics([warningIn(1), warningIn(2)], PLAIN);
  expect(shown.match(/roles: \[Cashier\]/g)).toHaveLength(2);
  expect(shown).not.toContain("Also at");
});

test("a frame is cut around its carets to the width of a terminal", () => {
  const source = "    roles: [Shift Lead, 店 Parcel Desk, { role: Cashier, until: 2027-01-01 }]";
  const start = source.indexOf("Parcel") + 1;
  const frame = `  35 |   - email: yuki\n> 36 | ${source}\n     | ${" ".repeat(start)}^^^^^^^^^^^`;
  const one: Diagnostic = { severity: "warning", code: "x", file: "a.yaml", message: "Look.", frame };
  expect(
    renderDiagnostics([one], { ...PLAIN, columns: 40, onTerminal: true })
      .split("\n")
      .slice(1, 4),
  ).toEqual(["    35 | …", "  > 36 | …Lead, 店 Parcel Desk, { role:…", "       |           ^^^^^^^^^^^"]);
  const at80 = renderDiagnostics([one], { ...PLAIN, onTerminal: true }).split("\n");
  expect(at80.slice(1, 4).map(cellWidth)).toEqual([24, 79, 47]);
  expect(renderDiagnostics([one], PLAIN)).toContain(source);
});

test("merchants that a request was sent for at different times are together, with the range", () => {
  const failed = [4, 6, 5].map((attempts, at) => {
    const request = {
      method: "GET",
      path: `/v0.1/merchants/MC${at}/members`,
      status: 503,
      attempts,
    } as const;
    const failure = {
      code: "service-failed",
      message: `GET ${request.path} returned 503.`,
      request,
    } as const;
    return { merchant: `MC${at}`, error: { failure } };
  });
  const text = documentText(unreadDocument("read", failed), PLAIN);
  expect(text).toContain("MC0, MC1, MC2 could not be read.\n");
  expect(text.match(/^error.*$/gm)).toHaveLength(1);
  expect(text).toContain("\n  sent     4 to 6 times\n");
});
