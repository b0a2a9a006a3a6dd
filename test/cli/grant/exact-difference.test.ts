import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { loadStates } from "../../../src/app/project/load-states.ts";
import { activeAt } from "../../../src/kernel/diff/active-member.ts";
import { renamedRoles } from "../../../src/kernel/schema/raw-file.ts";
import type { DesiredMember, DesiredState } from "../../../src/model/desired.ts";
import type { LiveState } from "../../../src/model/live.ts";
import { accessProjects, PEOPLE, writeProject } from "../../support/access-project.ts";
import { live, liveMember, liveRole, NOW, planOf } from "../../support/build.ts";
import { runs } from "../../support/property-runs.ts";
import { rolecall } from "../../support/rolecall.ts";

const DAY = 24 * 3_600_000;
const CODES = ["MCA", "MCB", "MCC"] as const;
const ROLES = ["Cashier", "Till", "Shift Lead", "role_lead1", "Shared", "Common", "role_employee"] as const;
const MARKS = [
  "",
  "",
  "",
  "suspended: true",
  "suspended: { until: 2026-06-20 }",
  "from: 2026-06-18",
  "previously: old@example.com",
];
/** Moments at which the access is compared: now, and around every date that the files or requests may have. */
const MOMENTS = [0, 2, 4, 6, 7.6, 9, 15, 40, 90, 300].map((days) => NOW + days * DAY);

const someOf = <T>(values: readonly T[]) =>
  fc.option(fc.constantFrom(...values), { nil: undefined, freq: 2 });

const requests = fc.record({
  kind: fc.constantFrom<("grant" | "revoke")[]>("grant", "revoke"),
  email: fc.constantFrom(...PEOPLE, ...PEOPLE, "NEW@example.com", "old@example.com"),
  roles: fc.subarray([...ROLES], { maxLength: 3 }),
  codes: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...CODES).map((code) => [code]) },
    { weight: 1, arbitrary: fc.subarray([...CODES], { minLength: 1 }) },
  ),
  until: someOf(["2026-06-17", "+7d", "+2w", "2026-09-01", "2027-02-28"]),
  from: someOf(["2026-06-19", "2026-06-22"]),
  reason: someOf(["stands in", "a: b # c", "sk_live_1234567890123456 | é\u202e"]),
  file: fc.constantFrom(undefined, "own", "own", "shared/all.yaml"),
});

const rules = fc.option(
  fc.array(
    fc.record(
      {
        roles: fc.subarray(["Cashier", "Shared", "Shift*", "role_*", "*"], { minLength: 1 }),
        merchants: fc.subarray([...CODES]),
        members: fc.subarray([...PEOPLE, "new@EXAMPLE.com"]),
        for: fc.constantFrom("3d", "7d", "100d", "48h"),
      },
      { requiredKeys: ["roles"] },
    ),
    { maxLength: 3 },
  ),
  { freq: 2 },
);

const worlds = fc.record({
  project: accessProjects,
  marks: fc.array(fc.constantFrom(...MARKS), { minLength: 7, maxLength: 7 }),
  additive: fc.boolean(),
  request: requests,
  rules,
});

const counts = { grant: 0, revoke: 0, shared: 0, refused: 0, limited: 0 };

test("grant and revoke change what was asked for, at every moment, and only what may be requested", async () => {
  await fc.assert(
    fc.asyncProperty(worlds, async (world) => {
      const folder = await mkdtemp(join(tmpdir(), "rolecall-grant-"));
      try {
        await checkWorld(world, folder);
      } finally {
        await rm(folder, { recursive: true });
      }
    }),
    { numRuns: runs(70) },
  );
  for (const number of Object.values(counts)) expect(number, JSON.stringify(counts)).toBeGreaterThan(0);
}, 3_600_000);

type World = typeof worlds extends fc.Arbitrary<infer Value> ? Value : never;

async function checkWorld(world: World, folder: string): Promise<void> {
  const { request, rules: allowed } = world;
  const files = filesOf(world);
  await writeFiles(folder, files);
  const before = await statesIn(folder);
  // Two files may not say different things of one person.
  if (before.size < CODES.length) return;
  const { code, stderr } = await rolecall(argumentsOf(request), { cwd: folder, now: () => NOW });
  const written = await readFiles(folder, Object.keys(files));
  const isChanged = Object.entries(files).some(([file, text]) => written[file] !== text);
  if (code !== 0) {
    expect([1, 3]).toContain(code);
    expect(stderr).not.toMatch(/bug in rolecall|cannot be edited/);
    // Another merchant's own file may contradict the shared one.
    if (request.file !== SHARED) expect(stderr).not.toContain("would have the errors");
    expect(isChanged).toBe(false);
    counts[code === 3 ? "limited" : "refused"] += 1;
    return;
  }
  const after = await statesIn(folder);
  const isShared = written[SHARED] !== files[SHARED];
  if (isChanged) counts[request.kind] += 1;
  if (isShared) counts.shared += 1;
  for (const state of before.values()) {
    const now = after.get(state.merchant);
    if (now === undefined) throw new Error(`${state.merchant} is gone`);
    const differs = checkMerchant(state, now, requestAt(state, request, isShared));
    if (differs && allowed !== null) expect(mayRequest(allowed, request, state)).toBe(true);
  }
  for (const text of Object.values(written)) expect(text).not.toContain("1234567890123456");
  if (request.kind === "revoke") return;
  // There is nothing to do a second time.
  expect((await rolecall(argumentsOf(request), { cwd: folder, now: () => NOW })).code).toBe(0);
  expect(await readFiles(folder, Object.keys(files))).toEqual(written);
}

/** Returns the request if it is about a merchant, or `"shared"` if only through the file that is shared. */
function requestAt(
  { merchant, included }: DesiredState,
  request: Request,
  isShared: boolean,
): Request | "shared" | null {
  if (request.codes.some((code) => code === merchant)) return request;
  if (!isShared || included === undefined) return null;
  // The merchant's own file may grant the same.
  return request.kind === "revoke" ? "shared" : request;
}

/** Compares the access at a merchant with the one that a request asks for, and the plan with the difference. */
function checkMerchant(
  before: DesiredState,
  after: DesiredState,
  request: Request | "shared" | null,
): boolean {
  if (request === "shared") {
    for (const line of accessAt(after, NOW)) expect(accessAt(before, NOW)).toContain(line);
    return false;
  }
  for (const moment of MOMENTS) {
    const wanted = request === null ? accessAt(before, moment) : wantedAt(before, request, moment);
    expect([...accessAt(after, moment)].sort()).toEqual([...wanted].sort());
  }
  const plan = planOf(after, liveOf(before), NOW);
  const wasMember = membersAt(before, null);
  // Nobody is invited during a suspension.
  const isMember = membersAt(after, wasMember);
  const [was, is] = [
    [...accessAt(before, NOW), ...wasMember],
    [...accessAt(after, NOW), ...isMember],
  ].map((lines) => JSON.stringify(lines.sort()));
  expect(plan.findings.filter(({ severity }) => severity === "error")).toEqual([]);
  expect(plan.changes.length).toBe(was === is ? 0 : 1);
  return was !== is;
}

const SHARED = "shared/all.yaml";

function filesOf({ project, marks, additive, rules: allowed }: World): Readonly<Record<string, string>> {
  const written = Object.entries(writeProject(project).files).map(([file, text]) => {
    const sync = additive && file !== SHARED ? "sync: { members: additive }\n" : "";
    return [file, marked(text, marks).replace(/^roles:/m, `${sync}roles:`)] as const;
  });
  const rolecall =
    allowed === null ? {} : { "rolecall.yaml": JSON.stringify({ version: 1, requestable: allowed }) };
  return { ...Object.fromEntries(written), ...rolecall };
}

async function statesIn(folder: string): Promise<ReadonlyMap<string, DesiredState>> {
  const { all: states } = await loadStates([], { merchants: [], cwd: folder, now: NOW });
  return new Map(states.map((state) => [state.merchant, state]));
}

type Request = World["request"];

function argumentsOf({ kind, email, roles, codes, until, from, reason, file }: Request): readonly string[] {
  const own = `access/${codes[0]?.toLowerCase()}.yaml`;
  return [
    kind,
    email,
    ...(kind === "grant" && roles.length === 0 ? ["Cashier"] : roles),
    ...codes.flatMap((code) => ["-m", code]),
    ...(until !== undefined && kind === "grant" ? ["--until", until] : []),
    ...(from !== undefined && kind === "grant" ? ["--from", from] : []),
    ...(reason === undefined ? [] : ["--reason", reason]),
    ...(file === undefined ? [] : ["--file", file === "own" ? own : file]),
    "--declared",
    "--yes",
  ];
}

/** Returns who holds what at a moment, as "ada@example.com Cashier". */
function accessAt({ members = [], roles = [] }: DesiredState, moment: number): ReadonlySet<string> {
  const nameOf = (role: string): string => roles.find(({ id }) => id === role)?.name ?? role;
  return new Set(
    members.flatMap((member) => {
      const active = activeAt(member, moment);
      if (active.absent !== null) return [];
      return (active.member.roles ?? []).map(({ role }) => `${member.email.toLowerCase()} ${nameOf(role)}`);
    }),
  );
}

/** Returns who is a member now, also without roles; of those who are suspended only former ones. */
function membersAt({ members = [] }: DesiredState, former: readonly string[] | null): readonly string[] {
  return members.flatMap((member) => {
    const { absent, suspended } = activeAt(member, NOW);
    return absent === null && (!suspended || former === null || former.includes(member.email))
      ? member.email
      : [];
  });
}

/** Returns who is to hold what, from what they held before. */
function wantedAt(state: DesiredState, request: Request, moment: number): ReadonlySet<string> {
  const held = accessAt(state, moment);
  const person = state.members?.find((one) => addressesOf(one).includes(request.email.toLowerCase()));
  const email = (person?.email ?? request.email).toLowerCase();
  const roles = currentRoles(state, request);
  if (request.kind === "revoke")
    return new Set(
      [...held].filter(
        (line) =>
          !(roles.length === 0 ? [...held] : roles.map((role) => `${email} ${role}`)).includes(line) ||
          !line.startsWith(`${email} `),
      ),
    );
  const end = endOf(request.until);
  const start = request.from === undefined ? NOW : Date.parse(request.from);
  // A merchant that merely includes the shared file takes its former member back if that file had the end.
  const isAsked = request.codes.some((code) => code === state.merchant);
  const ended = person?.setAt?.until ?? person?.origin;
  const isOver =
    (isAsked || ended?.file === SHARED) && person?.until !== undefined && person.until.ends <= NOW;
  const isWithin =
    isOver ||
    ((person?.from?.starts ?? 0) <= moment && (person?.until?.ends ?? Number.POSITIVE_INFINITY) > moment);
  const isAway =
    person !== undefined &&
    person.suspended !== undefined &&
    activeAt({ ...person, until: undefined, roles: undefined } as unknown as DesiredMember, moment).suspended;
  if (moment < start || moment >= end || !isWithin || isAway) return held;
  return new Set([...held, ...roles.map((role) => `${email} ${role}`)]);
}

function endOf(until: string | undefined): number {
  if (until === undefined) return Number.POSITIVE_INFINITY;
  if (until.startsWith("+")) return Math.floor((NOW + (until === "+7d" ? 7 : 14) * DAY) / DAY) * DAY + DAY;
  return Date.parse(until) + DAY;
}

function addressesOf({ email, previously = [] }: DesiredMember): readonly string[] {
  return [email, ...previously].map((address) => address.toLowerCase());
}

function currentRoles({ roles = [] }: DesiredState, request: Request): readonly string[] {
  const renamed = renamedRoles(roles);
  const asked = request.kind === "grant" && request.roles.length === 0 ? ["Cashier"] : request.roles;
  return asked.map((role) => roles.find(({ id }) => id === role)?.name ?? renamed.get(role) ?? role);
}

/** The live state whose plan has no changes. */
function liveOf(state: DesiredState): LiveState {
  const declared = (state.roles ?? []).map(({ name, id, permissions = [] }, index) =>
    liveRole(id ?? `role_x${index}`, name, { permissions }),
  );
  const idOf = (role: string): string => declared.find(({ name }) => name === role)?.id ?? role;
  const members = (state.members ?? []).flatMap((member, index) => {
    const active = activeAt(member, NOW);
    if (active.absent !== null) return [];
    const roles = (active.member.roles ?? []).map(({ role }) => idOf(role));
    return [liveMember(`mem_${index}`, member.email, { roles })];
  });
  const employee = liveRole("role_employee", "Employee", { predefined: true });
  return { ...live([...declared, employee], members), merchant: state.merchant };
}

/** Returns whether one of the rules allows each role, by a second reading of what the page says. */
function mayRequest(allowed: NonNullable<World["rules"]>, request: Request, state: DesiredState): boolean {
  const fits = (list: readonly string[] | undefined, texts: readonly string[]): boolean =>
    list === undefined ||
    list.some((glob) =>
      texts.some((text) =>
        glob.endsWith("*")
          ? text.toLowerCase().startsWith(glob.slice(0, -1).toLowerCase())
          : text.toLowerCase() === glob.toLowerCase(),
      ),
    );
  const ids = new Map((state.roles ?? []).map(({ name, id }) => [name, id]));
  const was = accessAt(state, NOW);
  const roles = currentRoles(state, request).filter(
    (role) =>
      (request.kind === "grant") !==
      [...was].some((line) => line === `${request.email.toLowerCase()} ${role}`),
  );
  return roles.every((role) =>
    allowed.some(
      (rule) =>
        fits(rule.roles, [role, ids.get(role) ?? role]) &&
        fits(rule.merchants, [state.merchant]) &&
        fits(rule.members, [request.email]) &&
        (request.kind === "revoke" || rule.for === undefined || isShort(rule.for, request)),
    ),
  );
}

function isShort(limit: string, { from, until }: Request): boolean {
  const start = from === undefined ? NOW : Date.parse(from);
  if (until === undefined) return false;
  if (limit === "48h") return endOf(until) - start <= 2 * DAY;
  return endOf(until) - DAY - start <= Number.parseInt(limit, 10) * DAY;
}

/** Adds a line to each member. */
function marked(text: string, marks: readonly string[]): string {
  let previous = false;
  return text.replaceAll(/^ {2}- email: (.*)\n/gm, (line, email: string) => {
    const mark = marks[email.length % marks.length] ?? "";
    if (mark === "" || (mark.startsWith("previously") && previous)) return line;
    previous ||= mark.startsWith("previously");
    return `${line}    ${mark}\n`;
  });
}

async function writeFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text);
  }
}

async function readFiles(
  folder: string,
  names: readonly string[],
): Promise<Readonly<Record<string, string>>> {
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), "utf8")));
  return Object.fromEntries(names.map((name, index) => [name, texts[index] ?? ""]));
}
