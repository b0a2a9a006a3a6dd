import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { type SharedRoles, shareRoles } from "../../config/adopt/share-roles.ts";
import { MERCHANT } from "../../config/schema/text-schemas.ts";
import { oneLine } from "../../lib/escape.ts";
import { by, counted } from "../../lib/text.ts";
import type { Adoption } from "../../model/adoption.ts";
import type { SyncMode } from "../../model/desired.ts";
import { RolecallError } from "../../model/errors.ts";
import type { LiveState, Membership } from "../../model/live.ts";
import { renderUnread } from "../../render/text/failure-text.ts";
import type { FilePatch } from "../../render/text/patch-text.ts";
import { hangingLines, wrapText } from "../../render/text/wrap.ts";
import type { ServiceOptions } from "../args/options.ts";
import { defaultPath } from "../files/find-files.ts";
import { isFileError, loadStatesIfAny } from "../files/load-states.ts";
import { ExitCode, type Io } from "../io/io.ts";
import { styleFor } from "../io/output.ts";
import { announceIfSlow } from "../progress/log-progress.ts";
import { openProgress } from "../progress/open-progress.ts";
import { type Connection, resolveOwnConnection } from "../session/connection.ts";
import { printDiagnostics } from "../session/plan-merchants.ts";
import { openServices, type Services } from "../session/services.ts";
import { previewNewFiles } from "../show/preview-plans.ts";
import { readMemberships } from "../show/show-memberships.ts";
import { askBaseUrl, askKeyVariable, type Interview, openInterview } from "./init-questions.ts";
import {
  adoptNew,
  isRepositoryRoot,
  type NewFileHeader,
  newFileText,
  projectFiles,
  refuseUnusedFiles,
  SCHEMA_FILE,
  sharedFileText,
  writePatches,
} from "./new-files.ts";

/** The options of `init`. */
export type InitCommandOptions = Omit<ServiceOptions, "shard"> & {
  readonly all?: true;
  readonly keyEnv?: string;
  readonly sync?: SyncMode;
  readonly shareRoles?: true;
  readonly workflows?: true;
  readonly codeowners?: string;
  readonly yes?: true;
  readonly color: boolean;
};

const SYNC_MODES = [
  { mode: "authoritative", note: "an apply removes what is not listed" },
  { mode: "additive", note: "what is not listed is left alone" },
] as const;

/** Writes the files of merchants that are live, and shows that their plans have no changes. */
export async function initProject(options: InitCommandOptions, io: Io): Promise<ExitCode> {
  refuseUnusedFiles(options, io.cwd);
  const interview = openInterview(options, io);
  const connection = await chooseConnection(options, interview, io);
  const progress = openProgress(options, io);
  const services = openServices({ ...options, emit: progress.live }, io);
  try {
    const declared = await declaredMerchants(options, io);
    const codes = await chooseMerchants({ options, interview, connection, services, declared }, io);
    progress.reading(codes);
    const reads = await Promise.all(
      codes.map((code) => readMerchant(code, { connection, services, progress })),
    );
    await progress.rest();
    const lives = reads.flatMap((read) => ("live" in read ? read.live : []));
    const unread = reads.flatMap((read) => ("error" in read ? [read] : []));
    io.stderr.write(renderUnread("read", unread, styleFor(io.stderr, io, options.color)));
    if (codes.length === 0) return await writeProjectOnly(options, io);
    if (lives.length === 0) return ExitCode.failed;
    const files = await chooseFiles(lives, { options, interview, connection }, io);
    await writePatches(files, io);
    const merchants = lives.map(({ merchant }) => merchant);
    const paths = files.slice(-merchants.length).map(({ file }) => file);
    const planned = await previewNewFiles(paths, { ...options, merchant: [], format: "text" }, io);
    if (planned === ExitCode.ok) showNextSteps(merchants, files, options, io);
    return lives.length < reads.length ? ExitCode.failed : planned;
  } finally {
    await progress.rest();
    await services.close();
  }
}

function wantsProjectFiles({ workflows, codeowners }: InitCommandOptions): boolean {
  return workflows === true || codeowners !== undefined;
}

/** Adds the requested files to a project whose merchants have theirs. */
async function writeProjectOnly(options: InitCommandOptions, io: Io): Promise<ExitCode> {
  const { workflows = false, codeowners = null } = options;
  const files = projectFiles(join(defaultPath(io.cwd), ".."), { workflows, owner: codeowners }, io.cwd);
  await writePatches(files, io);
  if (files.length === 0) io.stdout.write("There is nothing to write: the files exist already.\n");
  else showNextSteps([], files, options, io);
  return ExitCode.ok;
}

async function chooseConnection(
  options: InitCommandOptions,
  interview: Interview | null,
  io: Io,
): Promise<Connection> {
  const { baseUrl: givenUrl, keyEnv: givenVariable } = options;
  const needsUrl = givenUrl === undefined && !io.env["ROLECALL_BASE_URL"];
  const needsKey = givenVariable === undefined && !io.env["ROLECALL_API_KEY"];
  const baseUrl = needsUrl && interview ? await askBaseUrl(interview) : givenUrl;
  const keyEnv = needsKey && interview ? await askKeyVariable(interview, io.env) : givenVariable;
  return resolveOwnConnection(
    { ...(baseUrl !== undefined && { baseUrl }), ...(keyEnv !== undefined && { keyEnv }) },
    io.env,
  );
}

/** Returns the merchants that have a file, by code, with the file; throws RolecallError if a file may be anybody's. */
async function declaredMerchants(
  options: Pick<InitCommandOptions, "color">,
  io: Io,
): Promise<ReadonlyMap<string, string>> {
  const loaded = await loadStatesIfAny([], { merchants: [], cwd: io.cwd, now: io.now() });
  const errors = loaded?.diagnostics.filter(isFileError) ?? [];
  printDiagnostics(errors, { ...options, format: "text" }, io);
  if (errors.length > 0) {
    throw new RolecallError("file-invalid", "Nothing was written, since some files have errors.", {
      hint: "Correct the errors first: one of the files may be that of a merchant to write.",
    });
  }
  return new Map((loaded?.states ?? []).map(({ merchant, origin }) => [merchant, origin.file]));
}

interface Choosing {
  readonly options: InitCommandOptions;
  readonly interview: Interview | null;
  readonly connection: Connection;
  readonly services: Services;
  /** Merchant → its file. */
  readonly declared: ReadonlyMap<string, string>;
}

async function chooseMerchants(choosing: Choosing, io: Io): Promise<readonly string[]> {
  const { options, interview, declared } = choosing;
  const wanted = options.merchant.length > 0 ? [...new Set(options.merchant)] : await offered(choosing, io);
  for (const code of wanted) {
    if (!MERCHANT.test(code)) {
      throw new RolecallError("usage", `"${oneLine(code)}" is not the code of a merchant.`, {
        hint: "A code has 1 to 64 letters, digits, hyphens and underscores, such as MC4F7K2P.",
      });
    }
  }
  const taken = wanted.filter((code) => declared.has(code));
  for (const code of taken) {
    io.stderr.write(`${code} has a file already: ${oneLine(declared.get(code) ?? "")}.\n`);
  }
  const fresh = wanted.filter((code) => !declared.has(code));
  if (fresh.length > 0 || wantsProjectFiles(options)) return fresh;
  throw new RolecallError("usage", "There is nothing to write: every merchant has a file.", {
    hint: `rolecall pull ${interview === null ? taken.join(" ") : "CODE"} updates a file from what is live.`,
  });
}

/** Returns the merchants that the key reaches, as chosen; without memberships, those that are typed. */
async function offered(
  { options, interview, connection, services, declared }: Choosing,
  io: Io,
): Promise<readonly string[]> {
  const found = await listMerchants({ options, connection, services }, io);
  const open = found.filter(({ resource }) => !declared.has(resource.id));
  if (options.all && open.length > 0) return open.map(({ resource }) => resource.id);
  if (interview === null) {
    const reason = options.all
      ? "No merchant without a file is among the key's memberships."
      : "No merchant is named, and there is no terminal to ask on.";
    throw new RolecallError("usage", reason, {
      hint:
        open.length === 0
          ? "Name one with --merchant CODE."
          : `Pass --all, or --merchant CODE: the key reaches ${counted(open.length, "merchant")}, such as ${oneLine(open[0]?.resource.id ?? "")}.`,
    });
  }
  if (open.length === 0) {
    if (found.length > 0) return found.map(({ resource }) => resource.id);
    const text = await interview.text({
      title: "Merchant codes, with spaces between them:",
      initial: "",
      problem: (codes) =>
        codes.split(/[\s,]+/).every((code) => MERCHANT.test(code)) ? null : "Type codes such as MC4F7K2P.",
    });
    return [...new Set(text.split(/[\s,]+/))];
  }
  const chosen = await interview.several({
    title: "Which merchants?",
    choices: open.map(({ resource }) => ({
      label: resource.id,
      note: [resource.name, resource.sandbox ? "test account" : ""].filter((part) => part !== "").join(", "),
    })),
    ...(open.length === 1 && { ticked: [0] }),
  });
  return chosen.flatMap((index) => open[index]?.resource.id ?? []);
}

/**
 * Lists the merchants among the key's memberships, by code: those with an accepted one, since no other gives access.
 * None if the key is not tied to a user, or the service does not list memberships.
 */
async function listMerchants(
  { options, connection, services }: Pick<Choosing, "options" | "connection" | "services">,
  io: Io,
): Promise<readonly Membership[]> {
  try {
    const filter = { type: "merchant", status: "accepted" } as const;
    const found = await announceIfSlow("Reading the key's memberships …", io, () =>
      readMemberships(connection, filter, services),
    );
    const byCode = new Map(found.map((one) => [one.resource.id, one]));
    return [...byCode.values()].sort(by(({ resource }) => resource.id));
  } catch (error) {
    if (!(error instanceof RolecallError) || ["network", "timeout", "unauthorized"].includes(error.code))
      throw error;
    const style = styleFor(io.stderr, io, options.color);
    const reason = `The key's merchants cannot be listed. ${oneLine(error.message)}`;
    io.stderr.write(`${hangingLines(reason, style.columns, "", "  ").join("\n")}\n`);
    return [];
  }
}

type ReadMerchant =
  | { readonly live: LiveState }
  | { readonly merchant: string; readonly error: RolecallError };

async function readMerchant(
  merchant: string,
  {
    connection,
    services,
    progress,
  }: Pick<Choosing, "connection" | "services"> & { readonly progress: ReturnType<typeof openProgress> },
): Promise<ReadMerchant> {
  try {
    const live = await services.of(connection).reader.read(merchant, []);
    progress.read(merchant, null);
    return { live };
  } catch (error) {
    if (!(error instanceof RolecallError)) throw error;
    progress.read(merchant, error.message);
    return { merchant, error };
  }
}

/** Returns the files to write; asks how, if there is a terminal. */
async function chooseFiles(
  lives: readonly LiveState[],
  { options, interview, connection }: Pick<Choosing, "options" | "interview" | "connection">,
  io: Io,
): Promise<readonly FilePatch[]> {
  const adoptions = lives.map((live) => adoptNew(live, io.now()));
  const sync = options.sync ?? (await chooseSync(interview));
  const folder = defaultPath(io.cwd);
  const root = join(folder, "..");
  const sharedFile = newSharedFile(root, io.cwd);
  const shared = await chooseShared(adoptions, sharedFile, options, interview);
  const fileOf = fileNames(
    folder,
    lives.map(({ merchant }) => merchant),
  );
  const header = headerOf(connection, options, io);
  const merchants = adoptions.map((adoption) => {
    const sharing = shared?.merchants.get(adoption.merchant);
    const text = newFileText(
      sharing?.adoption ?? adoption,
      {
        ...header,
        merchant: adoption.merchant,
        sync,
        ...(sharing && { include: [`../${sharedFile}`] }),
        schema: `../${SCHEMA_FILE}`,
      },
      sharing?.adjustments,
    );
    return { file: fileOf(adoption.merchant), before: null, after: text };
  });
  const offers = isRepositoryRoot(io.cwd) ? interview : null;
  const workflows = options.workflows ?? (await agrees(offers, "Write workflows for GitHub Actions?"));
  // The merchants' files come last: while one is missing, init can be run again.
  return [
    ...projectFiles(root, { workflows, owner: options.codeowners ?? null }, io.cwd),
    ...(shared === null ? [] : [sharedPatch(join(root, sharedFile), shared)]),
    ...merchants,
  ];
}

function sharedPatch(file: string, { roles }: SharedRoles): FilePatch {
  return { file, before: null, after: sharedFileText(roles, `../${SCHEMA_FILE}`) };
}

/** Returns the path, from the project's root, of a file for shared roles that does not exist yet. */
function newSharedFile(root: string, cwd: string): string {
  for (let nth = 1; ; nth += 1) {
    const file = `shared/roles${nth === 1 ? "" : `-${nth}`}.yaml`;
    if (!existsSync(resolve(cwd, root, file))) return file;
  }
}

async function chooseSync(interview: Interview | null): Promise<SyncMode> {
  const choices = SYNC_MODES.map(({ mode, note }) => ({ label: mode, note }));
  const chosen = interview === null ? 0 : await interview.one("How strict are the files?", choices);
  return SYNC_MODES[chosen]?.mode ?? "authoritative";
}

async function chooseShared(
  adoptions: readonly Adoption[],
  sharedFile: string,
  { shareRoles: wanted }: InitCommandOptions,
  interview: Interview | null,
): Promise<SharedRoles | null> {
  const shared = wanted || interview !== null ? shareRoles(adoptions) : null;
  if (shared === null || wanted) return shared;
  const { roles, merchants } = shared;
  const adjusted = [...merchants.values()].filter(({ adjustments }) => adjustments.length > 0).length;
  const but = adjusted === 0 ? "" : ` (${adjusted} with adjustments)`;
  const title = `Share ${counted(roles.length, "role")} of ${counted(merchants.size, "merchant")}${but} in ${sharedFile}?`;
  return (await agrees(interview, title)) ? shared : null;
}

async function agrees(interview: Interview | null, title: string): Promise<boolean> {
  if (interview === null) return false;
  return (await interview.one(title, [{ label: "no" }, { label: "yes" }])) === 1;
}

/** Returns the paths of the merchants' files: by their codes in lower case, unless that makes two of them one. */
function fileNames(folder: string, codes: readonly string[]): (code: string) => string {
  const lower = codes.map((code) => code.toLowerCase());
  const isUnique = new Set(lower).size === lower.length;
  return (code) => join(folder, `${isUnique ? code.toLowerCase() : code}.yaml`);
}

/** Returns what every file says of its connection: only what the environment does not already say. */
function headerOf(
  { baseUrl, environment, keySource }: Connection,
  options: InitCommandOptions,
  io: Io,
): Pick<NewFileHeader, "environment" | "baseUrl" | "keyEnv"> {
  const fromEnvironment = io.env["ROLECALL_BASE_URL"] && options.baseUrl === undefined;
  return {
    environment,
    ...(!fromEnvironment && { baseUrl }),
    ...(keySource !== "ROLECALL_API_KEY" && { keyEnv: keySource }),
  };
}

function showNextSteps(
  merchants: readonly string[],
  files: readonly FilePatch[],
  { color }: Pick<InitCommandOptions, "color">,
  io: Io,
): void {
  const [first = ""] = merchants;
  const only = merchants.length <= 1 ? "" : ` -m ${first}`;
  const { columns } = styleFor(io.stdout, io, color);
  const say = (text: string): string => wrapText(text, columns).join("\n");
  io.stdout.write(`
${say("Commit the files. Then change one, and look at what would happen:")}
  rolecall plan${only}
${say("What has changed outside git since then:")}
  rolecall drift${only}
`);
  if (files.some(({ file }) => file.includes(".github/workflows"))) {
    const needs = `The workflows need rolecall's action in .github/actions/rolecall, a variable and two secrets: see docs/github.md.`;
    io.stdout.write(`\n${say(needs)}\n`);
  }
}
