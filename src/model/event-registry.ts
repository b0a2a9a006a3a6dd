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
      fields: {
        method: METHOD,
        path: PATH,
        attempt: "Number of times it has been sent, including this one.",
      },
    },
    response: {
      level: "debug",
      doc: "A response arrived.",
      fields: { method: METHOD, path: PATH, status: "HTTP status.", ms: "Time since it was sent, in ms." },
    },
    "no-response": {
      level: "debug",
      doc: "A request failed without a response.",
      fields: { method: METHOD, path: PATH, reason: "The reason.", ms: "Time since it was sent, in ms." },
    },
    wait: {
      level: "info",
      doc: "A request waits before it is sent again.",
      fields: {
        method: METHOD,
        path: PATH,
        attempt: "Number of times it has been sent so far.",
        status: "HTTP status of the last response; `null` if there was none.",
        reason: "Reason for the wait.",
        ms: "Length of the wait, in ms.",
        until: "End of the wait, in ms on the monotonic clock.",
        retryAfter: "Whether the service asked for this wait.",
        leftMs: "Remaining time in which the request is retried, in ms.",
      },
    },
    read: {
      level: "debug",
      doc: "Some of a merchant's members were read.",
      fields: {
        merchant: MERCHANT,
        members: "Members read so far.",
        total: "Total number of members; `null` if unknown.",
      },
    },
    proxy: {
      level: "debug",
      doc: "Whether a proxy is used for a service; reported once for each service.",
      fields: {
        service: "Origin of the service.",
        proxy: "Origin of the proxy, without credentials; `null` if none is used.",
        because: "The environment variable that decided this, or why no proxy is used.",
      },
    },
    pace: {
      level: "debug",
      doc: "The client has measured the rate limit of the service, and stays below it for a while.",
      fields: { perSecond: "The limit, in requests per second; `null` if it was lifted." },
    },
    "caller-unknown": {
      level: "debug",
      doc: "The member that the API key belongs to could not be found; reported once for each service and key.",
      fields: { reason: "The reason." },
    },
  },
  apply: {
    "apply-started": {
      level: "debug",
      doc: "The apply of one merchant's plan starts.",
      fields: { merchant: MERCHANT, changes: "Number of changes in the plan, including new passwords." },
    },
    "phase-started": {
      level: "debug",
      doc: "A phase starts; phases run in order, and the changes of a phase concurrently, but a role is given before it is taken from others.",
      fields: { merchant: MERCHANT, phase: PHASE, changes: "Number of changes in the phase." },
    },
    "change-started": {
      level: "debug",
      doc: "A change starts.",
      fields: { merchant: MERCHANT, phase: PHASE, change: "The change, as in the plan." },
    },
    "fields-emptied": {
      level: "warn",
      doc: "The service cleared fields of a member that the update did not contain; they are restored at once.",
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
        failure: "The first failure at the merchant; `null` if something else stopped the apply.",
        cause:
          "What else stopped the apply: another merchant, a signal or lost output; `null` if `failure` did.",
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
      doc: "`undo` only: what the undo cannot restore, or leaves alone.",
      fields: { run: "Id of the run to undo.", notes: "The notes, by merchant." },
    },
    planned: {
      level: "info",
      doc: "The plan of one merchant.",
      fields: { merchant: MERCHANT, plan: "The plan, as in [the plan as JSON](plan-json.md)." },
    },
    failed: {
      level: "error",
      doc: "A merchant could not be planned, a file is invalid, or an error ended the apply.",
      fields: {
        merchant: "Code of the merchant; `null` if the failure does not concern exactly one.",
        file: "The file; `null` if the failure is not in a file.",
        line: "The line in the file, counted from 1; `null` if it has no position.",
        column: "The column in the line, counted from 1; `null` if it has no position.",
        code: "Stable code of the failure or diagnostic.",
        message: "The error message.",
        hint: "The next step; `null` if there is none.",
      },
    },
    compared: {
      level: "info",
      doc: "`--approved` only: how the plan of one merchant compares with what was approved.",
      fields: {
        merchant: MERCHANT,
        refused: "Changes that are not approved, each with the `reasons`.",
        account:
          "The result of each approved change: the `verdict` is `covered`, `done`, `superseded`, `ended`, `deferred`, `refused` or `dropped`, with the `reasons` and the `origins` in the files.",
      },
    },
    refused: {
      level: "error",
      doc: "A guard, a policy, a check or the approval refused the apply; nothing is changed at these merchants.",
      fields: {
        merchants: "Codes of the merchants.",
        reasons: "The reasons, one sentence each, with the merchant.",
      },
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
        remaining: "Changes that remain; empty if the result is as planned.",
        errors: "Errors of the new plan.",
        notCreated: "Members who cannot be created because the file gives them no roles.",
        deferred: "Removals that are deferred until others accept.",
        leftOut: "Number of changes that were left out with `--interactive`.",
        refused: "Number of changes that remain because the service temporarily refuses an address.",
      },
    },
    unverified: {
      level: "warn",
      doc: "A merchant's changes are done, but the merchant could not be read again.",
      fields: {
        merchant: MERCHANT,
        message: "The reason.",
        failure: "The failure; absent if the run was stopped.",
      },
    },
    journals: {
      level: "info",
      doc: "The journals of the run.",
      fields: { run: RUN_FIELD, files: "Their paths, one for each merchant." },
    },
    summary: {
      level: "info",
      doc: "The last line of the stream: how the run ended.",
      fields: {
        status: "`done`, `failed`, `refused` or `partial`.",
        exitCode: "The exit code.",
        merchants: "Number of merchants whose plans were applied.",
        writes: "Number of writes that the service carried out, or may have carried out.",
        changes: "Number of changes by their final status.",
        results:
          "Each merchant with its `status` (`applied`, `unchanged`, `partial`, `refused` or `failed`) and the `reasons`; empty if no plan was ready to be applied.",
      },
    },
  },
  journal: {
    run: {
      level: "info",
      doc: "The first line of a journal: who applies what, where, and from which commit.",
      fields: {
        format: "1.",
        run: RUN_FIELD,
        merchant: MERCHANT,
        environment: "`live` or `test`; `null` if neither the file nor the key determines it.",
        service: "Base URL of the service.",
        fingerprint: "Fingerprint of the plan.",
        changes: "Number of changes in the plan.",
        version: "Version of rolecall.",
        user: "Operating system user; `null` if unknown.",
        host: "Host name.",
        pid: "Process id.",
        commit: "Id of the commit, and whether the working tree was clean; `null` without a repository.",
        job: "URL of the CI job; `null` if there is none.",
        undoes: "Id of the run that this one undoes; `null` if none.",
        overridden: "The refusals that `--allow` has overridden, one sentence each; absent if none.",
      },
    },
    intent: {
      level: "info",
      doc: "A write is about to be sent; the line is written to disk first.",
      fields: {
        write: "Number of the write in this run, from 1.",
        phase: PHASE,
        part: "Part of the change that is written: `whole`, or one of several.",
        resource: "`role` or `member`.",
        kind: "`create`, `update`, `replace` or `delete`.",
        name: "Name of the role, or address of the member.",
        id: "Id of the resource; `null` for a create.",
        reason: "Reason for the change.",
        fingerprint: "Fingerprint of the change.",
        before: "State before the write; `null` for a create.",
        after: "State after the write; `null` for a delete.",
        password: "`true` if it sets a password and nothing else; absent otherwise.",
      },
    },
    outcome: {
      level: "info",
      doc: "A write ended. If this line is missing, the outcome of the write is unknown.",
      fields: {
        write: "Number of the write.",
        status: "`done`, `failed`, `unknown`, `stale` or `not-sent`.",
        id: "Id of the resource; `null` if unknown.",
        adopted: "Whether the response was lost and the result was found by a lookup.",
        failure: "The failure; `null` if the write is done.",
        already:
          "`true` if nothing had to be sent, or if the service refused a password as used before; absent otherwise.",
      },
    },
    end: {
      level: "info",
      doc: "The apply ended. If this line is missing, the apply was interrupted.",
      fields: {
        status: "`done`, `incomplete` or `stopped`.",
        cause: "Why the apply stopped; `null` if it did not.",
        outcomes: "Number of changes by their final status.",
      },
    },
    verified: {
      level: "info",
      doc: "After the apply, the merchant was read and planned again.",
      fields: { left: "Changes that remain.", deferred: "Removals that are deferred until others accept." },
    },
  },
};
