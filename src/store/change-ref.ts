import { RolecallError } from "../model/errors.ts";
import type { FileEdits, GitRefs } from "./git-refs.ts";

/** The ref with the states of merchants and the lists of runs. */
export const STATE = "state";

/** Attempts to change a ref that others change at the same time. */
const MAX_ATTEMPTS = 30;

/**
 * Commits the files of a ref as edited by `edit`, which receives the ref's commit; tries again if somebody else has
 * moved the ref. Returns the new commit; `null` if nothing is edited. Throws RolecallError.
 */
export async function changeRef(
  refs: GitRefs,
  ref: string,
  message: string | ((edits: FileEdits) => string),
  edit: (from: string | undefined) => Promise<FileEdits>,
  sleep: (ms: number) => Promise<void>,
): Promise<string | null> {
  // Without the store's own name, two writers of the same change would create the same commit, and both would seem to
  // come first.
  const messageOf = typeof message === "string" ? () => `${message}\n\n${refs.writer}` : message;
  for (let attempt = 1; ; attempt++) {
    const from = (await refs.fetch([`${ref}*`])).get(ref);
    const edits = await edit(from);
    if (edits.size === 0) return null;
    const to = await refs.commit(from ?? null, edits, messageOf(edits));
    if (await refs.push([{ ref, from: from ?? null, to }])) return to;
    if (attempt === MAX_ATTEMPTS) {
      throw new RolecallError(
        "conflict",
        `The records in ${ref} could not be written: other jobs kept changing them.`,
      );
    }
    // Each writer waits for a different time, so that one of them comes first.
    await sleep(100 + (Number.parseInt(to.slice(0, 4), 16) % 400) * attempt);
  }
}
