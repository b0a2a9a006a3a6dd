import { Command, Option } from "commander";
import { ExitCode, type Io } from "../../app/io/io.ts";
import { warnWithoutEffect, wholeNumber } from "../args/options.ts";
import type { SandboxCommandOptions } from "../sandbox/run-sandbox.ts";

const MAX_GENERATED = 1_000_000;
const MAX_LATENCY_MS = 3_600_000;
const MAX_SEED = 4_294_967_295;

/** Declares `sandbox`. */
export function sandboxCommand(io: Io, done: (code: ExitCode) => void): Command {
  return new Command("sandbox")
    .summary("run the service locally, for tests and trials")
    .description(
      "Runs an implementation of the whole service on this machine, for tests, demos and trials. " +
        "Prints its URL when it is ready, logs each request on stderr, and runs until Ctrl-C.",
    )
    .option("--port <n>", "port to listen on; 0 picks a free one", wholeNumber(0, 65_535), DEFAULT_PORT)
    .option(
      "--host <host>",
      "address to listen on; any other than loopback exposes it to the network",
      "127.0.0.1",
    )
    .option("--seed <file>", "YAML file with the initial merchants, roles, members and keys")
    .option(
      "--state <file>",
      "save all state to this file across restarts; once it exists, it takes precedence over --seed",
    )
    .option(
      "--generate <n>",
      "generate this many members, always the same, in the first merchant",
      wholeNumber(0, MAX_GENERATED),
    )
    .option(
      "--rate-limit <n>",
      "return 429 beyond this many requests per second and key",
      wholeNumber(1, 1_000_000),
    )
    .addOption(
      new Option(
        "--rate-limit-kind <kind>",
        "count per clock second, or use a bucket that refills steadily",
      ).choices(["window", "bucket"]),
    )
    .option(
      "--rate-limit-burst <n>",
      "capacity of the bucket (default: the value of --rate-limit)",
      wholeNumber(1, 1_000_000),
    )
    .addOption(
      new Option("--retry-after <form>", "form of Retry-After in a 429").choices(["seconds", "date", "none"]),
    )
    .option("--latency <ms>", "delay each response by this much", wholeNumber(0, MAX_LATENCY_MS))
    .option(
      "--jitter <ms>",
      "add a random delay of up to this much to each response",
      wholeNumber(0, MAX_LATENCY_MS),
    )
    .option("--strict", "reject query parameters that an operation does not have")
    .option("--faults <file>", "YAML or JSON file with fault rules")
    .option(
      "--fault-seed <n>",
      "seed of all random choices (default: the file's seed, or 1)",
      wholeNumber(0, MAX_SEED),
    )
    .addHelpText("after", SANDBOX_HELP)
    .action(async (options: SandboxCommandOptions, command: Command) => {
      const warn = (names: readonly string[], reason: string): void =>
        warnWithoutEffect(command, names, reason, io.stderr.write);
      const { rateLimit, rateLimitKind, faults } = options;
      if (rateLimit === undefined) warn(["rateLimitKind", "retryAfter"], "as long as there is no rate limit");
      if (rateLimitKind !== "bucket") warn(["rateLimitBurst"], "without --rate-limit-kind bucket");
      if (faults === undefined) warn(["faultSeed"], "as long as there are no faults");
      const { runSandbox } = await import("../sandbox/run-sandbox.ts");
      await runSandbox(options, io);
      done(ExitCode.ok);
    });
}

/** Default port of the sandbox. */
const DEFAULT_PORT = 4010;

/** The part of `sandbox --help` below the options. */
const SANDBOX_HELP = `
Examples:
  rolecall sandbox                               one merchant, MC0DEMO1
  rolecall sandbox --generate 5000 --latency 50  a big merchant, a slow service
  rolecall sandbox --seed shops.yaml --state shops.json

Without --seed there is one merchant, MC0DEMO1, whose owner has the key
sk_test_sandbox:
  export ROLECALL_BASE_URL=http://127.0.0.1:${DEFAULT_PORT}
  export ROLECALL_API_KEY=sk_test_sandbox

A seed:
  merchants:
    - code: MC4F7K2P
      roles: [{ name: Shift Lead, permissions: [refunds_create] }]
      members:
        - { email: ada@example.com, roles: [role_owner] }
        - { email: bob@example.com, roles: [Shift Lead], status: pending }
        - email: bot@example.com
          type: system_account        # any user.type
        - email: eve@example.com
          attributes: { tier: 2 }
          permissions: [legacy_view]
  keys:                               # default: sk_test_sandbox, for everything
    - key: sk_test_ada
      owner: ada@example.com
      permissions: [roles_list, merchant_read]
A merchant is a test account unless it has sandbox: false.

Control routes control the sandbox itself, and need no key:
  GET    /_sandbox            lists the merchants
  POST   /_sandbox/merchants/CODE/members/ID/accept
                              also expire, disable, to-front; ID or address
  PUT    /_sandbox/merchants/CODE/members/ID/status
                              {"status": "unknown"}
  *      /_sandbox/v0.1/...   any API request, without a key
  GET    /_sandbox/requests   the request log; DELETE clears it
                              ?since=NUMBER: only requests after that one
  PUT    /_sandbox/settings   {"rate_limit": 5, "latency_ms": 100}; also
                              rate_limit_kind, rate_limit_burst, retry_after,
                              jitter_ms, request_log, strict
  POST   /_sandbox/merchants  adds a merchant, written as in a seed
  POST   /_sandbox/keys       adds a key, or replaces its permissions
  PUT    /_sandbox/seed       replaces the whole state with a seed
  PUT    /_sandbox/clock      {"advance": "8d"}, or {"now": TIME}
  GET    /_sandbox/openapi.json  the operations, in OpenAPI 3.1
  PUT    /_sandbox/faults     {"rules": [{"kind": "status", "status": 503}]}
  POST   /_sandbox/reset      restores the seed
Send bodies as JSON, with their content type:
  curl -X PUT http://127.0.0.1:${DEFAULT_PORT}/_sandbox/settings \\
    -H 'content-type: application/json' -d '{"rate_limit": 5}'

Faults, for --faults and PUT /_sandbox/faults (the same seed repeats them):
  seed: 7
  rules:
    - { kind: status, status: 503, operation: members.create, nth: 2 }
    - { kind: reset-after, probability: 0.05 }
A rule applies to every request, or to those of one operation: to the nth of
them, to every Nth, at most N times, or with a probability. Kinds, with fields:
  status           an error: status, effect (before or after the write takes
                   effect), detail, wait (seconds, for Retry-After),
                   retry_after (seconds, date or none)
  latency          a delay of ms, and up to jitter_ms more
  stall            no response for ms, then a broken connection; effect
  html             an HTML page instead of JSON: status, effect
  content-type     the correct body with the wrong content type: type
                   (text/plain), or null for none
  unassignable-roles  role_owner and role_admin cannot be assigned: 403
  expired-invitation  how a new invitation is answered if the address has an
                   expired one: answer (conflict: 409 until that is deleted;
                   replace: the new one takes its place; renew: with its id)
  invitation-limit  429 if an address was invited too often: limit (1), in
                   window (3600 seconds); email (counts that address only)
  replacing-put    a PUT of a member clears the fields that are not in its
                   body
  unknown-fields   adds unknown fields
  without-fields   leaves fields out of each role and member: fields, such as
                   [user.type, metadata]
  large-numbers    adds a number beyond 2^53 to all metadata
  predefined-role  predefined roles cannot be retrieved: answer (not-found, or
                   other-id)
  reset-before     breaks the connection before the request takes effect
  reset-after      breaks the connection after the write has taken effect
  not-http         a response that is not HTTP: answer (garbage, bad-header,
                   bad-chunk, both-lengths), effect
  truncate         half of the body, then a broken connection
  partial-json     half of the body, as if it were complete
  concurrent-edit  another client edits just before: edit, to the target of the
                   request: roles, metadata, accept, expire, disable, name,
                   description, permissions, delete, create; or any request
  shift            the member list changes between two of its pages: change
                   (remove, add or move)
`;
