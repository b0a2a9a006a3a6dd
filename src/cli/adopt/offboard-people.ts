import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { ExitCode, type Io } from "../../app/io/io.ts";
import { textOrNull } from "../../app/io/read-text.ts";
import { styleFor } from "../../app/io/terminal.ts";
import { failuresOf } from "../../app/plan/plan-merchants.ts";
import type { ServiceOptions } from "../../app/project/command-options.ts";
import { isFileError } from "../../app/project/file-errors.ts";
import { shownPath } from "../../app/project/find-files.ts";
import { loadWithSharers } from "../../app/project/load-states.ts";
import { projectYamlFiles } from "../../app/project/project-access.ts";
import type { Services } from "../../app/session/services.ts";
import {
  globMatcher,
  MAX_PLANNING,
  type Planned,
  type PlannedMerchant,
  plannedOnly,
  planStates,
} from "../../app/session/session.ts";
import { printDiagnostics } from "../../app/show/print-diagnostics.ts";
import { reportOf } from "../../app/show/report-plans.ts";
import { printUnread } from "../../app/show/show-plans.ts";
import { ignoredPatterns } from "../../ask/access/ignored-access.ts";
import { declaredReport } from "../../ask/report/build-access-report.ts";
import { type OffboardedMerchant, offboardedPerson, soleAccess } from "../../ask/report/offboarded-person.ts";
import { mentionsAny, offboardFrom } from "../../edit/yaml/offboard-edits.ts";
import { hasAddress } from "../../kernel/diff/scope.ts";
import { buildPlan } from "../../kernel/plan/build-plan.ts";
import { filesOf } from "../../kernel/read/files-of.ts";
import { withOtherAddresses } from "../../kernel/values/person.ts";
import { EMAIL } from "../../kernel/values/text-schemas.ts";
import { oneLine } from "../../lib/escape.ts";
import { mapConcurrent } from "../../lib/map-concurrent.ts";
import type { DesiredState } from "../../model/desired.ts";
import { RolecallError, rolecallErrorOf } from "../../model/errors.ts";
import { documentText } from "../../show/blocks/text-blocks.ts";
import { offboardingDocument } from "../../show/documents/offboarding.ts";
import { documentJson } from "../../show/machine/machine-formats.ts";
import { type FilePatch, patchText } from "../../show/text/patch-text.ts";
import { renderPlans } from "../../show/text/plans-text.ts";
import { planView } from "../../show/view/plan-view.ts";
import { withServices } from "../progress/with-plans.ts";
import { keysOfFiles, readMemberships } from "../show/show-memberships.ts";
import { writeIgnored } from "../show/write-ignored.ts";
import { loadPatched, loadPullTargets, type PullTargets, requirePatched } from "./pull-files.ts";
import { confirmPatches } from "./pull-merchants.ts";

/** The options of `offboard`. */
export type OffboardCommandOptions = Omit<ServiceOptions, "merchant" | "shard"> & {
  readonly check?: true;
  readonly yes?: true;
  readonly declared?: true;
  readonly format: "text" | "json";
  readonly color: boolean;
};

/** Removes people from all files of the project, or from those below paths, after showing the effect. */
export async function offboardPeople(
  words: readonly string[],
  options: OffboardCommandOptions,
  io: Io,
): Promise<ExitCode> {
  const { addresses: asked, paths } = readWords(words, options, io);
  const { addresses, ...targets } = await loadTargets(paths, asked, options, io);
  if (!targets.valid) checkUnloaded(targets, addresses, io);
  const findings = findIn(targets, addresses);
  const elsewhere = findElsewhere(targets, addresses, io);
  const read = options.declared ? NOTHING_READ : await readService(targets, addresses, paths, options, io);
  const merchants = plannedOnly(read.planned);
  const after = await loadPatched(findings.patches, targets, io);
  const isBroken = requirePatched(
    after,
    targets,
    {
      message: "Without these people, the files would have the errors above.",
      hint: "First correct these places by hand, such as a rule that needs one of them. Nothing was changed.",
    },
    options,
    io,
  );
  if (isBroken) io.stderr.write("Without these people, the files would break the rules above.\n\n");
  const patchedPlans = planPatched(targets.states, merchants, after.states, io);
  const matches = globMatcher();
  const people = [...addresses].map((email) => {
    const files = { files: findings.files.get(email) ?? [], elsewhere: elsewhere.get(email) ?? [] };
    const without = {
      declared: options.declared === true,
      live: read.withoutFile.live.get(email) ?? [],
      unread: read.withoutFile.unread.flatMap(({ merchant }) => merchant ?? []),
    };
    return offboardedPerson(email, files, patchedPlans, without, { matches, now: io.now() });
  });
  const planned = new Map(merchants.map((merchant) => [merchant.live.merchant, merchant]));
  const sole = targets.states
    .map((state) => {
      const outcome = planned.get(state.merchant);
      const report = outcome === undefined ? declaredReport(state, io.now()) : reportOf(outcome, false);
      const leaving = people.filter(({ listed }) => !listed.includes(report.merchant));
      return soleAccess(report, new Set(leaving.map(({ email }) => email)));
    })
    .filter(({ permissions, roles }) => permissions.length + roles.length > 0);
  const concerned = patchedPlans.flatMap(({ read: result }) =>
    result?.plan.changes.some(({ name }) => addresses.has(name.toLowerCase())) ? result.plan : [],
  );
  const failures = failuresOf({ diagnostics: [] }, read.planned);
  if (options.format === "json") {
    const files = findings.patches.map((patch) => ({ file: patch.file, patch: patchText([patch]) }));
    const { unread } = read.withoutFile;
    const withoutFile = options.declared
      ? null
      : {
          read: read.withoutFile.read,
          unread: unread.map(({ merchant, error }) => ({ merchant, reason: error.message })),
        };
    io.stdout.write(documentJson({ people, sole, files, plans: concerned, withoutFile, failures }));
  } else {
    const style = styleFor(io.stdout, io, options.color);
    const answered = {
      merchants: merchants.length + read.withoutFile.read.length,
      notAsked: read.withoutFile.unread.map(({ merchant, error: { code, message } }) => ({
        merchant,
        // Said for the merchants of the files.
        reason: failures.some((failure) => failure.code === code) ? null : message,
      })),
    };
    const report = offboardingDocument({ people, sole, asked: answered }, options.quiet === true);
    const text = documentText(report, style);
    if (text !== "") io.stdout.write(`${text}\n`);
    if (concerned.length > 0) {
      io.stdout.write(
        `${renderPlans(
          concerned.map((plan) => planView(plan)),
          style,
          options.quiet ? "quiet" : "normal",
        )}\n`,
      );
    }
  }
  if (options.declared && options.format === "text") {
    writeIgnored(
      ignoredPatterns(targets.states),
      "Without --declared, offboard finds their live access.",
      options,
      io,
    );
  }
  if (failures.length === 0) return confirmPatches(findings.patches, options, io);
  await confirmPatches(findings.patches, { ...options, check: true }, io);
  if (!options.check && findings.patches.length > 0) io.stderr.write(NOT_WRITTEN);
  return ExitCode.failed;
}

const NOT_WRITTEN =
  "Nothing was written, because not everything could be read. Use --declared to use only the files.\n";

/** Separates addresses, in lower case, from paths; throws RolecallError for anything else. */
function readWords(
  words: readonly string[],
  { format, check }: OffboardCommandOptions,
  { cwd }: Io,
): { readonly addresses: ReadonlySet<string>; readonly paths: readonly string[] } {
  const paths = words.filter((word) => !EMAIL.test(word));
  const wrong = paths.find((path) => !existsSync(resolve(cwd, path)));
  if (wrong !== undefined) {
    throw new RolecallError("usage", `"${oneLine(wrong)}" is not an e-mail address or a path.`);
  }
  if (paths.length === words.length) {
    throw new RolecallError("usage", "offboard needs an e-mail address.", {
      hint: `For example: rolecall offboard karim@example.com ${paths.map(oneLine).join(" ")}`,
    });
  }
  if (format === "json" && !check) {
    throw new RolecallError("usage", "--format json needs --check.", {
      hint: "Without --check, offboard shows the patch as text and writes it.",
    });
  }
  const emails = words.filter((word) => EMAIL.test(word));
  return { addresses: new Set(emails.map((email) => email.toLowerCase())), paths };
}

interface Targets extends Pick<PullTargets, "states" | "all" | "sources" | "diagnostics" | "valid"> {
  /** All addresses of the people, in lower case. */
  readonly addresses: ReadonlySet<string>;
}

/**
 * Loads the files of the project or, with paths, the files below these and what they include; then also the other
 * merchants that include a file that is changed. Adds the other addresses of the same people.
 */
async function loadTargets(
  paths: readonly string[],
  asked: ReadonlySet<string>,
  options: OffboardCommandOptions,
  io: Io,
): Promise<Targets> {
  const addressesIn = (states: readonly DesiredState[]): ReadonlySet<string> =>
    withOtherAddresses(
      asked,
      states.flatMap(({ members = [] }) => members),
    );
  if (paths.length === 0) {
    const targets = await loadPullTargets([], options, io);
    return { ...targets, addresses: addressesIn(targets.all) };
  }
  const loaded = await loadWithSharers(paths, { merchants: [], cwd: io.cwd, now: io.now() });
  const addresses = addressesIn(loaded.all);
  const files = new Set(loaded.states.flatMap(filesOf));
  const sources = loaded.sources.filter(({ file }) => files.has(file));
  const changed = new Set(
    sources.flatMap(({ file, text }) => (offboardFrom(text, addresses) === null ? [] : file)),
  );
  const { all: allStates, diagnostics } = loaded;
  printDiagnostics(diagnostics.filter(isFileError), options, io);
  const states = allStates.filter(
    (state) => loaded.states.includes(state) || filesOf(state).some((file) => changed.has(file)),
  );
  return { states, all: allStates, sources, diagnostics, addresses, valid: !diagnostics.some(isFileError) };
}

/** Throws RolecallError if a file with errors may name an address; its merchant is looked up like those without a file. */
function checkUnloaded(
  { all: allStates, sources, diagnostics }: Pick<PullTargets, "all" | "sources" | "diagnostics">,
  addresses: ReadonlySet<string>,
  io: Io,
): void {
  const loaded = new Set(allStates.flatMap(filesOf));
  const readFiles = new Set(sources.map(({ file }) => file));
  const unreadSources = sources.filter(({ file }) => !loaded.has(file));
  const unreadable = diagnostics.filter(
    (diagnostic) => isFileError(diagnostic) && !readFiles.has(diagnostic.file),
  );
  if (unreadable.length > 0 || unreadSources.some(({ text }) => mentionsAny(text, addresses))) {
    throw new RolecallError(
      "file-invalid",
      "Some files have errors, and may still list these people. Nothing was changed.",
      {
        hint: 'Correct the errors above first. To end access at once, add an entry under "leavers" to a file that the merchants include: the next apply then removes the address, whatever other files declare.',
      },
    );
  }
  io.stderr.write("The files with errors do not name these people, and are left as they are.\n\n");
}

/** The patches that remove people from files, and the files of each address. */
interface FoundPeople {
  readonly patches: readonly FilePatch[];
  readonly files: ReadonlyMap<string, readonly string[]>;
}

/** Throws RolecallError for a file that cannot be edited without changing something else. */
function findIn({ sources }: Pick<PullTargets, "sources">, addresses: ReadonlySet<string>): FoundPeople {
  const files = new Map<string, string[]>();
  const patches = sources.flatMap(({ file, text }): readonly FilePatch[] => {
    const offboarded = offboardFrom(text, addresses);
    if (offboarded === null) return [];
    const { edited, members } = offboarded;
    if ("refused" in edited) {
      throw new RolecallError("file-unwritable", `${oneLine(file)} cannot be edited: ${edited.refused}.`, {
        hint: "Remove them from this file by hand, such as from an alias or an anchor. Nothing was changed.",
      });
    }
    for (const email of members) files.set(email, [...(files.get(email) ?? []), file]);
    return [{ file, before: text, after: edited.text }];
  });
  return { patches, files };
}

/** Returns the other files of the project that list addresses as members, in guards or in checks. */
function findElsewhere(
  { all: allStates, sources }: Pick<PullTargets, "all" | "sources">,
  addresses: ReadonlySet<string>,
  { cwd }: Io,
): ReadonlyMap<string, readonly string[]> {
  const mentioned = new Set([...sources.map(({ file }) => file), ...allStates.flatMap(filesOf)]);
  const filesByAddress = new Map<string, string[]>();
  for (const path of projectYamlFiles(cwd)) {
    const file = shownPath(path, cwd);
    if (mentioned.has(file)) continue;
    const text = textOrNull(path) ?? "";
    for (const email of addresses) {
      const only = new Set([email]);
      if (!mentionsAny(text, only) || !offboardFrom(text, only)?.members.has(email)) continue;
      filesByAddress.set(email, [...(filesByAddress.get(email) ?? []), file]);
    }
  }
  return filesByAddress;
}

/** The service's answers about a person. */
interface ReadService {
  readonly planned: readonly Planned[];
  readonly withoutFile: WithoutFile;
}

/** The merchants of the keys' users that no file declares. */
interface WithoutFile {
  readonly read: readonly string[];
  /** Those of them where an address is live. */
  readonly live: ReadonlyMap<string, readonly string[]>;
  /** Merchants that could not be read; `null` for all of them. */
  readonly unread: readonly { readonly merchant: string | null; readonly error: RolecallError }[];
}

const NO_OTHERS: WithoutFile = { read: [], live: new Map(), unread: [] };
const NOTHING_READ: ReadService = { planned: [], withoutFile: NO_OTHERS };

/** Reads the merchants of the files and, unless paths select some, finds people at those that the keys reach besides. */
async function readService(
  { states, all: allStates }: Pick<PullTargets, "states" | "all">,
  addresses: ReadonlySet<string>,
  paths: readonly string[],
  options: OffboardCommandOptions,
  io: Io,
): Promise<ReadService> {
  const [planned, withoutFile] = await withServices(options, io, (services, progress) =>
    Promise.all([
      planStates(states, services, options, progress, io),
      paths.length > 0 ? NO_OTHERS : findWithoutFile(allStates, addresses, services, options, io),
    ]),
  );
  printUnread(planned, options, io, "read");
  return { planned, withoutFile };
}

/** Maximum number of addresses that are looked up with a filter; more are looked for in the whole list of members. */
const MAX_FILTERED = 4;

async function findWithoutFile(
  states: readonly DesiredState[],
  addresses: ReadonlySet<string>,
  services: Services,
  options: OffboardCommandOptions,
  io: Io,
): Promise<WithoutFile> {
  const declared = new Set(states.map(({ merchant }) => merchant));
  const keys = keysIfAny(states, options, io);
  const liveMembers = await Promise.all(
    keys.map(async ({ connection }) => {
      const listed = await readMemberships(connection, { type: "merchant" }, services).catch(rolecallErrorOf);
      if (listed instanceof RolecallError) return [{ merchant: null, result: listed }];
      const codes = listed.flatMap(({ resource: { id, type }, status }) =>
        type === "merchant" && status === "accepted" && !declared.has(id) ? [id] : [],
      );
      const service = services.of(connection);
      return mapConcurrent([...new Set(codes)].sort(), MAX_PLANNING, async (merchant) => {
        const filters = addresses.size > MAX_FILTERED ? [undefined] : [...addresses];
        const members = Promise.all(filters.map((email) => service.members(merchant, email)));
        return { merchant, result: await members.then((lists) => lists.flat()).catch(rolecallErrorOf) };
      });
    }),
  );
  const live = new Map<string, string[]>();
  const read = new Set<string>();
  const unread: { readonly merchant: string | null; readonly error: RolecallError }[] = [];
  for (const { merchant, result } of liveMembers.flat()) {
    if (result instanceof RolecallError) unread.push({ merchant, error: result });
    else if (merchant !== null && !read.has(merchant)) {
      read.add(merchant);
      for (const email of addresses) {
        if (!result.some((member) => hasAddress(member, email))) continue;
        live.set(email, [...(live.get(email) ?? []), merchant]);
      }
    }
  }
  return {
    read: [...read],
    live,
    // Another key may reach it.
    unread: unread.filter(({ merchant }) => merchant === null || !read.has(merchant)),
  };
}

/** Returns the keys that the files and the environment name; none if there is no key, which the merchants report. */
function keysIfAny(
  states: readonly DesiredState[],
  options: OffboardCommandOptions,
  io: Io,
): ReturnType<typeof keysOfFiles> {
  try {
    return keysOfFiles(states, options, io.env);
  } catch (error) {
    rolecallErrorOf(error);
    return [];
  }
}

/** Plans the merchants that were read as the patched files declare them. */
function planPatched(
  states: readonly DesiredState[],
  planned: readonly PlannedMerchant[],
  patched: readonly DesiredState[],
  io: Io,
): readonly OffboardedMerchant[] {
  const matches = globMatcher();
  const declared = new Map(patched.map((state) => [state.merchant, state]));
  const read = new Map(planned.map((outcome) => [outcome.live.merchant, outcome]));
  return states.flatMap((before): readonly OffboardedMerchant[] => {
    const after = declared.get(before.merchant);
    const outcome = read.get(before.merchant);
    if (after === undefined) return [];
    if (outcome === undefined) return [{ before, after, read: null }];
    const { live, plan, session } = outcome;
    const { environment } = session;
    const desired = { ...after, ...(environment !== null && { environment }) };
    const next = buildPlan({ desired, live, service: plan.service, now: io.now(), matches });
    return [{ before, after, read: { live, plan: next } }];
  });
}
