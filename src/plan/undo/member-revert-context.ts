import { canonicalJson } from "../../lib/canonical-json.ts";
import type { DesiredMember } from "../../model/desired.ts";
import type { LiveMember } from "../../model/live.ts";
import type { MemberImage, RoleRef } from "../../model/plan.ts";
import type { RoleRefs, TakeNote, UndoContext } from "./role-revert-context.ts";

/** One pass over what a run did to members. */
export interface MemberRevertContext extends UndoContext {
  /** What stands for roles of before and after the run. */
  readonly refs: RoleRefs;
  /** The file's members: what they say of a managed user's password, nothing else. */
  readonly declared: readonly DesiredMember[];
  readonly note: TakeNote;
  readonly byId: ReadonlyMap<string, LiveMember>;
  readonly byAddress: ReadonlyMap<string, LiveMember>;
  /** The reference as an image of this plan has it. */
  refOf(id: string): RoleRef;
}

/** Whether a live member has other roles or metadata than an image says. */
export function isChanged(live: LiveMember, after: MemberImage, pass: MemberRevertContext): boolean {
  const keys = (refs: readonly RoleRef[]): string => [...new Set(refs.map(keysOf(pass)))].sort().join("\n");
  const held = live.roles.map((id) => ({ id, name: id }));
  return keys(held) !== keys(after.roles) || canonicalJson(live.metadata) !== canonicalJson(after.metadata);
}

/** One text for each role, however it is called before, after and now. */
export function keysOf({ refs }: MemberRevertContext): (ref: RoleRef) => string {
  return (ref) => {
    const now = refs.refBack(ref);
    if (now === null) return `gone ${refs.idOf(ref) ?? ref.name}`;
    return now.id ?? `new ${now.name}`;
  };
}

/** The live member with an address, in whichever case it is written. */
export function findByAddress(email: string, { byAddress }: MemberRevertContext): LiveMember | undefined {
  return byAddress.get(email.toLowerCase());
}

/** Notes that a member does not get a role back. */
export function noteRoleGone(name: string, role: string, { note }: MemberRevertContext): void {
  note("role-gone", name, `${name} does not get the role "${role}" back: it is not there any more.`);
}
