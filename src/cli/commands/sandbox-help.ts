/** Default port of the sandbox. */
export const DEFAULT_PORT = 4010;

/** The part of `sandbox --help` below the options. */
export const SANDBOX_HELP = `
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
          type: system_account        # user.type; any word is allowed
        - email: eve@example.com
          attributes: { tier: 2 }
          permissions: [legacy_view]
  keys:                               # default: sk_test_sandbox, for everything
    - key: sk_test_ada
      owner: ada@example.com
      permissions: [roles_list, merchant_read]
A merchant is a test account unless it says sandbox: false.

Control routes do what the API cannot (no key needed, loopback only):
  GET    /_sandbox            the merchants
  POST   /_sandbox/merchants/CODE/members/ID/accept
                              also expire, disable, to-front; ID or address
  PUT    /_sandbox/merchants/CODE/members/ID/status
                              {"status": "unknown"}
  *      /_sandbox/v0.1/...   any API request, without a key
  GET    /_sandbox/requests   the request log; DELETE clears it
                              ?since=NUMBER: only requests after that one
  PUT    /_sandbox/settings   {"rate_limit": 5, "latency_ms": 100}; also
                              rate_limit_kind, rate_limit_burst, retry_after,
                              jitter_ms, request_log
  PUT    /_sandbox/faults     {"rules": [{"kind": "status", "status": 503}]}
  POST   /_sandbox/reset      back to the seed
A body is sent as JSON, with its content type:
  curl -X PUT http://127.0.0.1:${DEFAULT_PORT}/_sandbox/settings \\
    -H 'content-type: application/json' -d '{"rate_limit": 5}'

Faults, for --faults and PUT /_sandbox/faults (chances repeat with the seed):
  seed: 7
  rules:
    - { kind: status, status: 503, operation: members.create, nth: 2 }
    - { kind: reset-after, probability: 0.05 }
A rule applies to every request, or to those of one operation; of these to the
nth, to every Nth, to at most N (times), or to each with a probability. Kinds:
  status           a Problem: status, effect (before or after the write took
                   effect), detail, retry_after
  latency          waits ms, and up to jitter_ms more
  stall            no answer for ms, then a broken connection; effect
  html             a page of HTML instead of JSON: status, effect
  content-type     the right answer under the wrong type: type (text/plain), or
                   null for none
  expired-invitation  how a new invitation is answered if the address has an
                   expired one: answer (conflict: 409 until that is deleted;
                   replace: the new one takes its place; renew: with its id)
  invitation-limit  429 if an address was invited too often: limit (1), in
                   window (3600 seconds); email (counts that address only)
  replacing-put    a PUT of a member empties the fields that are not in its
                   body
  unknown-fields   fields that the contract does not have
  without-fields   leaves fields out of each role and member: fields, such as
                   [user.type, metadata]
  large-numbers    a number of more than 2^53 in all metadata
  predefined-role  predefined roles cannot be retrieved: answer (not-found, or
                   other-id)
  reset-before     breaks the connection before the write takes effect
  reset-after      breaks the connection after the write took effect
  not-http         an answer that is not HTTP: answer (garbage, bad-header,
                   bad-chunk, both-lengths), effect
  truncate         half of the body, then a broken connection
  partial-json     half of the body, as a complete one
  concurrent-edit  another client edits just before: edit, to the target of the
                   request: roles, metadata, accept, expire, disable, name,
                   description, permissions, delete, create; or any request
  shift            the list of members changes between two of its pages: change
                   (remove, add or move)
`;
