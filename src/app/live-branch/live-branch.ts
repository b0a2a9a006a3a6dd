import { RolecallError } from "../../model/errors.ts";
import type { CommitEntry, GitRefs } from "../../store/git-refs.ts";
import type { Io } from "../io/io.ts";
import { isReadableByAll, readPlace, withRefs } from "../records/record-place.ts";

/** The branch with the recorded live states, one file for each merchant. */
export interface LiveBranch {
  readonly name: string;
  /** Its repository in messages, such as `origin`. */
  readonly place: string;
  /** Opens the branches of the repository for one use. */
  readonly open: <T>(use: (branches: GitRefs) => Promise<T>) => Promise<T>;
  /** Returns whether everybody can read the repository, and it was not said that they may. */
  readonly isPublic: () => Promise<boolean>;
}

/** The prefix of all branches. */
export const BRANCHES = "refs/heads";

/** Opens a branch of live states: in the remote repository, or without one in this clone. */
export async function openNamedBranch(
  io: Pick<Io, "cwd" | "env" | "now" | "sleep">,
  name = "rolecall-live",
): Promise<LiveBranch> {
  const place = await readPlace(io);
  return {
    name,
    place: place.name,
    open: (use) => withRefs(place, BRANCHES, io, use),
    isPublic: async () => place.keeping === "push" && isReadableByAll(place.url, io),
  };
}

/** Returns the path of a merchant's file. */
export function recordPath(merchant: string): string {
  return `${merchant}.yaml`;
}

/** Throws RolecallError if a commit has files that are not records: the branch then has another purpose. */
export function requireRecordsOnly(entries: readonly CommitEntry[], name: string): void {
  const other = entries.find(({ path, type }) => type !== "file" || !/^[\w-]{1,64}\.yaml$/.test(path));
  if (other === undefined) return;
  throw new RolecallError("conflict", `The branch ${name} has files that rolecall has not written.`, {
    hint: "Rename or delete that branch.",
  });
}
