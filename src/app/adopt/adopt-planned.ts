import { adoptLive } from "../../edit/adopt/adopt-live.ts";
import { adoptionEdits, type FileEdit } from "../../edit/adopt/adoption-edits.ts";
import { findUnwritable } from "../../edit/adopt/find-unwritable.ts";
import { editYaml } from "../../edit/yaml/edit-yaml.ts";
import { type AnyImage, imageWithParts, updateParts } from "../../kernel/diff/change-parts.ts";
import { hasAddress } from "../../kernel/diff/scope.ts";
import { liveMemberWith } from "../../kernel/fields/member.ts";
import { liveRoleOf } from "../../kernel/fields/role.ts";
import { roleKey } from "../../kernel/fields/set.ts";
import { filesOf } from "../../kernel/read/files-of.ts";
import { type RawFile, toRawFile } from "../../kernel/schema/raw-file.ts";
import { addressesOfPerson } from "../../kernel/values/person.ts";
import { parseText } from "../../kernel/yaml/to-value.ts";
import { canonicalJson } from "../../lib/json-text.ts";
import { memoized } from "../../lib/memoized.ts";
import { counted, grouped } from "../../lib/text.ts";
import type { Adoption, EntryEdit, Unwritable } from "../../model/adoption.ts";
import type { DesiredMember, DesiredState } from "../../model/desired.ts";
import type { LiveState } from "../../model/live.ts";
import type { Change } from "../../model/plan.ts";
import type { Drift, DriftCause } from "../../model/reports.ts";
import type { FilePatch } from "../../show/text/patch-text.ts";
import { globMatcher, type PlannedMerchant } from "../session/session.ts";

/** The files of a project, and the merchants whose files include them. */
export interface LoadedProject {
  readonly all: readonly DesiredState[];
  readonly sources: readonly { readonly file: string; readonly text: string }[];
}

/** The patches that adopt live states. */
export interface AdoptedFiles {
  readonly patches: readonly FilePatch[];
  /** Differences that are not adopted, with the reason, one line each. */
  readonly conflicts: readonly string[];
  /** Values that files no longer declare, because a file cannot express them, one line each. */
  readonly notes: readonly string[];
}

/** A planned merchant to adopt. */
export interface AdoptedMerchant {
  readonly planned: PlannedMerchant;
  /** Returns whether an edit is wanted. */
  readonly wants: WantsEdit;
}

/** Returns the patches of the files that adopt the live states of merchants. */
export function adoptPlanned(
  merchants: readonly AdoptedMerchant[],
  project: LoadedProject,
  now: number,
): AdoptedFiles {
  const matches = globMatcher();
  const texts = new Map(project.sources.map(({ file, text }) => [file, text]));
  const rawOf = rawFileReader(texts);
  const including = includingMerchants(project.all);
  const isShared = (file: string): boolean => (including.get(file)?.size ?? 0) > 1;
  const notes: string[] = [];
  const wantedEdits = merchants.flatMap(
    ({ planned: { session, live, plan }, wants }): readonly WantedEdit[] => {
      const { state } = session;
      const unwritable = findUnwritable(live);
      const adoption = adoptLive({
        desired: state,
        live,
        findings: plan.findings,
        now,
        matches,
        unwritable,
        wants,
      });
      notes.push(...unwritableNotes(adoption, unwritable, live));
      if (adoption.edits.length === 0) return [];
      const rawFiles = filesOf(state).map(rawOf);
      const main = rawOf(state.origin.file);
      return adoptionEdits(adoption, { main, all: rawFiles, isShared }).map((edit) => ({
        ...edit,
        merchant: state.merchant,
        comments: adoption.heldRoles,
      }));
    },
  );
  const { edits, conflicts } = settleShared(wantedEdits, including);
  const refused: string[] = [];
  const patches = [...edits].flatMap(([file, editsOfFile]): readonly FilePatch[] => {
    const before = texts.get(file) ?? "";
    const comments = new Map(editsOfFile.flatMap((edit) => [...edit.comments]));
    const result = editYaml(
      before,
      editsOfFile.map(({ edit }) => edit),
      { comments },
    );
    if ("text" in result) return result.text === before ? [] : [{ file, before, after: result.text }];
    refused.push(
      `${file} cannot be edited (${result.refused} at ${result.path.join(".") || "its root"}): edit it by hand.`,
    );
    return [];
  });
  return { patches, conflicts: [...conflicts, ...refused], notes };
}

/** Names the fields that lose their declared value, because a file cannot express the live one. */
function unwritableNotes(
  { merchant, edits }: Adoption,
  unwritable: Unwritable,
  { roles, members }: LiveState,
): readonly string[] {
  return edits.flatMap((edit) => {
    if (edit.kind !== "update-role" && edit.kind !== "update-member") return [];
    const [about, parts] =
      edit.kind === "update-role"
        ? [`role ${edit.role.name}`, roles.find(({ name }) => name === (edit.fields.name ?? edit.role.name))]
        : [
            edit.member.email,
            members.find((member) => hasAddress(member, edit.fields.email ?? edit.member.email)),
          ];
    const reason = (edit.kind === "update-role" ? unwritable.roles : unwritable.members).get(parts?.id ?? "");
    const lost = Object.entries(edit.fields).flatMap(([key, value]) =>
      value === null && reason?.has(key) ? [key] : [],
    );
    return lost.map(
      (key) =>
        `${merchant}: ${about}: ${key} is no longer declared, since a file cannot express the live value.`,
    );
  });
}

type WantedEdit = FileEdit & {
  readonly merchant: string;
  readonly comments: ReadonlyMap<string, string>;
};

/** Returns a function that reads the entries of a file, each file once. */
export function rawFileReader(texts: ReadonlyMap<string, string>): (file: string) => RawFile {
  return memoized((file) => toRawFile(file, parseText(texts.get(file) ?? "").value));
}

function includingMerchants(states: readonly DesiredState[]): ReadonlyMap<string, ReadonlySet<string>> {
  const including = new Map<string, Set<string>>();
  for (const state of states) {
    for (const file of filesOf(state))
      including.set(file, (including.get(file) ?? new Set()).add(state.merchant));
  }
  return including;
}

/** Returns the edits of each file; one of a shared file is done only if all merchants that include it want it. */
function settleShared(
  wantedEdits: readonly WantedEdit[],
  including: ReadonlyMap<string, ReadonlySet<string>>,
): { readonly edits: ReadonlyMap<string, readonly WantedEdit[]>; readonly conflicts: readonly string[] } {
  const keyOf = ({ file, edit }: FileEdit): string => canonicalJson([file, edit]);
  const wanting = new Map<string, Set<string>>();
  for (const wantedEdit of wantedEdits) {
    const key = keyOf(wantedEdit);
    wanting.set(key, (wanting.get(key) ?? new Set()).add(wantedEdit.merchant));
  }
  const edits = new Map<string, WantedEdit[]>();
  const done = new Set<string>();
  const conflicts = new Map<string, { readonly one: WantedEdit; readonly agreeing: ReadonlySet<string> }>();
  const put = (wantedEdit: WantedEdit): void => {
    edits.set(wantedEdit.file, [...(edits.get(wantedEdit.file) ?? []), wantedEdit]);
  };
  for (const wantedEdit of wantedEdits) {
    const merchants = including.get(wantedEdit.file) ?? new Set();
    const key = keyOf(wantedEdit);
    const agreeing = wanting.get(key) ?? new Set();
    if (merchants.size <= 1) put(wantedEdit);
    else if (agreeing.size === merchants.size) {
      if (!done.has(key)) put(wantedEdit);
      done.add(key);
    } else if (wantedEdit.instead)
      for (const ownEdit of wantedEdit.instead) put({ ...wantedEdit, ...ownEdit });
    else conflicts.set(key, { one: wantedEdit, agreeing });
  }
  const texts = [...conflicts.values()].map(({ one: { file, about }, agreeing }) => {
    const disagreeing = [...(including.get(file) ?? [])].filter((code) => !agreeing.has(code));
    return `${someOf([...agreeing])}: ${about} stays as it is: ${file} is shared with ${someOf(disagreeing)}, where the change would apply as well. To adopt it, move it to the merchants' own files, and pull again.`;
  });
  return { edits, conflicts: [...new Set(texts)] };
}

/** Lists merchants; if there are more than four, the first three. */
function someOf(codes: readonly string[]): string {
  if (codes.length <= 4) return codes.join(", ");
  return `${codes.slice(0, 3).join(", ")} and ${counted(codes.length - 3, "merchant")} more`;
}

/** Returns whether an edit is wanted. */
export type WantsEdit = (edit: EntryEdit) => boolean;

/** Selects edits by section. */
export function inSection(section: "roles" | "members"): WantsEdit {
  return (edit) => (section === "roles") === edit.kind.endsWith("-role");
}

/** Selects the edits of members by their addresses, in lower case, and the roles that they hold and no file declares. */
export function ofMembers(emails: ReadonlySet<string>, { members }: LiveState): WantsEdit {
  const isOne = (email: string | null | undefined): boolean =>
    email != null && emails.has(email.toLowerCase());
  const held = new Set(
    members
      .filter(({ user, invite }) => isOne(user?.email) || isOne(invite?.email))
      .flatMap(({ roles }) => roles),
  );
  return (edit) => {
    switch (edit.kind) {
      case "add-role":
        return held.has(edit.id);
      case "add-member":
        return isOne(edit.entry.email);
      case "update-member":
      case "remove-member":
        return isOne(edit.member.email);
      case "ignore-member":
        return isOne(edit.name);
      default:
        return false;
    }
  };
}

/** Returns what to adopt of a merchant: what happened at the service for one of these causes. */
export function ofDrift(
  planned: PlannedMerchant,
  { plan, changes }: Drift,
  causes: readonly DriftCause[],
): AdoptedMerchant {
  const isOutside = (index: number): boolean => {
    const { event = null, cause = "unknown" } = changes[index] ?? {};
    return event !== null && causes.includes(cause);
  };
  const outside = plan.changes.filter((_, index) => isOutside(index));
  const others = plan.changes.filter((_, index) => !isOutside(index));
  const ids = new Set(outside.flatMap(({ kind, id }) => (kind === "delete" ? (id ?? []) : [])));
  const names = new Set(
    outside.flatMap(({ kind, resource, name }) =>
      kind === "delete" ? [] : `${resource} ${name.toLowerCase()}`,
    ),
  );
  const isNamed = (member: DesiredMember): boolean =>
    addressesOfPerson(member).some((address) => names.has(`member ${address}`));
  const suspended = new Set(others.flatMap(({ reason, name }) => (reason === "suspended" ? name : [])));
  const wants = (edit: EntryEdit): boolean => {
    switch (edit.kind) {
      case "update-role":
      case "remove-role":
        return names.has(`role ${edit.role.name.toLowerCase()}`);
      case "update-member":
        // A role that a suspended member was given can only be declared together with the end of the suspension.
        if (edit.fields.suspended === null && suspended.has(edit.member.email)) return false;
        if (Object.keys(edit.fields).every((key) => key === "reinvite")) return false;
        return isNamed(edit.member);
      case "remove-member":
        return isNamed(edit.member);
      default:
        return ids.has(edit.id);
    }
  };
  return { planned: { ...planned, live: liveAfter(planned.live, others) }, wants };
}

/** Returns a live state after the new roles and updates of a plan, so that adopting it keeps their effect. */
function liveAfter(live: LiveState, changes: readonly Change[]): LiveState {
  const images = new Map<string, AnyImage>();
  for (const change of changes) {
    if (change.kind !== "update") continue;
    const { id, before, after } = change;
    images.set(id, imageWithParts(images.get(id) ?? before, after, new Set(updateParts(change))));
  }
  const created = changes.flatMap((change) =>
    change.resource === "role" && change.kind === "create"
      ? liveRoleOf(change.after, roleKey({ id: null, name: change.name }))
      : [],
  );
  const roles = live.roles.map((role) => {
    const image = images.get(role.id);
    return image && "permissions" in image ? liveRoleOf(image, role.id) : role;
  });
  const members = live.members.map((member) => {
    const image = images.get(member.id);
    return image && "roles" in image ? liveMemberWith(member, image, roleKey) : member;
  });
  return { ...live, roles: [...roles, ...created], members };
}

/** Returns a note on the differences that are not adopted, because it is unknown which side changed. */
export function undecidedNote({ plan, changes }: Drift): readonly string[] {
  const undecided = changes.filter(({ cause, event }) => event !== null && cause === "unknown").length;
  if (undecided === 0) return [];
  const what = undecided === 1 ? "1 difference stays" : `${grouped(undecided)} differences stay`;
  return [
    `${plan.merchant}: ${what}, since it is unknown which side changed. "rolecall drift" shows them; "rolecall pull ${plan.merchant}" adopts the whole live state.`,
  ];
}
