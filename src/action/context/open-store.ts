import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Seal } from "../../kernel/approval/seal.ts";
import type { ReviewStore } from "../../review/merchant-state.ts";
import { type GitError, openRefs } from "../../store/git-refs.ts";
import { openRecords } from "../../store/open-records.ts";
import { keyedHash } from "../../store/sealed-json.ts";
import type { ActionContext } from "./action-context.ts";
import { ActionError } from "./action-error.ts";

/** The records of a run's service and label, and how they name people. */
export interface OpenStore {
  readonly store: ReviewStore;
  readonly seal: Seal;
}

/** Opens the records in the repository's refs for `use`; throws ActionError without the secret that signs them. */
export async function withStore<T>(
  { inputs, event, scope, io }: Pick<ActionContext, "inputs" | "event" | "scope" | "io">,
  use: (open: OpenStore) => Promise<T>,
): Promise<T> {
  const { approvalSecret: key, githubToken: token } = inputs;
  if (key === "") {
    throw new ActionError(
      "usage",
      "The input approval-secret is empty: it signs what was reviewed and what was applied.",
      'Make a secret with "openssl rand -hex 32", and give it to plan, apply and due.',
    );
  }
  const folder = await mkdtemp(join(event.temp, "rolecall-store-"));
  const remote = {
    url: `${event.serverUrl}/${event.owner}/${event.repo}`,
    prefix: inputs.refs,
    authorization: `basic ${Buffer.from(`x-access-token:${token}`).toString("base64")}`,
  };
  const refs = openRefs(remote, { folder, env: io.env, now: io.now });
  try {
    const store: ReviewStore = openRecords(refs, { family: scope.family, key }, (ms) => io.sleep(ms));
    return await use({ store, seal: (text) => keyedHash(text, key) });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Converts an error of git's to an ActionError. */
export function storeError({ message, code }: GitError): ActionError {
  return new ActionError(
    "github",
    `The records of reviews and applies could not be reached. ${message}`,
    code === "forbidden" ? "Give the job the permission contents: write, and run it again." : "Run it again.",
  );
}
