import { dirname, posix, resolve } from "node:path";
import { decodeUtf8, isProjectYaml } from "../../app/project/find-files.ts";
import {
  type Blobs,
  existingFolder,
  openBlobs,
  openRepository,
  type Repository,
  repositoryPaths,
} from "../../app/project/git-objects.ts";
import { fieldsOf, listOf, textOf } from "../../kernel/values/values.ts";
import { parseYaml } from "../../kernel/yaml/parse-yaml.ts";
import { memoized } from "../../lib/memoized.ts";
import type { SnapshotRole } from "../../model/questions.ts";
import type { GrantSince } from "../../show/questions/answer-formats.ts";

/** A role of a member at a merchant, whose beginning is looked for. */
export interface TracedGrant {
  /** The merchant's own file, relative to the working directory. */
  readonly file: string;
  readonly merchant: string;
  readonly email: string;
  readonly role: SnapshotRole;
}

/** Maximum number of commits that are followed back. */
const MAX_COMMITS = 5_000;

/**
 * Finds in git since when members have roles: the commit, on the first-parent history of the current branch or of
 * `from`, after the last one whose files did not grant them. Follows includes, and files and roles that were renamed.
 * Returns `null` for each outside a repository.
 */
export async function traceGrants(
  grants: readonly TracedGrant[],
  cwd: string,
  from = "HEAD",
): Promise<readonly (GrantSince | null)[]> {
  const unknown = grants.map(() => null);
  const [first] = grants;
  if (first === undefined) return unknown;
  const repository = await openRepository(existingFolder(dirname(resolve(cwd, first.file))), "since").catch(
    () => null,
  );
  if (repository === null) return unknown;
  const blobs = openBlobs(repository.root);
  try {
    return await trace(grants, cwd, from, repository, blobs);
  } catch {
    // Such as a repository without any commit.
    return unknown;
  } finally {
    blobs.close();
  }
}

async function trace(
  grants: readonly TracedGrant[],
  cwd: string,
  from: string,
  repository: Repository,
  blobs: Blobs,
): Promise<readonly (GrantSince | null)[]> {
  const inRoot = repositoryPaths(repository.root);
  const [tree, commits] = await Promise.all([readTree(repository, from), readCommits(repository, from)]);
  const read = factsReader(blobs);
  const byFile = new Map<string, OpenMerchant & { readonly open: OpenGrant[] }>();
  const openGrants = grants.map(({ file, merchant, email, role }): OpenGrant => {
    const path = inRoot(resolve(cwd, file));
    const openMerchant = byFile.get(path) ?? { path, merchant, files: new Set([path]), found: [], open: [] };
    byFile.set(path, openMerchant);
    const grant = {
      email: email.toLowerCase(),
      names: new Set([role.name, ...(role.id === null ? [] : [role.id]), ...role.previousNames]),
      since: null,
    };
    openMerchant.open.push(grant);
    return grant;
  });
  const merchants: readonly OpenMerchant[] = [...byFile.values()];
  /** Ends the grants that the files at this point of the history do not make. */
  const close = async (openMerchants: readonly OpenMerchant[], since: GrantSince): Promise<void> => {
    await Promise.all(openMerchants.map((openMerchant) => readFiles(openMerchant, tree, read)));
    for (const openMerchant of openMerchants) {
      for (const grant of openMerchant.open) if (!isGranted(grant, openMerchant.found)) grant.since = since;
      openMerchant.open = openMerchant.open.filter((grant) => grant.since === null);
    }
  };
  await close(merchants, { kind: "uncommitted", commit: null, time: null });
  for (const [index, { id, time, isBoundary, changes }] of commits.entries()) {
    const openMerchants = merchants.filter((merchant) => merchant.open.length > 0);
    if (openMerchants.length === 0) break;
    if (index % AHEAD === 0) preload(commits.slice(index, index + AHEAD), openMerchants, read);
    for (const { path, before } of changes) {
      if (before === null) tree.delete(path);
      else tree.set(path, before);
    }
    if (isBoundary) {
      for (const grant of openMerchants.flatMap((openMerchant) => openMerchant.open))
        grant.since = { kind: "by", commit: id, time };
      break;
    }
    const touched = openMerchants.filter(({ files }) => changes.some(({ path }) => files.has(path)));
    await Promise.all(touched.map((openMerchant) => followRename(openMerchant, tree, changes, read)));
    await close(touched, { kind: "commit", commit: id, time });
  }
  const oldest = commits.at(-1);
  return openGrants.map(
    ({ since }) => since ?? (oldest ? { kind: "by", commit: oldest.id, time: oldest.time } : null),
  );
}

/** The number of commits whose files are requested at once, since single requests to git are slow. */
const AHEAD = 32;

/** Begins to read the files that commits changed, of those that the merchants depend on now. */
function preload(
  commits: readonly ChangingCommit[],
  merchants: readonly OpenMerchant[],
  read: ReadFacts,
): void {
  const files = new Set(merchants.flatMap((merchant) => [...merchant.files]));
  for (const { path, before } of commits.flatMap(({ changes }) => changes)) {
    // A caller that needs the states gets the error.
    if (before !== null && files.has(path)) read(before).catch(() => undefined);
  }
}

/** A grant on its way back through the history. */
interface OpenGrant {
  readonly email: string;
  /** All names of the role so far. */
  readonly names: Set<string>;
  since: GrantSince | null;
}

/** A merchant with the grants that its files make so far. */
interface OpenMerchant {
  readonly merchant: string;
  /** The merchant's own file at the commit. */
  path: string;
  /** The files that its grants depend on, and what is in them; "unreadable" if that is not known. */
  files: ReadonlySet<string>;
  found: readonly FileFacts[] | "unreadable";
  open: readonly OpenGrant[];
}

/** Paths of YAML files → the names of their contents. */
type Tree = Map<string, string>;

/** Reads the merchant's file at a point of the history, with its includes. */
async function readFiles(openMerchant: OpenMerchant, tree: Tree, read: ReadFacts): Promise<void> {
  const files = new Set([openMerchant.path]);
  const fileFacts: FileFacts[] = [];
  openMerchant.files = files;
  for (const file of files) {
    const content = tree.get(file);
    const facts = content === undefined ? null : await read(content);
    if (facts === "unreadable") {
      openMerchant.found = facts;
      return;
    }
    if (facts === null) continue;
    fileFacts.push(facts);
    for (const path of facts.includes) files.add(posix.join(posix.dirname(file), path));
  }
  openMerchant.found = fileFacts;
}

/** Returns whether files make a grant, and remembers the names that they have for its role; true if that is not known. */
function isGranted(grant: OpenGrant, facts: OpenMerchant["found"]): boolean {
  if (facts === "unreadable") return true;
  for (const { roles } of facts) {
    for (const { name, others: otherNames } of roles) {
      if (grant.names.has(name)) for (const other of otherNames) grant.names.add(other);
    }
  }
  return facts.some(({ grants }) =>
    [...(grants.get(grant.email) ?? [])].some((role) => grant.names.has(role)),
  );
}

/** Uses the file that the merchant had before, if the commit created its current file. */
async function followRename(
  openMerchant: OpenMerchant,
  tree: Tree,
  changes: readonly FileChange[],
  read: ReadFacts,
): Promise<void> {
  if (tree.has(openMerchant.path)) return;
  for (const { path, before, after } of changes) {
    if (before === null || after !== null) continue;
    const facts = await read(before);
    if (facts !== null && facts !== "unreadable" && facts.merchant === openMerchant.merchant)
      openMerchant.path = path;
  }
}

/** The parts of a file that a grant depends on. */
interface FileFacts {
  readonly merchant: string | null;
  readonly includes: readonly string[];
  readonly roles: readonly { readonly name: string; readonly others: readonly string[] }[];
  /** Current or previous address in lower case → names or ids of roles. */
  readonly grants: ReadonlyMap<string, ReadonlySet<string>>;
}

type ReadFacts = (content: string) => Promise<FileFacts | "unreadable" | null>;

/** Creates a reader of files by the names of their contents, which reads each once. */
function factsReader(blobs: Blobs): ReadFacts {
  return memoized(async (content) => {
    const bytes = await blobs.read(content);
    const text = bytes === null ? null : decodeUtf8(bytes);
    if (text === null) return "unreadable";
    const { value, readable } = await parseYaml(text);
    return readable ? factsOf(fieldsOf(value)) : "unreadable";
  });
}

function factsOf(fields: Readonly<Record<string, unknown>>): FileFacts {
  const texts = (value: unknown): readonly string[] => [value].flat().flatMap((item) => textOf(item) ?? []);
  const grants = new Map<string, Set<string>>();
  for (const member of listOf(fields["members"]).map(fieldsOf)) {
    const granted = listOf(member["roles"]).flatMap(
      (grant) => textOf(grant) ?? textOf(fieldsOf(grant)["role"]) ?? [],
    );
    for (const address of [...texts(member["email"]), ...texts(member["previously"])]) {
      const email = address.toLowerCase();
      grants.set(email, new Set([...(grants.get(email) ?? []), ...granted]));
    }
  }
  return {
    merchant: textOf(fields["merchant"]),
    includes: texts(fields["include"]),
    roles: listOf(fields["roles"])
      .map(fieldsOf)
      .flatMap(({ name, id, previously }) =>
        textOf(name) === null ? [] : { name: String(name), others: [...texts(id), ...texts(previously)] },
      ),
    grants,
  };
}

async function readTree({ git }: Repository, from: string): Promise<Tree> {
  const listed = await git("ls-tree", "-r", "-z", "--full-tree", from);
  const entries = [...listed.matchAll(/\d+ blob (\w+)\t([^\0]+)\0/g)];
  return new Map(
    entries.flatMap(([, content = "", path = ""]) => (isProjectYaml(path) ? [[path, content] as const] : [])),
  );
}

/** A file that a commit changed; a content is `null` where there was no file. */
interface FileChange {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** A commit with the YAML files that it changed. */
interface ChangingCommit {
  readonly id: string;
  /** ISO 8601. */
  readonly time: string;
  /** True if the history before it is missing. */
  readonly isBoundary: boolean;
  readonly changes: readonly FileChange[];
}

/** Reads the commits that changed YAML files, the newest first; changes that a merge brought in belong to the merge. */
async function readCommits({ git, shallow }: Repository, from: string): Promise<readonly ChangingCommit[]> {
  const log = await git(
    ...["-c", "log.showSignature=false", "log", `--max-count=${MAX_COMMITS}`, "--first-parent", "-m"],
    ...["--raw", "-z", "--no-abbrev", "--no-renames", "--no-ext-diff", "--format=%x01%H %ct %P"],
    ...[from, "--", ":(top,icase)*.yaml", ":(top,icase)*.yml"],
  );
  return log.split("\x01").flatMap((entry): readonly ChangingCommit[] => {
    const [, id, seconds, parents] = /^(\w+) (\d+) ([\w ]*)/.exec(entry) ?? [];
    if (id === undefined) return [];
    const content = (name = ""): string | null => (/^0+$/.test(name) ? null : name);
    const changes = [...entry.matchAll(/:\d+ \d+ (\w+) (\w+) \w+\0([^\0]+)\0/g)].map(
      ([, before, after, path = ""]) => ({ path, before: content(before), after: content(after) }),
    );
    return [
      {
        id,
        time: new Date(Number(seconds) * 1000).toISOString(),
        isBoundary: shallow && parents === "",
        changes,
      },
    ];
  });
}
