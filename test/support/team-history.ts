import type { Metadata } from "../../src/model/json.ts";
import type { LiveMember, LiveRole, LiveState, MemberStatus } from "../../src/model/live.ts";
import { liveMember, liveRole } from "./build.ts";

/** How large an organisation is, and how long its history. */
export interface HistorySize {
  readonly teams: number;
  /** States after the first. */
  readonly steps: number;
}

interface Person {
  readonly id: string;
  email: string;
  readonly type: string;
  readonly nickname?: string;
  readonly mfaOnLogin: boolean | null;
}

interface Role {
  id: string;
  name: string;
  description: string | undefined;
  permissions: string[];
  metadata: Metadata;
}

interface Membership {
  readonly id: string;
  readonly person: Person;
  roles: string[];
  status: MemberStatus;
  metadata: Metadata;
}

interface Team {
  readonly merchant: string;
  /** As in `infra/network/on-call`. */
  path: string;
  roles: Role[];
  members: Membership[];
}

interface Organisation {
  readonly random: (below: number) => number;
  readonly people: Person[];
  readonly teams: Team[];
  ids: number;
}

const WORDS = [
  "infra",
  "network",
  "on-call",
  "Infra",
  "ON-CALL",
  "core team",
  "sre: primary",
  "Plattform & Qualität",
  "データ",
  "équipe-paie",
  "release 2.0",
  "#general",
  "yes",
  "007",
  "null",
  "{legacy}",
  "*all*",
  "Заказы",
  "👩‍💻 builders",
  "sub-project with a name that somebody typed out in full because nobody ever stopped them from doing it",
  'o\'neill "crew"',
  "docs [archived]",
  "- misc",
  "true",
];
const ROLES: readonly (readonly [name: string, permissions: number])[] = [
  ["maintainer", 14],
  ["member", 7],
  ["triage", 4],
  ["read", 1],
];
const PERMISSIONS = ["repositories", "issues", "wiki", "runners", "packages", "secrets", "members"].flatMap(
  (area) => ["view", "create", "edit", "delete"].map((act) => `${area}_${act}`),
);
const PREDEFINED = ["role_owner", "role_admin", "role_employee"].map((id) =>
  liveRole(id, id.slice("role_".length), { predefined: true }),
);
const GIVEN = ["ada", "bo", "Chioma", "dana", "emre", "Fay", "gus", "hana", "Ines", "jürgen"];
const FAMILY = ["lopez", "Ng", "okafor", "smith-jones", "van.der.berg", "ivanova", "kim", "O.Brien"];

/**
 * Returns the live states of an organisation's teams, each of them a merchant, at the start and after each step of their
 * history: people join and leave, teams are split, merged and renamed, and roles change everywhere at once. The teams of
 * every state begin with those of the state before, and the same seed gives the same history.
 */
export function teamHistory(seed: number, { teams, steps }: HistorySize): readonly (readonly LiveState[])[] {
  const organisation = found(seed, teams);
  const history = [statesOf(organisation)];
  for (let step = 1; step <= steps; step += 1) {
    for (let moves = 0; moves < 2 + teams / 3; moves += 1) pick(organisation, EVENTS)(organisation);
    history.push(statesOf(organisation));
  }
  return history;
}

function found(seed: number, teams: number): Organisation {
  const organisation: Organisation = { random: randomOf(seed), people: [], teams: [], ids: 0 };
  const { random, people } = organisation;
  for (let count = 0; count < 40 + teams * 6; count += 1) people.push(newPerson(organisation));
  for (let count = 0; count < teams; count += 1) {
    const parent = count > 3 && random(3) > 0 ? pick(organisation, organisation.teams).path : null;
    newTeam(organisation, [parent, pick(organisation, WORDS)].filter((part) => part !== null).join("/"));
  }
  for (const team of organisation.teams) {
    // Most teams are small, and a few have nearly everybody.
    const size = Math.floor(200 / (1 + random(80))) - random(3);
    for (let count = 0; count < size; count += 1) join(organisation, team, somebody(organisation));
  }
  return organisation;
}

const EVENTS: readonly ((organisation: Organisation) => void)[] = [
  hire,
  leave,
  leave,
  split,
  merge,
  rename,
  rename,
  changePolicy,
  replaceRole,
  swapRoles,
  retireRole,
  changeAddress,
  settle,
  settle,
  shuffle,
  shuffle,
];

/** Somebody new joins several teams; half of them as the bots of their own. */
function hire(organisation: Organisation): void {
  const person = newPerson(organisation);
  organisation.people.push(person);
  for (let count = 0; count < 1 + organisation.random(12); count += 1)
    join(organisation, pick(organisation, organisation.teams), person);
}

/** Somebody leaves every team. */
function leave(organisation: Organisation): void {
  const gone = somebody(organisation);
  for (const team of organisation.teams) team.members = team.members.filter(({ person }) => person !== gone);
}

/** Half of a team moves to a new one, which is a role of the old one's. */
function split(organisation: Organisation): void {
  const team = pick(organisation, organisation.teams);
  const fresh = newTeam(organisation, `${team.path}/${pick(organisation, WORDS)}`);
  const moved = team.members.filter((_, at) => at % 2 === 1);
  team.members = team.members.filter((_, at) => at % 2 === 0);
  for (const { person } of moved) join(organisation, fresh, person);
  addRole(organisation, team, fresh.path);
}

/** All members of a team move to another one. */
function merge(organisation: Organisation): void {
  const from = pick(organisation, organisation.teams);
  const into = pick(organisation, organisation.teams);
  if (from === into) return;
  for (const { person } of from.members) join(organisation, into, person);
  from.members = [];
}

/** A team and all below it get another path, and so do the roles that are named after them. */
function rename(organisation: Organisation): void {
  const { path: old } = pick(organisation, organisation.teams);
  const parent = old.split("/").slice(0, -1);
  const now = [...parent, `${pick(organisation, WORDS)}${organisation.random(2) === 0 ? " 2" : ""}`].join(
    "/",
  );
  const renamed = (path: string): string =>
    path === old || path.startsWith(`${old}/`) ? now + path.slice(old.length) : path;
  for (const team of organisation.teams) {
    team.path = renamed(team.path);
    for (const role of team.roles) role.name = freeName(team, renamed(role.name), role);
  }
}

/** A role of that name gets or loses a permission, and maybe another description, in every team. */
function changePolicy({ random, teams }: Organisation): void {
  const name = ROLES[random(ROLES.length)]?.[0];
  const permission = PERMISSIONS[random(PERMISSIONS.length)] ?? "";
  const isNew = random(2) === 0;
  const description = random(3) === 0 ? `What a ${name} may do: see the handbook, §${random(9)} #2` : null;
  for (const role of teams.flatMap(({ roles }) => roles.filter((one) => one.name === name))) {
    role.permissions = role.permissions.filter((one) => one !== permission);
    if (isNew) role.permissions.push(permission);
    if (description !== null) role.description = description;
  }
}

/** A role is created anew, so that it has the same name, its holders and another id. */
function replaceRole(organisation: Organisation): void {
  const team = pick(organisation, organisation.teams);
  const role = team.roles[organisation.random(team.roles.length)];
  if (role === undefined) return;
  const old = role.id;
  role.id = newId(organisation, "role");
  for (const member of team.members) member.roles = member.roles.map((id) => (id === old ? role.id : id));
}

/** Two roles exchange their names. */
function swapRoles(organisation: Organisation): void {
  const [one, other] = pick(organisation, organisation.teams).roles;
  if (one === undefined || other === undefined) return;
  [one.name, other.name] = [other.name, one.name];
}

/** A role of a team is removed. */
function retireRole(organisation: Organisation): void {
  const team = pick(organisation, organisation.teams);
  const [gone] = team.roles.splice(organisation.random(team.roles.length), 1);
  for (const member of team.members) member.roles = member.roles.filter((id) => id !== gone?.id);
}

/** Somebody gets another address, sometimes the same in other case, in every team. */
function changeAddress(organisation: Organisation): void {
  const person = somebody(organisation);
  if (organisation.random(3) === 0) person.email = person.email.toUpperCase();
  else person.email = newEmail(organisation);
}

/** Invitations are accepted or expire, and members are disabled and enabled. */
function settle({ random, teams }: Organisation): void {
  const next: Readonly<Record<MemberStatus, readonly MemberStatus[]>> = {
    pending: ["accepted", "accepted", "expired"],
    expired: ["pending", "expired"],
    accepted: ["accepted", "accepted", "accepted", "accepted", "accepted", "accepted", "disabled"],
    disabled: ["accepted", "disabled"],
    unknown: ["accepted"],
  };
  for (const team of teams.filter(() => random(4) === 0)) {
    for (const member of team.members) {
      const choices = next[member.status];
      member.status = choices[random(choices.length)] ?? member.status;
    }
  }
}

/** Some members of a team get other roles or metadata. */
function shuffle(organisation: Organisation): void {
  const team = pick(organisation, organisation.teams);
  for (const member of team.members.filter(() => organisation.random(3) === 0)) {
    member.roles = rolesFor(organisation, team);
    member.metadata = metadataOf(organisation);
  }
}

function join(organisation: Organisation, team: Team, person: Person): void {
  const { random } = organisation;
  // Now and then a service holds somebody twice.
  if (team.members.some((member) => member.person === person) && random(40) > 0) return;
  const isUser = person.type === "user";
  const status =
    isUser && random(6) === 0 ? (["pending", "expired", "disabled"] as const)[random(3)] : undefined;
  team.members.push({
    id: newId(organisation, "mem"),
    person,
    roles: rolesFor(organisation, team),
    status: status ?? "accepted",
    metadata: metadataOf(organisation),
  });
}

function rolesFor(organisation: Organisation, { roles }: Team): string[] {
  const { random } = organisation;
  const custom = roles.filter(() => random(4) === 0).map(({ id }) => id);
  return random(5) === 0 ? [...custom, pick(organisation, PREDEFINED).id] : custom;
}

function metadataOf({ random }: Organisation): Metadata {
  if (random(4) > 0) return {};
  return {
    cost_centre: `0${random(90)}`,
    ...(random(2) === 0 && { manager: { level: random(4), acting: true } }),
  };
}

function newTeam(organisation: Organisation, path: string): Team {
  const { random, teams } = organisation;
  const team: Team = { merchant: `TEAM-${teams.length}`, path, roles: [], members: [] };
  for (const [name, count] of ROLES) if (random(12) > 0) addRole(organisation, team, name, count);
  for (const { path: other } of teams) {
    if (path.startsWith(`${other}/`) || random(25) === 0) addRole(organisation, team, other);
  }
  teams.push(team);
  return team;
}

function addRole(organisation: Organisation, team: Team, name: string, permissions?: number): void {
  const { random } = organisation;
  const count = permissions ?? random(6);
  team.roles.push({
    id: newId(organisation, "role"),
    name: freeName(team, name),
    description: random(permissions === undefined ? 3 : 20) === 0 ? `Access of ${name}` : undefined,
    // Most teams have what a template says.
    permissions: PERMISSIONS.filter((_, at) => (at % 2 === 0) !== (random(5) === 0 && random(9) === 0)).slice(
      0,
      count,
    ),
    metadata: random(25) === 0 ? { owner: name } : {},
  });
}

/** Returns a name that no other role of the team has; a few times in a hundred it stays a twin. */
function freeName({ roles }: Team, name: string, self?: Role): string {
  const isTaken = (text: string): boolean => roles.some((role) => role !== self && role.name === text);
  if (!isTaken(name) || name.length % 13 === 0) return name;
  let nth = 2;
  while (isTaken(`${name} (${nth})`)) nth += 1;
  return `${name} (${nth})`;
}

function newPerson(organisation: Organisation): Person {
  const { random } = organisation;
  const id = newId(organisation, "user");
  const type = ["service_account", "system_account", "managed_user", "managed_user"][random(24)] ?? "user";
  const email = newEmail(organisation, type === "service_account" ? "bot" : undefined);
  const mfaOnLogin = [true, false, null][random(3)] ?? null;
  return { id, email, type, mfaOnLogin, ...(type === "managed_user" && { nickname: `Runner ${random(9)}` }) };
}

function newEmail(organisation: Organisation, given = pick(organisation, GIVEN)): string {
  const { random } = organisation;
  // `ü` may not be in an address that a file holds.
  const plain = random(200) === 0 ? given : given.replace("ü", "ue");
  const tag = random(12) === 0 ? "+oncall" : "";
  return `${plain}.${pick(organisation, FAMILY)}${random(400)}${tag}@example.com`;
}

/** Picks a person; the first ones far more often, so that they are in dozens of teams. */
function somebody({ random, people }: Organisation): Person {
  const person =
    people[Math.floor(people.length / (1 + random(people.length)))] ?? people[random(people.length)];
  const anyone = random(3) > 0 ? people[random(people.length)] : person;
  if (anyone === undefined) throw new Error("There is nobody.");
  return anyone;
}

function pick<T>({ random }: Organisation, list: readonly T[]): T {
  const one = list[random(list.length)];
  if (one === undefined) throw new Error("There is nothing to pick from.");
  return one;
}

function newId(organisation: Organisation, kind: string): string {
  organisation.ids += 1;
  return `${kind}_${organisation.ids.toString(36).padStart(5, "0")}`;
}

function statesOf({ teams }: Organisation): readonly LiveState[] {
  return teams.map(({ merchant, roles, members }) => ({
    merchant,
    roles: [...roles.map(liveRoleOf), ...PREDEFINED],
    members: members.map(liveMemberOf),
    callerId: null,
  }));
}

function liveRoleOf({ id, name, description, permissions, metadata }: Role): LiveRole {
  return liveRole(id, name, {
    permissions: [...permissions],
    metadata,
    ...(description !== undefined && { description }),
  });
}

function liveMemberOf({ id, person, roles, status, metadata }: Membership): LiveMember {
  const { email, type, nickname, mfaOnLogin } = person;
  const isInvited = status === "pending" || status === "expired";
  const { user: _, ...base } = liveMember(id, email, { roles: [...roles], status, metadata });
  const expiresAt = status === "expired" ? "2026-05-01T00:00:00.000Z" : "2026-07-01T00:00:00.000Z";
  return isInvited
    ? { ...base, invite: { email, expiresAt } }
    : {
        ...base,
        user: { id: person.id, email, mfaOnLogin, type, ...(nickname !== undefined && { nickname }) },
      };
}

/** Returns a pseudo-random number generator. */
function randomOf(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}
