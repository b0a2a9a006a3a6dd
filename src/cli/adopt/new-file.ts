import { adoptionEdits } from "../../config/adopt/adoption-edits.ts";
import { mentionValues } from "../../config/adopt/entry-texts.ts";
import { findUnwritable } from "../../config/adopt/find-unwritable.ts";
import type { RoleAdjustment } from "../../config/adopt/share-roles.ts";
import type { YamlEdit } from "../../config/edit/edit-yaml.ts";
import { type NewEntry, printMerchantFile } from "../../config/edit/print-value.ts";
import { toRawFile } from "../../config/raw-file.ts";
import type { Adoption, RoleEntry } from "../../model/adoption.ts";
import type { DesiredState, Environment, SyncMode } from "../../model/desired.ts";
import type { JsonValue } from "../../model/json.ts";
import type { LiveState } from "../../model/live.ts";
import { adoptLive } from "../../plan/adopt/adopt-live.ts";

/** The settings of a new file. */
export interface NewFileHeader {
  readonly merchant: string;
  /** `null` if it is not known. */
  readonly environment: Environment | null;
  /** Absent: from ROLECALL_BASE_URL. */
  readonly baseUrl?: string;
  readonly keyEnv?: string;
  readonly include?: readonly string[];
  /** The treatment of live entries that the file does not list; absent: `authoritative`. */
  readonly sync?: SyncMode;
  /** The path or address of the schema, for editors. */
  readonly schema?: string;
}

/** Returns the adoption of a live state by a file that declares nothing yet. */
export function adoptNew(live: LiveState, now: number): Adoption {
  return adoptLive({
    desired: emptyState(live.merchant, ""),
    live,
    findings: [],
    now,
    matches: () => false,
    unwritable: findUnwritable(live),
  });
}

/**
 * Returns the text of a new file that declares a merchant's live state, in canonical order and style: a plan of it has
 * no changes. `adjustments` are those of the roles that the file includes.
 */
export function newFileText(
  adoption: Adoption,
  header: NewFileHeader,
  adjustments: readonly RoleAdjustment[] = [],
): string {
  const { merchant, environment, baseUrl, keyEnv, include = [], sync, schema } = header;
  const main = toRawFile("", {});
  const edits = adoptionEdits(adoption, { main, all: [main], isShared: () => false }).map(({ edit }) => edit);
  const api = {
    ...(baseUrl !== undefined && { base_url: baseUrl }),
    ...(keyEnv !== undefined && { key_env: keyEnv }),
  };
  const modes: Mapping = {
    ...(sync === "additive" && { roles: sync, members: sync }),
    ...(adoption.edits.some(({ kind }) => kind === "stop-renewal") && { reinvite: false }),
  };
  const ignore = ignoredIn(edits);
  const roles = [...adjustments.map(adjustmentEntry), ...entriesIn("roles", edits)];
  const mentions = adoption.mentions.map(
    (mention): NewEntry => ({ ...mentionValues(mention), remark: true }),
  );
  return printMerchantFile(
    {
      ...(schema !== undefined && { schema }),
      settings: {
        version: 1,
        merchant,
        ...(environment !== null && { environment }),
        ...(Object.keys(api).length > 0 && { api }),
        ...(include.length > 0 && { include }),
        ...(Object.keys(modes).length > 0 && { sync: modes }),
        ...(Object.keys(ignore).length > 0 && { ignore }),
      },
      ...((include.length === 0 || roles.length > 0) && { roles }),
      members: [...entriesIn("members", edits), ...mentions],
    },
    adoption.heldRoles,
  );
}

function adjustmentEntry({ name, add, remove }: RoleAdjustment): NewEntry {
  const adjust = { ...(add.length > 0 && { add }), ...(remove.length > 0 && { remove }) };
  return { value: { name, adjust } };
}

/** Returns the text of a file that declares roles for several merchants to include. */
export function sharedFileText(roles: readonly RoleEntry[], schema: string): string {
  const entries = roles.map((role): NewEntry => ({ value: { ...role } }));
  return printMerchantFile({ schema, settings: { version: 1 }, roles: entries });
}

type Mapping = Readonly<Record<string, JsonValue>>;

/** Returns the ids to ignore, by section. */
function ignoredIn(edits: readonly YamlEdit[]): Mapping {
  const inSection = (section: string): readonly JsonValue[] =>
    edits.flatMap((edit) =>
      edit.kind === "append" && edit.path[0] === "ignore" && edit.path[1] === section ? [edit.value] : [],
    );
  const [roles, members] = [inSection("roles"), inSection("members")];
  return { ...(roles.length > 0 && { roles }), ...(members.length > 0 && { members }) };
}

/** Returns the entries of a section, those that are commented out at its end. */
function entriesIn(section: string, edits: readonly YamlEdit[]): readonly NewEntry[] {
  const entries = edits.flatMap((edit): readonly NewEntry[] => {
    if (edit.path[0] !== section || edit.kind === "set" || edit.kind === "remove") return [];
    const { value, comment } = edit;
    return [
      { value, ...(comment !== undefined && { comment }), ...(edit.kind === "remark" && { remark: true }) },
    ];
  });
  return [...entries.filter(({ remark }) => !remark), ...entries.filter(({ remark }) => remark === true)];
}

/** Returns the desired state of a file that has every section, and nothing in it. */
export function emptyState(merchant: string, file: string): DesiredState {
  return {
    merchant,
    sync: { roles: "authoritative", members: "authoritative", reinvite: true, replaceRoles: false },
    ignore: { roles: [], members: [] },
    guards: { protect: { roles: [], members: [] } },
    policies: { separate: [], maxHolders: {}, requireUntil: [], requireMfa: [], forbidPermissions: [] },
    checks: [],
    roles: [],
    members: [],
    origin: { file, path: [] },
  };
}
