import { type DepartedMember, membersInRecord, recordText } from "../../edit/adopt/live-record.ts";
import { addressesOf } from "../../kernel/diff/scope.ts";
import { addressesOfPerson } from "../../kernel/values/person.ts";
import { oneLine } from "../../lib/escape.ts";
import { counted } from "../../lib/text.ts";
import type { DesiredState, Environment } from "../../model/desired.ts";
import { RolecallError } from "../../model/errors.ts";
import type { LiveState } from "../../model/live.ts";
import { changeRef } from "../../store/change-ref.ts";
import type { FileEdits, GitRefs } from "../../store/git-refs.ts";
import type { Io } from "../io/io.ts";
import type { PlannedMerchant } from "../session/session.ts";
import { type LiveBranch, recordPath, requireRecordsOnly } from "./live-branch.ts";

/** A live state that was read. */
export interface LiveReading {
  readonly desired: Pick<DesiredState, "members">;
  readonly live: LiveState;
  readonly environment: Environment | null;
  /** Addresses of the members whom the run has removed. */
  readonly removed: readonly string[];
}

/** Records live states. It never throws: a failure is a warning. */
export type RecordLive = (readings: readonly LiveReading[], by: string) => Promise<void>;

/** Returns the live states of planned merchants, of which no run has removed anybody. */
export function liveReadings(planned: readonly PlannedMerchant[]): readonly LiveReading[] {
  return planned.map(({ live, session: { state, environment } }) => {
    return { desired: state, live, environment, removed: [] };
  });
}

/** The output of a recorder. */
export interface RecorderOutput {
  /** Prints a sentence. */
  readonly say: (text: string) => void;
  readonly warn: (text: string) => void;
}

/** Creates a function that records live states in a branch. `by` names the command or run that has read them. */
export function liveRecorder(
  branch: LiveBranch,
  { say, warn }: RecorderOutput,
  io: Pick<Io, "now" | "sleep">,
): RecordLive {
  return async (readings, by) => {
    if (readings.length === 0) return;
    try {
      const commit = await branch.open((branches) => record(readings, by, { branch, branches }, io));
      if (commit !== null) {
        say(
          `Recorded what changed at the service in ${branch.name} of ${oneLine(branch.place)}: ${commit.slice(0, 12)}.`,
        );
      }
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const hint = error instanceof RolecallError && error.hint ? ` ${error.hint}` : "";
      warn(`The live state could not be recorded in ${branch.name}: ${oneLine(`${why}${hint}`)}`);
    }
  };
}

async function record(
  readings: readonly LiveReading[],
  by: string,
  { branch, branches }: { readonly branch: LiveBranch; readonly branches: GitRefs },
  io: Pick<Io, "now" | "sleep">,
): Promise<string | null> {
  const noticed = new Date(io.now()).toISOString();
  const edit = async (from: string | undefined): Promise<FileEdits> => {
    const entries = from === undefined ? [] : await branches.entries(from);
    requireRecordsOnly(entries, branch.name);
    const ids = new Map(entries.map(({ path, id }) => [path, id]));
    const edits = new Map<string, string>();
    for (const reading of readings) {
      const path = recordPath(reading.live.merchant);
      const id = ids.get(path);
      const [before = null] = id === undefined ? [] : await branches.contents([id]);
      const earlier = before?.toString("utf8") ?? "";
      const text = recordText({ ...reading, departed: departedMembers(earlier, reading, noticed) });
      if (text !== earlier) edits.set(path, text);
    }
    if (edits.size > 0 && (await branch.isPublic())) throw publicRepository();
    return edits;
  };
  return changeRef(
    branches,
    branch.name,
    (edits) => messageOf(edits, by),
    edit,
    (ms) => io.sleep(ms),
  );
}

function publicRepository(): RolecallError {
  return new RolecallError(
    "usage",
    "The repository can be read without credentials, and records contain the addresses of members.",
    { hint: "Make the repository private, or remove live_branch from rolecall.yaml." },
  );
}

function messageOf(edits: FileEdits, by: string): string {
  const merchants = [...edits.keys()].map((path) => path.replace(/\.yaml$/, ""));
  const [only] = merchants.length === 1 ? merchants : [];
  const trailers = [`Read-By: ${oneLine(by)}`, ...merchants.map((merchant) => `Merchant: ${merchant}`)];
  return `Live state of ${only ?? counted(merchants.length, "merchant")}\n\n${trailers.join("\n")}\n`;
}

/** Returns the declared members who left: those of the record before who are not live, although the run has not removed them. */
function departedMembers(
  earlier: string,
  { desired: { members = [] }, live, removed }: LiveReading,
  noticed: string,
): readonly DepartedMember[] {
  const before = membersInRecord(earlier);
  if (before === null) return [];
  const lower = (address: string): string => address.toLowerCase();
  const declared = new Set(members.flatMap(addressesOfPerson));
  const absent = new Set(removed.map(lower));
  const present = new Set(live.members.flatMap(addressesOf).map(lower));
  const ids = new Set(live.members.map(({ id }) => id));
  const hasLeft = (address: string): boolean =>
    declared.has(address) &&
    !absent.has(address) &&
    !present.has(address) &&
    !ids.has(before.ids.get(address) ?? "");
  const newly = [...before.present].map(
    (email): DepartedMember => before.departed.get(email) ?? { email, noticed },
  );
  const known = [...before.departed.values()].filter(({ email }) => !before.present.has(lower(email)));
  return [...newly, ...known].filter(({ email }) => hasLeft(lower(email)));
}
