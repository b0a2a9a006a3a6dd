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
import { isFileError } from "../files/load-states.ts";
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

/** Takes people out of all files of the project, after it has shown what that means. */
export async function offboardPeople(
  emails: readonly string[],
  options: OffboardCommandOptions,
  io: Io,
): Promise<ExitCode> {
  checkUsage(emails, options);
  const addresses = new Set(emails.map((email) => email.toLowerCase()));
  const targets = await loadPullTargets([], options, io);
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
  const plans = planPatched(merchants, after.states, io);
  const people = [...addresses].map((email) =>
    personOf(email, found.files, options.declared ? null : merchants, plans),
  );
  const reports = options.declared
    ? targets.states.map((state) => declaredReport(state, io.now()))
    : merchants.map((one) => reportOf(one, false));
  const sole = reports
    .map((report) => soleAccess(report, addresses))
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

function checkUsage(emails: readonly string[], { format, check }: OffboardCommandOptions): void {
  const wrong = emails.find((email) => !EMAIL.test(email));
  if (wrong !== undefined) {
    throw new RolecallError("usage", `"${oneLine(wrong)}" is not an e-mail address.`);
  }
  if (format === "json" && !check) {
    throw new RolecallError("usage", "--format json needs --check.", {
      hint: "Without --check, offboard shows the patch to somebody, and writes it.",
    });
  }
}

/** The patches that take people out of files, and the files of each address. */
interface FoundPeople {
  readonly patches: readonly FilePatch[];
  readonly files: ReadonlyMap<string, readonly string[]>;
}

/** Throws RolecallError for a file that cannot be edited without changing something else. */
function findIn({ sources }: PullTargets, addresses: ReadonlySet<string>): FoundPeople {
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
  plans: readonly Plan[],
): OffboardedPerson {
  const live = (merchants ?? [])
    .filter(({ live: { members } }) =>
      members.some((member) => addressesOf(member).some((address) => address.toLowerCase() === email)),
    )
    .map(({ live: { merchant } }) => merchant);
  const removed = new Set(
    plans.flatMap(({ merchant, changes, deferred }) =>
      [...changes, ...deferred.map(({ change }) => change)].some(
        ({ kind, name }) => kind === "delete" && name.toLowerCase() === email,
      )
        ? [merchant]
        : [],
    ),
  );
  return {
    email,
    files: files.get(email) ?? [],
    live: merchants === null ? null : live,
    stays: live.filter((merchant) => !removed.has(merchant)),
  };
}
