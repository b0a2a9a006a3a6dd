import type { DesiredState, Origin } from "../../model/desired.ts";
import type { Drift } from "../../model/drift.ts";
import type { LiveState } from "../../model/live.ts";
import type { Change } from "../../model/plan.ts";
import { type DriftTimes, driftOf } from "../../plan/report/detect-drift.ts";
import { entryTime, type History, readHistory } from "../files/git-history.ts";
import type { Io } from "../io/io.ts";
import type { Planned } from "../session/session.ts";

/** Returns the drift of the planned merchants. */
export async function driftsOf(planned: readonly Planned[], io: Io): Promise<readonly Drift[]> {
  const drifts = await Promise.all(
    planned.map(async (one): Promise<readonly Drift[]> => {
      if (one.status === "failed") return [];
      const { session, plan, live } = one;
      const times =
        plan.changes.length + plan.refusals.length === 0
          ? NO_TIMES
          : await driftTimes(session.state, live, io);
      return [driftOf({ desired: session.state, live }, plan, times)];
    }),
  );
  return drifts.flat();
}

const NO_TIMES: DriftTimes = { file: () => null, live: () => null };

/** Reads when each side of a merchant's changes last changed: the file from git, the live one from the service. */
async function driftTimes(state: DesiredState, live: LiveState, io: Io): Promise<DriftTimes> {
  const files = await readHistories(state, io);
  const origins = originsOf(state);
  const updated = new Map(
    [...live.roles, ...live.members].map(({ id, updatedAt }) => [id, Date.parse(updatedAt)]),
  );
  const newest = Math.max(...[...files.values()].map(({ times }) => times.file ?? Number.NaN));
  return {
    live: ({ id }) => known(id === null ? undefined : updated.get(id)),
    file: (change) => {
      const origin = origins.get(keyOf(change));
      // An entry that is gone has no line, so the time of the merchant's files stands for it.
      if (origin === undefined) return known(newest);
      const history = files.get(origin.file);
      return history ? entryTime(history, origin) : null;
    },
  };
}

async function readHistories(state: DesiredState, io: Io): Promise<ReadonlyMap<string, History>> {
  const entries = [...(state.roles ?? []), ...(state.members ?? [])];
  const files = [...new Set([state.origin.file, ...entries.map(({ origin }) => origin.file)])];
  const histories = await Promise.all(
    files.map(async (file): Promise<[string, History]> => {
      return [file, await readHistory(file, io)];
    }),
  );
  return new Map(histories);
}

function originsOf({ roles = [], members = [] }: DesiredState): ReadonlyMap<string, Origin> {
  return new Map([
    ...roles.map(({ name, origin }) => [`role ${name}`, origin] as const),
    ...members.map(({ email, origin }) => [`member ${email.toLowerCase()}`, origin] as const),
  ]);
}

function keyOf({ resource, name }: Change): string {
  return `${resource} ${resource === "member" ? name.toLowerCase() : name}`;
}

function known(time: number | undefined): number | null {
  return time === undefined || Number.isNaN(time) ? null : time;
}
