import { RolecallError } from "../../src/model/errors.ts";
import type { LiveMember, LiveRole, LiveState } from "../../src/model/live.ts";
import type { LiveLookup, LiveWriter, WriteOptions } from "../../src/model/ports.ts";
import { invited, liveMember, liveRole } from "./build.ts";

/** A service that is nothing but its state: what apply is held against where HTTP does not matter. */
export interface ModelService {
  readonly writer: LiveWriter;
  readonly lookup: LiveLookup;
  /** Every write, in order, in short. */
  readonly calls: readonly string[];
  /** Every look at a single resource, in order: its id. */
  readonly looks: readonly string[];
  /** Passwords that were set, by member id. */
  readonly passwords: ReadonlyMap<string, string>;
  /** Somebody else changes something meanwhile. */
  edit(change: (state: { roles: Map<string, LiveRole>; members: Map<string, LiveMember> }) => void): void;
  state(): LiveState;
}

/** What a service does with an expired invitation when its address is invited again. */
export type ExpiredMode = "beside" | "replace" | "renew" | "conflict";

/** Starts from a live state; refuses what the contract calls a conflict or meaningless. */
export function modelService(start: LiveState, expiredMode: ExpiredMode = "beside"): ModelService {
  const roles = new Map(start.roles.map((role) => [role.id, role]));
  const members = new Map(start.members.map((member) => [member.id, member]));
  const calls: string[] = [];
  const looks: string[] = [];
  const passwords = new Map<string, string>();
  let created = 0;

  const known = (ids: readonly string[]): readonly string[] => {
    for (const id of ids) if (!roles.has(id)) throw new RolecallError("unprocessable", `no role ${id}`);
    return ids;
  };
  const found = <T>(map: ReadonlyMap<string, T>, id: string): T => {
    const one = map.get(id);
    if (one === undefined) throw new RolecallError("not-found", `no ${id}`);
    return one;
  };
  const free = (name: string, own?: string): void => {
    for (const role of roles.values()) {
      if (role.name === name && role.id !== own) throw new RolecallError("conflict", `role ${name} exists`);
    }
  };
  const given = (role: LiveRole, rest: Partial<LiveRole>): void =>
    void roles.set(role.id, { ...role, ...rest });

  const writer: LiveWriter = {
    async createRole(draft) {
      calls.push(`create role ${draft.name}`);
      free(draft.name);
      created += 1;
      const id = `role_new${created}`;
      given(liveRole(id, draft.name), { ...draft });
      return { id, adopted: false };
    },
    async updateRole(id, patch) {
      calls.push(`update role ${id} ${Object.keys(patch).sort().join(" ")}`);
      const role = found(roles, id);
      if (role.predefined) throw new RolecallError("unprocessable", `${id} is predefined`);
      if (patch.name !== undefined) free(patch.name, id);
      given(role, patch);
    },
    async deleteRole(id) {
      calls.push(`delete role ${id}`);
      found(roles, id);
      for (const member of members.values()) {
        if (member.roles.includes(id)) throw new RolecallError("conflict", `${id} is held by ${member.id}`);
      }
      roles.delete(id);
    },
    async createMember(draft) {
      calls.push(`create member ${draft.email}`);
      const old = [...members.values()].find(
        ({ status, invite }) =>
          status === "expired" && invite?.email.toLowerCase() === draft.email.toLowerCase(),
      );
      if (old && expiredMode === "conflict") throw new RolecallError("conflict", `${old.id} is there`);
      if (old && expiredMode === "replace") members.delete(old.id);
      created += 1;
      const id = old && expiredMode === "renew" ? old.id : `mem_new${created}`;
      const base = draft.managed
        ? managedMember(id, draft.email, draft.managed.nickname)
        : invited(id, draft.email);
      members.set(id, { ...base, roles: known(draft.roles), metadata: draft.metadata ?? {} });
      if (draft.managed) passwords.set(id, draft.managed.password);
      return { id, adopted: false };
    },
    async updateMember(id, { roles: next, metadata, nickname, password }) {
      calls.push(`update member ${id}${password === undefined ? "" : " password"}`);
      const member = found(members, id);
      const user = member.user && nickname !== undefined ? { user: { ...member.user, nickname } } : {};
      const updated = {
        ...member,
        ...user,
        ...(next && { roles: known(next) }),
        ...(metadata && { metadata }),
      };
      members.set(id, updated);
      if (password !== undefined) passwords.set(id, password);
      return updated;
    },
    async deleteMember(id) {
      calls.push(`delete member ${id}`);
      found(members, id);
      members.delete(id);
    },
  };
  const look = <T>(map: ReadonlyMap<string, T>, id: string): T | null => {
    looks.push(id);
    return map.get(id) ?? null;
  };
  return {
    writer: beginning(writer),
    lookup: {
      getRole: async (id) => look(roles, id),
      getMember: async (id) => look(members, id),
      getHolder: async (id) => [...members.values()].find((one) => one.roles.includes(id)) ?? null,
    },
    calls,
    looks,
    passwords,
    edit: (change) => change({ roles, members }),
    state: () => ({ ...start, roles: [...roles.values()], members: [...members.values()] }),
  };
}

function managedMember(id: string, email: string, nickname: string | undefined): LiveMember {
  const member = liveMember(id, email);
  const user = { id, email, mfaOnLogin: false, type: "managed_user" };
  return { ...member, user: { ...user, ...(nickname !== undefined && { nickname }) } };
}

/** Makes a writer say of each write when it begins, as the client does. */
export function beginning(writer: LiveWriter): LiveWriter {
  const begun = async <O extends WriteOptions>(
    options?: O,
  ): Promise<Omit<O, "beforeSending"> | undefined> => {
    if (options === undefined) return undefined;
    const { beforeSending, ...rest } = options;
    await beforeSending?.();
    return rest;
  };
  return {
    createRole: async (role, options) => writer.createRole(role, await begun(options)),
    updateRole: async (id, patch, options) => writer.updateRole(id, patch, await begun(options)),
    deleteRole: async (id, options) => writer.deleteRole(id, await begun(options)),
    createMember: async (member, options) => writer.createMember(member, await begun(options)),
    updateMember: async (id, update, options) => writer.updateMember(id, update, await begun(options)),
    deleteMember: async (id, options) => writer.deleteMember(id, await begun(options)),
  };
}
