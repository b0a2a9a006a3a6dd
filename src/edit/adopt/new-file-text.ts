import { NO_POLICIES } from "../../kernel/rules/settings/every-setting.ts";
import { toRawFile } from "../../kernel/schema/raw-file.ts";
import type { Adoption, RoleEntry } from "../../model/adoption.ts";
import type { DesiredState, Environment, SyncMode } from "../../model/desired.ts";
import type { JsonValue } from "../../model/json.ts";
import type { LiveState } from "../../model/live.ts";
import type { YamlEdit } from "../yaml/edit-yaml.ts";
import { type NewFile, newFile } from "../yaml/new-file.ts";
import { adoptLive } from "./adopt-live.ts";
import { adoptionEdits } from "./adoption-edits.ts";
import { mentionValues } from "./entry-texts.ts";
import { findUnwritable } from "./find-unwritable.ts";
import type { RoleAdjustment } from "./share-roles.ts";

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

/** The parts of a new file that do not come from a live state. */
export interface NewFileParts {
  /** Those of the roles that the file includes. */
  readonly adjustments?: readonly RoleAdjustment[];
  /** The edits that state its rules. */
  readonly rules?: readonly YamlEdit[];
}

/**
 * Returns the text of a new file that declares a merchant's live state, in canonical order and style: a plan of it has
 * no changes.
 */
export function newFileText(
  adoption: Adoption,
  header: NewFileHeader,
  { adjustments = [], rules = [] }: NewFileParts = {},
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
  };
  const ignore = ignoredIn(edits);
  const adjusted = adjustments.map(adjustmentEdit);
  const hasRoles = include.length === 0 || [...adjusted, ...edits].some(({ path }) => path[0] === "roles");
  const mentions = adoption.mentions.map(
    (mention): YamlEdit => ({ kind: "remark", path: ["members"], ...mentionValues(mention) }),
  );
  return newText(
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
      lists: [...(hasRoles ? (["roles"] as const) : []), "members"],
      edits: [...adjusted, ...edits.filter(({ path }) => path.length === 1), ...mentions, ...rules],
    },
    adoption.heldRoles,
  );
}

/** Returns the text of a new file; the edits of one are possible by construction. */
function newText(file: NewFile, comments?: ReadonlyMap<string, string>): string {
  const result = newFile(file, comments === undefined ? {} : { comments });
  if ("text" in result) return result.text;
  throw new Error(`a new file is ${result.refused} at ${result.path.join(".")}`);
}

function adjustmentEdit({ name, add, remove }: RoleAdjustment): YamlEdit {
  const adjust = { ...(add.length > 0 && { add }), ...(remove.length > 0 && { remove }) };
  return { kind: "append", path: ["roles"], value: { name, adjust } };
}

/** Returns the text of a file that declares roles for several merchants to include. */
export function sharedFileText(roles: readonly RoleEntry[], schema: string): string {
  const edits = roles.map((role): YamlEdit => ({ kind: "append", path: ["roles"], value: { ...role } }));
  return newText({ schema, settings: { version: 1 }, lists: ["roles"], edits });
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

/** Returns the desired state of a file that has every section, and nothing in it. */
export function emptyState(merchant: string, file: string): DesiredState {
  return {
    merchant,
    sync: { roles: "authoritative", members: "authoritative", reinvite: true, replaceRoles: false },
    ignore: { roles: [], members: [] },
    guards: { protect: { roles: [], members: [] } },
    policies: NO_POLICIES,
    checks: [],
    roles: [],
    members: [],
    origin: { file, path: [] },
  };
}
