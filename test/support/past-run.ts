import { applyPlan } from "../../src/apply/apply-plan.ts";
import { RolecallError } from "../../src/model/errors.ts";
import type { RunStarted, WriteIntended } from "../../src/model/journal.ts";
import type { PastRun, PastWrite } from "../../src/model/past-run.ts";
import { type Change, type Plan, SET_ASIDE } from "../../src/model/plan.ts";
import type { LiveWriter } from "../../src/model/ports.ts";
import type { ModelService } from "./model-service.ts";

const AT = "2026-06-15T12:00:00.000Z";

/** The first line of a journal. */
export function runStarted(rest: Partial<RunStarted> = {}): RunStarted & { readonly at: string } {
  return {
    at: AT,
    type: "run",
    format: 1,
    run: "2026-06-15T12-00-00-000Z-MC1",
    merchant: "MC1",
    environment: null,
    service: "https://service.example",
    fingerprint: "0123456789abcdef0123456789abcdef",
    changes: 1,
    version: "0.0.0",
    user: "ada",
    host: "till",
    pid: 4711,
    commit: { id: "0a1b2c3d4e5f60718293a4b5c6d7e8f901234567", clean: true },
    job: null,
    undoes: null,
    ...rest,
  };
}

/** How a run of a test is cut short: at which write, and whether the service still did it. */
export interface Cut {
  readonly at: number;
  readonly did: boolean;
}

/** Applies a plan to a model service, and gives what its journal would tell. */
export async function runOf(plan: Plan, service: ModelService, cut?: Cut): Promise<PastRun> {
  const writes: PastWrite[] = [];
  const record = async <T>(
    intent: Pick<WriteIntended, "part" | "id" | "phase"> & { readonly change: Change },
    send: () => Promise<T>,
  ): Promise<T> => {
    const { change, part, id, phase } = intent;
    const { resource, kind, name, reason, fingerprint, before, after } = change;
    const write = writes.length + 1;
    const told = { resource, kind, name, reason, fingerprint, before, after, part, id, phase, write };
    const done = (result: {
      readonly id: string | null;
      readonly status: "done" | "unknown";
    }): PastWrite => ({
      intent: { at: AT, type: "intent", ...told },
      outcome: { at: AT, type: "outcome", write, adopted: false, failure: null, ...result },
    });
    if (cut && write > cut.at) throw new RolecallError("network", "cut short");
    if (cut && write === cut.at) {
      writes.push(done({ id, status: "unknown" }));
      if (cut.did) await send();
      throw new RolecallError("network", "cut short");
    }
    const sent = await send();
    writes.push(done({ id: (sent as { readonly id: string } | undefined)?.id ?? id, status: "done" }));
    return sent;
  };
  const find = (test: (change: Change) => boolean): Change => {
    const change = plan.changes.find(test);
    if (change === undefined) throw new Error("a write that is in no plan");
    return change;
  };
  const byId = (id: string): Change => find((change) => change.id === id);
  const { writer } = service;
  const recording: LiveWriter = {
    createRole: (draft) => {
      const change = find(
        ({ kind, resource, after }) =>
          (kind === "create" || kind === "replace") &&
          resource === "role" &&
          after !== null &&
          "name" in after &&
          after.name === draft.name,
      );
      const part = change.kind === "replace" ? "create" : "whole";
      return record({ change, part, id: null, phase: "create-roles" }, () => writer.createRole(draft));
    },
    updateRole: (id, patch) => {
      const part = patch.name?.endsWith(SET_ASIDE) ? "set-aside" : "whole";
      return record({ change: byId(id), part, id, phase: "update-roles" }, () =>
        writer.updateRole(id, patch),
      );
    },
    deleteRole: (id) => {
      const part = byId(id).kind === "replace" ? "remove" : "whole";
      return record({ change: byId(id), part, id, phase: "delete-roles" }, () => writer.deleteRole(id));
    },
    createMember: (draft) => {
      const change = find(
        ({ kind, resource, name }) =>
          resource === "member" && kind !== "update" && kind !== "delete" && name === draft.email,
      );
      const part = change.kind === "replace" ? "create" : "whole";
      return record({ change, part, id: null, phase: "write-members" }, () => writer.createMember(draft));
    },
    updateMember: (id, update) =>
      record({ change: byId(id), part: "whole", id, phase: "write-members" }, () =>
        writer.updateMember(id, update),
      ),
    deleteMember: (id) => {
      const part = byId(id).kind === "replace" ? "remove" : "whole";
      return record({ change: byId(id), part, id, phase: "delete-members" }, () => writer.deleteMember(id));
    },
  };
  await applyPlan(plan, {
    writer: recording,
    password: () => "correct horse",
    emit: () => undefined,
    concurrency: 1,
    stop: new AbortController().signal,
  });
  return { run: runStarted(), writes, end: null, verified: null, torn: false };
}
