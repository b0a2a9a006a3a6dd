import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { ExitCode, type Io } from "../../app/io/io.ts";
import { styleFor } from "../../app/io/terminal.ts";
import type { ProgressDisplay } from "../../app/progress/log-progress.ts";
import { isFileError } from "../../app/project/file-errors.ts";
import { defaultPath, ifAnyFiles } from "../../app/project/find-files.ts";
import { defaultBranch, gitRemote, isOtherForge } from "../../app/project/git-remote.ts";
import { loadStates } from "../../app/project/load-states.ts";
import type { Connection } from "../../app/session/connection.ts";
import { printDiagnostics } from "../../app/show/print-diagnostics.ts";
import { leftOutTexts } from "../../edit/adopt/entry-texts.ts";
import { adoptNew, type NewFileHeader, newFileText, sharedFileText } from "../../edit/adopt/new-file-text.ts";
import { type SharedRoles, shareRoles } from "../../edit/adopt/share-roles.ts";
import { oneLine } from "../../lib/escape.ts";
import { counted } from "../../lib/text.ts";
import { RolecallError, rolecallErrorOf } from "../../model/errors.ts";
import type { LiveState } from "../../model/live.ts";
import { documentText } from "../../show/blocks/text-blocks.ts";
import { unreadDocument } from "../../show/documents/failure.ts";
import type { FilePatch } from "../../show/text/patch-text.ts";
import { hangingLines, wrapText } from "../../show/text/wrap.ts";
import { withServices } from "../progress/with-plans.ts";
import { previewNewFiles } from "../show/preview-plans.ts";
import { firstRules, ruleEdit } from "./first-rules.ts";
import {
  agrees,
  type Choosing,
  chooseConnection,
  chooseMerchants,
  chooseSync,
  choosesRules,
  choosesShared,
  type InitCommandOptions,
  openInterview,
  sharedText,
} from "./init-questions.ts";
import {
  isRepositoryRoot,
  ownersToAdd,
  type ProjectFilesOptions,
  projectFiles,
  refuseUnusedFiles,
  SCHEMA_FILE,
  writePatches,
} from "./new-files.ts";
import { ownRelease, settingsToConfigure, workflowNotes } from "./workflow-files.ts";

/** Writes the files of merchants that are live, and shows that their plans have no changes. */
export async function initProject(options: InitCommandOptions, io: Io): Promise<ExitCode> {
  refuseUnusedFiles(options, io.cwd);
  if (options.all && options.merchant.length > 0) {
    throw new RolecallError("usage", "--all and merchant codes exclude each other.", {
      hint: "Omit --all to write files for the named merchants alone, or the codes to write all.",
    });
  }
  const declared = await declaredMerchants(options, io);
  const isAddition = wantsProjectFiles(options) && !options.all && options.merchant.length === 0;
  if (isAddition && declared.size > 0) return writeProjectOnly(options, io);
  const interview = openInterview(options, io);
  const connection = await chooseConnection(options, interview, io);
  return withServices(options, io, async (services, progress) => {
    const codes = await chooseMerchants({ options, interview, connection, services, declared }, io);
    progress.reading(codes);
    const reads = await Promise.all(
      codes.map((code) => readMerchant(code, { connection, services, progress })),
    );
    await progress.rest();
    const lives = reads.flatMap((read) => ("live" in read ? read.live : []));
    const unread = reads.flatMap((read) => ("error" in read ? [read] : []));
    io.stderr.write(documentText(unreadDocument("read", unread), styleFor(io.stderr, io, options.color)));
    if (codes.length === 0) return await writeProjectOnly(options, io);
    if (lives.length === 0) return ExitCode.failed;
    const { files, guide } = await chooseFiles(lives, { options, interview, connection }, io);
    await writePatches(files, io);
    const merchants = lives.map(({ merchant }) => merchant);
    const paths = files.slice(-merchants.length).map(({ file }) => file);
    const planned = await previewNewFiles(paths, { ...options, merchant: [], format: "text" }, io);
    showGuide(guide, options, io);
    if (planned === ExitCode.ok) await showNextSteps(merchants, files, options, io);
    return lives.length < reads.length ? ExitCode.failed : planned;
  });
}

/** Returns whether files of the project are requested, besides those of merchants. */
function wantsProjectFiles({ workflows, codeowners }: InitCommandOptions): boolean {
  return workflows === true || codeowners !== undefined;
}

/** Adds the requested files to a project whose merchants have theirs. */
async function writeProjectOnly(options: InitCommandOptions, io: Io): Promise<ExitCode> {
  if (!wantsProjectFiles(options)) {
    io.stdout.write("There is nothing to do. To update the files from the live state:\n  rolecall pull\n");
    return ExitCode.ok;
  }
  const root = join(defaultPath(io.cwd), "..");
  const files = await projectFiles(root, await wantedFiles(options.workflows === true, options, io), io.cwd);
  await writePatches(files, io);
  if (files.length === 0) io.stdout.write("There is nothing to write: the files already exist.\n");
  await showNextSteps([], files, options, io);
  return ExitCode.ok;
}

/**
 * Returns the merchants that have a file, by code, with the file; throws RolecallError if a file may belong to any
 * merchant.
 */
async function declaredMerchants(
  options: Pick<InitCommandOptions, "color">,
  io: Io,
): Promise<ReadonlyMap<string, string>> {
  const loaded = await ifAnyFiles([], () => loadStates([], { merchants: [], cwd: io.cwd, now: io.now() }));
  const errors = loaded?.diagnostics.filter(isFileError) ?? [];
  printDiagnostics(errors, options, io);
  if (errors.length > 0) {
    throw new RolecallError("file-invalid", "Nothing was written, since some files have errors.", {
      hint: "Correct the errors first: one of these files may belong to a selected merchant.",
    });
  }
  return new Map((loaded?.states ?? []).map(({ merchant, origin }) => [merchant, origin.file]));
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
  }: Pick<Choosing, "connection" | "services"> & { readonly progress: ProgressDisplay },
): Promise<ReadMerchant> {
  const live = await services.of(connection).reader.read(merchant, []).catch(rolecallErrorOf);
  const isRead = !(live instanceof RolecallError);
  progress.read(merchant, isRead ? null : live.message);
  return isRead ? { live } : { merchant, error: live };
}

/** The contents of the closing list of `init`, besides the next steps. */
interface Guide {
  /** Live access that the files do not declare, with the reason and the merchant's code. */
  readonly leftOut: readonly string[];
  /** Declined suggestions, with the commands that make them. */
  readonly offers: readonly (readonly [text: string, command: string])[];
}

/** Returns the files to write; asks how, if there is a terminal. */
async function chooseFiles(
  lives: readonly LiveState[],
  { options, interview, connection }: Pick<Choosing, "options" | "interview" | "connection">,
  io: Io,
): Promise<{ readonly files: readonly FilePatch[]; readonly guide: Guide }> {
  const adoptions = lives.map((live) => adoptNew(live, io.now()));
  const sync = options.sync ?? (await chooseSync(interview));
  const folder = defaultPath(io.cwd);
  const root = join(folder, "..");
  const sharedFile = newSharedFile(root, io.cwd);
  const shareable = shareRoles(adoptions);
  const shared = (await choosesShared(shareable, sharedFile, options, interview)) ? shareable : null;
  const rules = new Map(
    lives.map((live, index) => [
      live.merchant,
      firstRules(live, adoptions[index] ?? adoptNew(live, io.now())),
    ]),
  );
  const allRules = [...rules.values()].flat();
  const hasRules = await choosesRules(allRules, options, interview);
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
      {
        ...(sharing && { adjustments: sharing.adjustments }),
        ...(hasRules && { rules: (rules.get(adoption.merchant) ?? []).map(ruleEdit) }),
      },
    );
    return { file: fileOf(adoption.merchant), before: null, after: text };
  });
  const offers = isRepositoryRoot(io.cwd) ? interview : null;
  const workflows = options.workflows ?? (await agrees(offers, "Write workflows for GitHub Actions?"));
  return {
    // The merchants' files come last: as long as one is missing, init can be run again.
    files: [
      ...(await projectFiles(root, await wantedFiles(workflows, options, io), io.cwd)),
      ...(shared === null ? [] : [sharedPatch(join(root, sharedFile), shared)]),
      ...merchants,
    ],
    guide: {
      leftOut: adoptions.flatMap((adoption) => {
        const texts = leftOutTexts(adoption);
        return texts.map((text) => (adoptions.length === 1 ? text : `${adoption.merchant}: ${text}`));
      }),
      offers: [
        ...(shareable !== null && shared === null
          ? [[`${sharedText(shareable)} could be in one shared file:`, "rolecall lint"] as const]
          : []),
        ...(allRules.length > 0 && !hasRules
          ? [["Rules that today's access meets:", "rolecall check --live --coverage"] as const]
          : []),
      ],
    },
  };
}

/** Maximum number of lines on what the files do not declare. */
const MAX_LEFT_OUT = 10;

function showGuide({ leftOut, offers }: Guide, { color }: Pick<InitCommandOptions, "color">, io: Io): void {
  const { columns } = styleFor(io.stdout, io, color);
  const more = leftOut.length - MAX_LEFT_OUT;
  const listed = leftOut.slice(0, MAX_LEFT_OUT).map(oneLine);
  const lines = [
    ...(leftOut.length > 0 ? wrapText("Not declared, as comments in the files say:", columns) : []),
    ...[...listed, ...(more > 0 ? [`and ${counted(more, "more entry", "more entries")}`] : [])].flatMap(
      (text) => hangingLines(text, columns, "  ", "    "),
    ),
    ...offers.flatMap(([text, command]) => [...wrapText(text, columns), `  ${command}`]),
  ];
  if (lines.length > 0) io.stdout.write(`\n${lines.join("\n")}\n`);
}

async function wantedFiles(
  workflows: boolean,
  { vendor, codeowners }: InitCommandOptions,
  { cwd }: Io,
): Promise<ProjectFilesOptions> {
  return {
    workflows: workflows
      ? {
          release: vendor ? null : ownRelease(),
          vendor: vendor === true,
          branch: await defaultBranch(cwd),
        }
      : null,
    owner: codeowners ?? null,
  };
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

/** Returns the paths of the merchants' files: by their codes in lower case, unless that makes two of them one. */
function fileNames(folder: string, codes: readonly string[]): (code: string) => string {
  const lower = codes.map((code) => code.toLowerCase());
  const isUnique = new Set(lower).size === lower.length;
  return (code) => join(folder, `${isUnique ? code.toLowerCase() : code}.yaml`);
}

/** Returns the connection settings of every file: only those that the environment does not already set. */
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

async function showNextSteps(
  merchants: readonly string[],
  files: readonly FilePatch[],
  { color, workflows, vendor, codeowners }: InitCommandOptions,
  io: Io,
): Promise<void> {
  const [first = ""] = merchants;
  const only = merchants.length <= 1 ? "" : ` -m ${first}`;
  const { columns } = styleFor(io.stdout, io, color);
  const say = (text: string): string => wrapText(text, columns).join("\n");
  if (files.length > 0) {
    io.stdout.write(`
${say("Commit the files. Then change one, and preview the changes:")}
  rolecall plan${only}
${say("To see what has changed outside git since then:")}
  rolecall drift${only}
`);
  }
  const place = { root: join(defaultPath(io.cwd), ".."), cwd: io.cwd };
  const remote = await gitRemote(io.cwd);
  const hasWorkflows = files.some(({ file }) => /\.github\/(?:workflows|actions)\//.test(file));
  const notes = [
    ...(workflows === true ? await workflowNotes(place, vendor === true) : []),
    ...(hasWorkflows && remote !== null && isOtherForge(remote.host)
      ? [`The workflows are for GitHub, and origin is at ${remote.host}. For other services, see docs/ci.md.`]
      : []),
  ];
  for (const note of notes)
    io.stderr.write(`${hangingLines(`warning: ${note}`, columns, "", "  ").join("\n")}\n`);
  const owners =
    hasWorkflows || codeowners !== undefined ? await ownersToAdd(place, codeowners ?? "@org/team") : null;
  const settings = [
    ...(hasWorkflows ? settingsToConfigure(remote, await defaultBranch(io.cwd)) : []),
    ...(owners === null ? [] : [owners]),
  ];
  if (settings.length === 0) return;
  const listed = settings.flatMap(({ text, lines }, index) => [
    ...hangingLines(text, columns, `  ${index + 1}. `, "     "),
    ...lines.map((line) => `     ${oneLine(line)}`),
  ]);
  io.stdout.write(`
${say(hasWorkflows ? "Before the workflows can run, configure the repository:" : "Configure the repository:")}
${listed.join("\n")}
${say("To see what is missing:")}
  rolecall doctor --github
`);
}
