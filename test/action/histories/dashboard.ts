import type { Story } from "../support/story.ts";
import {
  type Access,
  declaredAt,
  grantsFact,
  hasFact,
  MERCHANTS,
  type Merchant,
  mayFact,
  memberFact,
  PEOPLE,
  PERMISSIONS,
  ROLES,
  roleFact,
  START,
} from "./access-files.ts";
import type { DashboardStep } from "./history-steps.ts";

/** What the service has when a history begins: what the files declare. */
export const SEED = {
  merchants: MERCHANTS.map((merchant) => {
    const facts = declaredAt(START, merchant, 0);
    const roles = ROLES.filter((role) => facts.has(roleFact(role)));
    return {
      code: merchant,
      roles: roles.map((name) => ({
        name,
        permissions: PERMISSIONS.filter((one) => facts.has(grantsFact(name, one))),
      })),
      members: [
        { email: "ada@example.com", roles: ["role_owner"] },
        ...PEOPLE.filter((one) => facts.has(memberFact(one))).map((email) => ({
          email,
          roles: roles.filter((role) => facts.has(hasFact(email, role))),
        })),
      ],
    };
  }),
  keys: [{ key: "sk_test_sandbox", owner: "ada@example.com" }],
};

interface RoleJson {
  readonly id: string;
  readonly name: string;
  readonly permissions: readonly string[];
}

interface MemberJson {
  readonly id: string;
  readonly status: string;
  readonly roles: readonly (string | { readonly id: string })[];
  readonly user?: { readonly email: string };
  readonly invite?: { readonly email: string };
}

/** A merchant as the service lists it. */
interface Listed {
  readonly roles: readonly RoleJson[];
  readonly members: readonly MemberJson[];
}

async function listMerchant(story: Story, merchant: Merchant): Promise<Listed> {
  const listed = async (what: string): Promise<unknown> => {
    const page = await story.behind("GET", `/v0.1/merchants/${merchant}/${what}?limit=25`);
    return (page as { readonly items: unknown }).items;
  };
  const [roles, members] = [await listed("roles"), await listed("members")];
  return { roles: roles as readonly RoleJson[], members: members as readonly MemberJson[] };
}

/** Reads what is live at all merchants; throws if somebody is a member twice. */
export async function readLive(story: Story): Promise<ReadonlyMap<Merchant, Access>> {
  const live = new Map<Merchant, Access>();
  for (const merchant of MERCHANTS) {
    const { roles, members } = await listMerchant(story, merchant);
    const own = roles.filter(({ name }) => (ROLES as readonly string[]).includes(name));
    const byId = new Map(own.map((role) => [role.id, role]));
    const facts = own.flatMap(({ name, permissions }) => [
      roleFact(name),
      ...permissions.map((one) => grantsFact(name, one)),
    ]);
    const people = members.map(addressOf);
    if (new Set(people).size < people.length) throw new Error(`somebody is a member of ${merchant} twice`);
    for (const one of members) {
      const person = addressOf(one);
      const held = roleIds(one).flatMap((id) => byId.get(id) ?? []);
      facts.push(memberFact(person));
      for (const { name, permissions } of held) {
        facts.push(hasFact(person, name), ...permissions.map((each) => mayFact(person, each)));
      }
    }
    live.set(merchant, new Set(facts));
  }
  return live;
}

/** Accepts all invitations, so that none expires. */
export async function acceptInvitations(story: Story): Promise<void> {
  for (const merchant of MERCHANTS) {
    for (const { id, status } of (await listMerchant(story, merchant)).members) {
      if (status === "pending") await story.behind("POST", `/merchants/${merchant}/members/${id}/accept`);
    }
  }
}

/** Edits a merchant past the files; nothing if it has no such role or person. */
export async function editDashboard(story: Story, step: DashboardStep): Promise<void> {
  const { roles, members } = await listMerchant(story, step.merchant);
  const path = `/v0.1/merchants/${step.merchant}`;
  const person = "person" in step ? members.find((one) => addressOf(one) === step.person) : undefined;
  const role = "role" in step ? roles.find(({ name }) => name === step.role) : undefined;
  if (step.step === "remove") {
    if (person !== undefined) await story.behind("DELETE", `${path}/members/${person.id}`);
  } else if (role === undefined) {
    return;
  } else if ("permission" in step) {
    const others = role.permissions.filter((one) => one !== step.permission);
    const permissions = step.step === "widen" ? [...others, step.permission].sort() : others;
    await story.behind("PATCH", `${path}/roles/${role.id}`, { permissions });
  } else if (person !== undefined) {
    const others = roleIds(person).filter((id) => id !== role.id);
    const next = step.step === "give" ? [...others, role.id] : others;
    await story.behind("PUT", `${path}/members/${person.id}`, { roles: next });
  }
}

function addressOf({ user, invite }: MemberJson): string {
  return user?.email ?? invite?.email ?? "";
}

function roleIds({ roles }: MemberJson): readonly string[] {
  return roles.map((one) => (typeof one === "string" ? one : one.id));
}
