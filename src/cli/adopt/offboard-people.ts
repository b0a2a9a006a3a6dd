import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { offboardFrom } from "../../config/edit/offboard-edits.ts";
import { EMAIL } from "../../config/schema/text-schemas.ts";
import { oneLine } from "../../lib/escape.ts";
import type { DesiredState } from "../../model/desired.ts";
import { RolecallError } from "../../model/errors.ts";
import type { Plan } from "../../model/plan.ts";
import type { OffboardedPerson } from "../../model/reports.ts";
import { buildPlan } from "../../plan/build-plan.ts";
import { declaredReport } from "../../plan/report/build-access-report.ts";
import { soleAccess } from "../../plan/report/sole-access.ts";
import { addressesOf } from "../../plan/scope.ts";
import { offboardJson } from "../../render/machine-formats.ts";
import { renderUnread } from "../../render/text/failure-text.ts";
import { renderOffboarding } from "../../render/text/offboard-text.ts";
import { type FilePatch, patchText } from "../../render/text/patch-text.ts";
import { renderPlans } from "../../render/text/plans-text.ts";
import { planView } from "../../render/view/plan-view.ts";
import type { ServiceOptions } from "../args/options.ts";
import { isFileError, isRefusal, loadWithSharers } from "../files/load-states.ts";
import { ExitCode, type Io } from "../io/io.ts";
import { styleFor } from "../io/output.ts";
import { openProgress } from "../progress/open-progress.ts";
import { failuresOf, printDiagnostics } from "../session/plan-merchants.ts";
import { openServices } from "../session/services.ts";
import {
  createSessions,
  globMatcher,
  type Planned,
  type PlannedMerchant,
  plannedOnly,
  planSessions,
} from "../session/session.ts";
import { reportOf } from "../show/show-plans.ts";
import { loadPatched, loadPullTargets, type PullTargets } from "./pull-files.ts";
import { confirmPatches } from "./pull-merchants.ts";

/** The options of `offboard`. */
export type OffboardCommandOptions = Omit<ServiceOptions, "merchant" | "shard"> & {
  readonly check?: true;
  readonly yes?: true;
  readonly declared?: true;
  readonly format: "text" | "json";
  readonly color: boolean;
};

/** Takes people out of all files of the project, or of those below paths, after it has shown what that means. */
export async function offboardPeople(
  words: readonly string[],
  options: OffboardCommandOptions,
  io: Io,
): Promise<ExitCode> {
  const { addresses, paths } = readWords(words, options, io);
  const targets = await loadTargets(paths, addresses, options, io);
  if (!targets.valid) {
    throw new RolecallError("file-invalid", "Some files have errors, so that people could be left in them.", {
      hint: "Correct the errors above first. Nothing was changed.",
    });
  }
  const found = findIn(targets, addresses);
  const planned = options.declared ? [] : await readMerchants(targets.states, options, io);
  const merchants = plannedOnly(planned);
  const after = await loadPatched(found.patches, targets, io);
  const errors = after.diagnostics.filter(isFileError);
  if (errors.length > 0) {
    printDiagnostics(errors, { ...options, format: "text" }, io);
    throw new RolecallError("file-invalid", "Without them the files would have the errors above.", {
      hint: "Correct these places by hand first, such as a rule that needs somebody. Nothing was changed.",
    });
  }
  const known = new Set(targets.diagnostics.map(({ message }) => message));
  const broken = after.diagnostics.filter((one) => isRefusal(one) && !known.has(one.message));
  printDiagnostics(broken, { ...options, format: "text" }, io);
  if (broken.length > 0) io.stderr.write("Without them, the files would break the rules above.\n\n");
  const plans = planPatched(merchants, after.states, io);
  const people = [...addresses].map((email) =>
    personOf(email, found.files, options.declared ? null : merchants, { plans, states: after.states }),
  );
  const reports = options.declared
    ? targets.states.map((state) => declaredReport(state, io.now()))
    : merchants.map((one) => reportOf(one, false));
  const sole = reports
    .map((report) => {
      const leaving = people.filter(({ listed }) => !listed.includes(report.merchant));
      return soleAccess(report, new Set(leaving.map(({ email }) => email)));
    })
    .filter(({ permissions, roles }) => permissions.length + roles.length > 0);
  const concerned = plans.filter((plan) =>
    plan.changes.some(({ name }) => addresses.has(name.toLowerCase())),
  );
  if (options.format === "json") {
    const files = found.patches.map((patch) => ({ file: patch.file, patch: patchText([patch]) }));
    const failures = failuresOf({ diagnostics: [] }, planned);
    io.stdout.write(offboardJson({ people, sole, files, plans: concerned, failures }));
  } else {
    const style = styleFor(io.stdout, io, options.color);
    if (!options.quiet) io.stdout.write(renderOffboarding(people, sole, style));
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
  const code = await confirmPatches(found.patches, options, io);
  return merchants.length < planned.length && code === ExitCode.ok ? ExitCode.failed : code;
}

/** Tells addresses, in lower case, from paths; throws RolecallError for what is neither. */
function readWords(
  words: readonly string[],
  { format, check }: OffboardCommandOptions,
  { cwd }: Io,
): { readonly addresses: ReadonlySet<string>; readonly paths: readonly string[] } {
  const paths = words.filter((word) => !EMAIL.test(word));
  const wrong = paths.find((path) => !existsSync(resolve(cwd, path)));
  if (wrong !== undefined) {
    throw new RolecallError("usage", `"${oneLine(wrong)}" is neither an e-mail address nor a path.`);
  }
  if (paths.length === words.length) {
    throw new RolecallError("usage", "offboard needs the address of somebody.", {
      hint: `For example: rolecall offboard karim@example.com ${paths.map(oneLine).join(" ")}`,
    });
  }
  if (format === "json" && !check) {
    throw new RolecallError("usage", "--format json needs --check.", {
      hint: "Without --check, offboard shows the patch to somebody, and writes it.",
    });
  }
  const emails = words.filter((word) => EMAIL.test(word));
  return { addresses: new Set(emails.map((email) => email.toLowerCase())), paths };
}

/**
 * Loads the files of the project or, with paths, the files below these and what they include; then also the other
 * merchants that include a file that is changed.
 */
async function loadTargets(
  paths: readonly string[],
  addresses: ReadonlySet<string>,
  options: OffboardCommandOptions,
  io: Io,
): Promise<Pick<PullTargets, "states" | "all" | "sources" | "diagnostics" | "valid">> {
  if (paths.length === 0) return loadPullTargets([], options, io);
  const own = await loadWithSharers(paths, { merchants: [], cwd: io.cwd, now: io.now() });
  const filesOf = ({ origin, included = [] }: DesiredState): readonly string[] => [origin.file, ...included];
  const files = new Set(own.states.flatMap(filesOf));
  const sources = own.sources.filter(({ file }) => files.has(file));
  const changed = new Set(
    sources.flatMap(({ file, text }) => (offboardFrom(text, addresses) === null ? [] : file)),
  );
  const { all, diagnostics } = own;
  printDiagnostics(diagnostics.filter(isFileError), { ...options, format: "text" }, io);
  const states = all.filter(
    (one) => own.states.includes(one) || filesOf(one).some((file) => changed.has(file)),
  );
  return { states, all, sources, diagnostics, valid: !diagnostics.some(isFileError) };
}

/** The patches that take people out of files, and the files of each address. */
interface FoundPeople {
  readonly patches: readonly FilePatch[];
  readonly files: ReadonlyMap<string, readonly string[]>;
}

/** Throws RolecallError for a file that cannot be edited without changing something else. */
function findIn({ sources }: Pick<PullTargets, "sources">, addresses: ReadonlySet<string>): FoundPeople {
  const files = new Map<string, string[]>();
  const patches = sources.flatMap(({ file, text }): readonly FilePatch[] => {
    const found = offboardFrom(text, addresses);
    if (found === null) return [];
    const { edited, members } = found;
    if ("refused" in edited) {
      throw new RolecallError("file-unwritable", `${oneLine(file)} cannot be edited: ${edited.refused}.`, {
        hint: "Take them out of this file by hand, such as out of an alias or an anchor. Nothing was changed.",
      });
    }
    for (const email of members) files.set(email, [...(files.get(email) ?? []), file]);
    return [{ file, before: text, after: edited.text }];
  });
  return { patches, files };
}

async function readMerchants(
  states: readonly DesiredState[],
  options: OffboardCommandOptions,
  io: Io,
): Promise<readonly Planned[]> {
  const progress = openProgress(options, io);
  const services = openServices({ ...options, emit: progress.live }, io);
  try {
    progress.reading(states.map(({ merchant }) => merchant));
    const planned = await planSessions(createSessions(services, states, options, io), progress.read);
    await progress.rest();
    const failed = planned.flatMap((one) => (one.status === "failed" ? one : []));
    const style = styleFor(io.stderr, io, options.color);
    if (failed.length > 0) io.stderr.write(`\n${renderUnread("read", failed, style)}`);
    return planned;
  } finally {
    await progress.rest();
    await services.close();
  }
}

/** Plans the merchants as the patched files declare them. */
function planPatched(
  merchants: readonly PlannedMerchant[],
  states: readonly DesiredState[],
  io: Io,
): readonly Plan[] {
  const matches = globMatcher();
  const declared = new Map(states.map((state) => [state.merchant, state]));
  return merchants.flatMap(({ live, plan, session }) => {
    const state = declared.get(live.merchant);
    if (state === undefined) return [];
    const { environment } = session;
    const desired = { ...state, ...(environment !== null && { environment }) };
    return buildPlan({ desired, live, service: plan.service, now: io.now(), matches });
  });
}

function personOf(
  email: string,
  files: FoundPeople["files"],
  merchants: readonly PlannedMerchant[] | null,
  after: { readonly plans: readonly Plan[]; readonly states: readonly DesiredState[] },
): OffboardedPerson {
  const live = (merchants ?? [])
    .filter(({ live: { members } }) =>
      members.some((member) => addressesOf(member).some((address) => address.toLowerCase() === email)),
    )
    .map(({ live: { merchant } }) => merchant);
  const removed = new Set(
    after.plans.flatMap(({ merchant, changes, deferred }) =>
      [...changes, ...deferred.map(({ change }) => change)].some(
        ({ kind, name }) => kind === "delete" && name.toLowerCase() === email,
      )
        ? [merchant]
        : [],
    ),
  );
  const listed = after.states
    .filter(({ members = [] }) => members.some((member) => member.email.toLowerCase() === email))
    .map(({ merchant }) => merchant);
  return {
    email,
    files: files.get(email) ?? [],
    live: merchants === null ? null : live,
    stays: live.filter((merchant) => !removed.has(merchant) && !listed.includes(merchant)),
    listed,
  };
}
