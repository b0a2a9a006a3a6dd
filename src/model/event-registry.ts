import type { EventRegistry } from "./events.ts";

const MERCHANT = "Code of the merchant.";
const METHOD = "HTTP method of the request.";
const PATH = "Path of the request, with its query.";
const PHASE = "Phase of the apply.";
const RUN_FIELD = "Id of the run.";

/** Every event, by its source and type. `docs/events.md` is generated from it. */
export const EVENTS: EventRegistry = {
  service: {
    request: {
      level: "debug",
      doc: "A request is sent.",
      fields: { method: METHOD, path: PATH, attempt: "How many times it has been sent, with this one." },
    },
    response: {
      level: "debug",
      doc: "A response arrived.",
      fields: { method: METHOD, path: PATH, status: "HTTP status.", ms: "Time since it was sent, in ms." },
    },
    "no-response": {
      level: "debug",
      doc: "A request failed without a response.",
      fields: { method: METHOD, path: PATH, reason: "Why.", ms: "Time since it was sent, in ms." },
    },
    wait: {
      level: "info",
      doc: "A request waits before it is sent again.",
      fields: {
        method: METHOD,
        path: PATH,
        attempt: "How many times it has been sent so far.",
        status: "HTTP status of the last response; `null` if there was none.",
        reason: "Why it waits.",
        ms: "How long it waits, in ms.",
        until: "When the wait ends, in ms on the monotonic clock.",
        retryAfter: "Whether the service asked for this wait.",
        leftMs: "How long the request is retried from now on, in ms.",
      },
    },
    read: {
      level: "debug",
      doc: "Some of a merchant's members were read.",
      fields: {
        merchant: MERCHANT,
        members: "Members read so far.",
        total: "How many there are; `null` if unknown.",
      },
    },
    proxy: {
      level: "debug",
      doc: "Whether a proxy is used for a service; reported once for each service.",
      fields: {
        service: "Origin of the service.",
        proxy: "Origin of the proxy, without credentials; `null` if none is used.",
        because: "The environment variable that says so, or why no proxy is used.",
      },
    },
    pace: {
      level: "debug",
      doc: "The client has measured the rate limit of the service, and sends no faster for a while.",
      fields: { perSecond: "The limit, in requests per second; `null` if there is none any more." },
    },
    "caller-unknown": {
      level: "debug",
      doc: "The member that the API key belongs to could not be found; reported once for each service and key.",
      fields: { reason: "Why." },
    },
  },
  apply: {
    "apply-started": {
      level: "debug",
      doc: "The apply of one merchant's plan starts.",
      fields: { merchant: MERCHANT, changes: "How many changes the plan holds, with new passwords." },
    },
    "phase-started": {
      level: "debug",
      doc: "A phase starts; phases follow one another, and the changes of one run side by side.",
      fields: { merchant: MERCHANT, phase: PHASE, changes: "How many changes belong to it." },
    },
    "change-started": {
      level: "debug",
      doc: "A change starts.",
      fields: { merchant: MERCHANT, phase: PHASE, change: "The change, as in the plan." },
    },
    "fields-emptied": {
      level: "warn",
      doc: "The service emptied fields of a member that the update did not contain; they are restored at once.",
      fields: {
        merchant: MERCHANT,
        phase: PHASE,
        change: "The change, as in the plan.",
        fields: "Names of the fields, such as `roles`.",
      },
    },
    "change-ended": {
      level: "info",
      doc: "A change ended.",
      fields: {
        merchant: MERCHANT,
        phase: PHASE,
        outcome:
          "The change with its `status`: `done`, `stale`, `failed`, `unknown`, `unfinished` or `not-started`.",
      },
    },
    "apply-stopped": {
      level: "error",
      doc: "The apply at a merchant stops: no further change starts.",
      fields: {
        merchant: MERCHANT,
        failure: "Its own first failure; `null` if something else stopped it.",
        cause:
          "What else stopped it: another merchant, a signal or lost output; `null` if its own failure did.",
      },
    },
    "apply-ended": {
      level: "info",
      doc: "The apply of one merchant's plan ended.",
      fields: {
        merchant: MERCHANT,
        result: "Its `status` (`done`, `incomplete` or `stopped`) and the outcome of every change.",
      },
    },
  },
  report: {
    undo: {
      level: "warn",
      doc: "`undo` only: what the undo does not restore, or leaves alone.",
      fields: { run: "Id of the run to undo.", notes: "The notes, by merchant." },
    },
    planned: {
      level: "info",
      doc: "The plan of one merchant.",
      fields: { merchant: MERCHANT, plan: "The plan, as in [the plan as JSON](plan-json.md)." },
    },
    failed: {
      level: "error",
      doc: "A merchant has no plan, or a file is invalid, or an error ended the apply.",
      fields: {
        merchant: "Code of the merchant; `null` if no single one is concerned.",
        file: "The file; `null` if no file is concerned.",
        line: "The line in it, counted from 1; `null` if no place is concerned.",
        column: "The column in it, counted from 1; `null` if no place is concerned.",
        code: "Stable code of the failure or diagnostic.",
        message: "What is wrong.",
        hint: "What to do about it; `null` if unknown.",
      },
    },
    compared: {
      level: "info",
      doc: "`--approved` only: how the plan of one merchant compares with what was approved.",
      fields: {
        merchant: MERCHANT,
        refused: "Changes that are not approved, each with the `reasons`.",
        account:
          "What becomes of each approved change: the `verdict` is `covered`, `done`, `superseded`, `ended`, `deferred`, `refused` or `dropped`, with the `reasons` and the `origins` in the files.",
      },
    },
    refused: {
      level: "error",
      doc: "Nothing is changed at these merchants: a guard, a policy, a check or the approval refused it.",
      fields: { merchants: "Their codes.", reasons: "The reasons, a sentence each, with the merchant." },
    },
    "password-planned": {
      level: "info",
      doc: "The password of a managed user will be set.",
      fields: {
        merchant: MERCHANT,
        name: "The user's address.",
        passwordEnv: "Environment variable that holds the password.",
      },
    },
    verified: {
      level: "info",
      doc: "After the apply, a merchant was read and planned again.",
      fields: {
        merchant: MERCHANT,
        remaining: "Changes that remain; empty if all is well.",
        errors: "Errors of the new plan.",
        notCreated: "Members who cannot be created because the file gives them no roles.",
        deferred: "Removals that are deferred until others accept.",
        leftOut: "How many changes were left out with `--interactive`.",
        refused: "How many changes remain because the service refused an address for now.",
      },
    },
    unverified: {
      level: "warn",
      doc: "A merchant's changes are done, but it could not be read again.",
      fields: { merchant: MERCHANT, message: "Why.", failure: "The failure; absent if the run was stopped." },
    },
    journals: {
      level: "info",
      doc: "The journals of the run.",
      fields: { run: RUN_FIELD, files: "Their paths, one for each merchant." },
    },
    summary: {
      level: "info",
      doc: "The last line: how the run ended.",
      fields: {
        status: "`done`, `failed`, `refused` or `partial`.",
        exitCode: "The exit code.",
        merchants: "How many merchants were applied.",
        writes: "How many writes the service carried out, or may have.",
        changes: "How many changes ended with which status.",
        results:
          "Each merchant with its `status` (`applied`, `unchanged`, `partial`, `refused` or `failed`) and the `reasons`; empty if no plan was ready to be applied.",
      },
    },
  },
  journal: {
    run: {
      level: "info",
      doc: "The first line: who applies what, where, and from which commit.",
      fields: {
        format: "1.",
        run: RUN_FIELD,
        merchant: MERCHANT,
        environment: "`live` or `test`; `null` if the file does not say.",
        service: "Base URL of the service.",
        fingerprint: "Fingerprint of the plan.",
        changes: "How many changes the plan holds.",
        version: "Version of rolecall.",
        user: "User of the operating system; `null` if unknown.",
        host: "Host name.",
        pid: "Process id.",
        commit: "Id of the commit, and whether everything was committed; `null` without a repository.",
        job: "Address of the CI job; `null` if there is none.",
        undoes: "Id of the run that this one undoes; `null` if none.",
      },
    },
    intent: {
      level: "info",
      doc: "A write is about to be sent; the line is on the disk before it is.",
      fields: {
        write: "Number of the write in this run, from 1.",
        phase: PHASE,
        part: "Which write of the change it is: `whole`, or one of several.",
        resource: "`role` or `member`.",
        kind: "`create`, `update`, `replace` or `delete`.",
        name: "Name of the role, or address of the member.",
        id: "Id of what is written; `null` for a create.",
        reason: "Reason of the change.",
        fingerprint: "Fingerprint of the change.",
        before: "State before the write; `null` for a create.",
        after: "State after the write; `null` for a delete.",
        password: "`true` if it sets a password and nothing else; absent otherwise.",
      },
    },
    outcome: {
      level: "info",
      doc: "A write ended; without this line its outcome is unknown.",
      fields: {
        write: "Number of the write.",
        status: "`done`, `failed`, `unknown`, `stale` or `not-sent`.",
        id: "Id of what was written; `null` if unknown.",
        adopted: "Whether the response was lost and the result was found afterwards.",
        failure: "The failure; `null` if it is done.",
        already:
          "`true` if nothing had to be sent, or a password was refused as used before; absent otherwise.",
      },
    },
    end: {
      level: "info",
      doc: "The apply ended; without this line it was interrupted.",
      fields: {
        status: "`done`, `incomplete` or `stopped`.",
        cause: "Why it stopped; `null` if it did not.",
        outcomes: "How many changes ended with which status.",
      },
    },
    verified: {
      level: "info",
      doc: "After the apply, the merchant was read and planned again.",
      fields: { left: "Changes that remain.", deferred: "Removals that are deferred until others accept." },
    },
  },
};
