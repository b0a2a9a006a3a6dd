import fc from "fast-check";
import { expect, test } from "vitest";
import { globMatcher } from "../../../src/app/session/session.ts";
import { placeFinder } from "../../../src/app/show/find-places.ts";
import { declaredSnapshot, liveSnapshot } from "../../../src/ask/access/access-snapshot.ts";
import { explainAccess, whoCan, whoHas, whoIs } from "../../../src/ask/access/ask-access.ts";
import { ignoredPatterns } from "../../../src/ask/access/ignored-access.ts";
import { declaredReport, liveReport } from "../../../src/ask/report/build-access-report.ts";
import { adoptNew, newFileText } from "../../../src/edit/adopt/new-file-text.ts";
import { parseMerchantFile } from "../../../src/index.ts";
import { addressOf, isServiceAccount, matchesAny } from "../../../src/kernel/diff/scope.ts";
import { loadMerchants } from "../../../src/kernel/read/load-merchants.ts";
import { judgeDeclared } from "../../../src/kernel/rules/judge-rules.ts";
import type { AccessAnswers } from "../../../src/model/questions.ts";
import {
  type AccessProject,
  accessProjects,
  type Fact,
  PEOPLE,
  PERMISSIONS,
  writeProject,
} from "../../support/access-project.ts";
import { desiredStates, liveStates } from "../../support/arbitrary.ts";
import { NOW } from "../../support/build.ts";
import { runs } from "../../support/property-runs.ts";
import { wildStates } from "../../support/wild-states.ts";

const matches = globMatcher();

async function load(project: AccessProject) {
  const { files, facts } = writeProject(project);
  return { facts, ...(await loadFiles(files)) };
}

async function loadFiles(files: Readonly<Record<string, string>>) {
  const read = async (path: string, from: string | null) => {
    const file = from === null ? path : path.replace("../", "");
    const text = files[file];
    if (text === undefined) throw new Error(`no ${file}`);
    return { ok: true as const, file, text };
  };
  const names = Object.keys(files).filter((file) => file.startsWith("access/"));
  const { merchants, sources, diagnostics } = await loadMerchants(names, read, {
    now: NOW,
    judge: judgeDeclared,
  });
  expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
  const states = merchants.flatMap(({ state }) => state ?? []);
  return {
    states,
    snapshots: states.map((state) => declaredSnapshot(state, NOW)),
    places: placeFinder(sources),
  };
}

/** A grant has ended at the end of its day, in UTC. */
const hasEnded = ({ until }: Fact): boolean => until !== null && until < "2026-06-15";

const keyOf = ({ merchant, email, role }: Fact): string => `${merchant} ${email.toLowerCase()} ${role}`;

/** What a person would answer from the lines: one answer for each role of somebody at a merchant. */
function answersFrom(facts: readonly Fact[]): readonly string[] {
  return [...new Set(facts.map(keyOf))].map((key) => {
    const same = facts.filter((fact) => keyOf(fact) === key);
    const [first] = same;
    const status = first?.until == null ? "active" : hasEnded(first) ? "ended" : "ends";
    const places = same
      .map(({ place }) => place)
      .sort()
      .join(" ");
    return `${key} ${status} ${first?.until} ${places}`;
  });
}

function shown({ answers }: AccessAnswers, places: ReturnType<typeof placeFinder>): readonly string[] {
  return answers.map(({ merchant, member, role, held }) => {
    const lines = (held?.origins ?? []).flatMap((origin) => places.entry(origin) ?? []);
    const at = lines
      .map(({ file, line }) => `${file}:${line}`)
      .sort()
      .join(" ");
    return `${merchant} ${member.name.toLowerCase()} ${role?.name} ${held?.status} ${held?.end?.text ?? null} ${at}`;
  });
}

const sorted = (lines: readonly string[]): readonly string[] => [...lines].sort();

test("the files are answered from as by somebody who reads every line", async () => {
  await fc.assert(
    fc.asyncProperty(accessProjects, async (project) => {
      const { facts, snapshots, places } = await load(project);
      for (const permission of PERMISSIONS) {
        const expected = facts.filter(({ permissions }) => permissions?.includes(permission));
        const found = whoCan(snapshots, permission, matches);
        expect(sorted(shown(found, places))).toEqual(sorted(answersFrom(expected)));
        const unclear = facts.filter((fact) => fact.permissions === null && !hasEnded(fact));
        const unknown = found.unknown.flatMap(({ merchant, role, members }) =>
          members.map((member) => `${merchant} ${member.toLowerCase()} ${role}`),
        );
        expect(sorted(unknown)).toEqual(sorted([...new Set(unclear.map(keyOf))]));
      }
      const glob = whoCan(snapshots, "payouts_*", matches);
      const payouts = facts.filter(({ permissions }) =>
        permissions?.some((one) => one.startsWith("payouts_")),
      );
      expect(sorted(shown(glob, places))).toEqual(sorted(answersFrom(payouts)));
      for (const [asked, name] of [
        ["Shared", "Shared"],
        ["role_shared1", "Shared"],
        ["Common", "Shared"],
        ["Till", "Cashier"],
        ["shift*", "Shift Lead"],
        ["role_employee", "role_employee"],
      ] as const) {
        const expected = facts.filter(({ role }) => role === name);
        expect(sorted(shown(whoHas(snapshots, asked, matches), places))).toEqual(
          sorted(answersFrom(expected)),
        );
      }
      for (const email of PEOPLE) {
        const expected = facts.filter((fact) => fact.email === email);
        const found = whoIs(snapshots, email.toUpperCase(), matches);
        expect(sorted(shown(found, places))).toEqual(sorted(answersFrom(expected)));
      }
    }),
    { numRuns: runs(60) },
  );
});

test("a permission is found where it is written", async () => {
  await fc.assert(
    fc.asyncProperty(accessProjects, fc.constantFrom(...PERMISSIONS), async (project, permission) => {
      const { snapshots, places } = await load(project);
      const { files } = writeProject(project);
      for (const { role } of whoCan(snapshots, permission, matches).answers) {
        const [place, ...others] = role === null ? [] : places.permission(role, permission);
        expect(others).toEqual([]);
        const line = files[place?.file ?? ""]?.split("\n")[(place?.line ?? 0) - 1] ?? "";
        expect(line.slice((place?.column ?? 0) - 1)).toMatch(new RegExp(`^${permission}\\b`));
      }
    }),
    { numRuns: runs(60) },
  );
});

/** Who can do what, as the page of a report shows it. */
function reported(
  { roles, members }: ReturnType<typeof declaredReport>,
  permission: string,
): readonly string[] {
  return members.flatMap(({ name, after }) =>
    after !== null &&
    !["expired", "disabled"].includes(after.status) &&
    roles.some((role) => after.roles.includes(role.key) && role.after?.permissions?.includes(permission))
      ? name
      : [],
  );
}

const holders = ({ answers }: AccessAnswers): readonly string[] =>
  sorted([...new Set(answers.flatMap(({ member, held }) => (held?.effective ? member.name : [])))]);

test("a report says the same of the files and of what is live", () => {
  fc.assert(
    fc.property(desiredStates, liveStates, (want, is) => {
      for (const permission of PERMISSIONS) {
        const declared = whoCan([declaredSnapshot(want, NOW)], permission, matches);
        expect(holders(declared)).toEqual(sorted(reported(declaredReport(want, NOW), permission)));
        const live = whoCan([liveSnapshot(is, want, null)], permission, matches);
        const report = liveReport({ live: is, desired: want, service: "", environment: null, plan: null });
        expect(holders(live)).toEqual(sorted([...new Set(reported(report, permission))]));
      }
    }),
  );
});

test("what is live is answered from as by somebody who reads every member", () => {
  fc.assert(
    fc.property(desiredStates, liveStates, (want, is) => {
      const found = whoCan([liveSnapshot(is, want, null)], "refunds_create", matches);
      const granting = is.roles.filter(({ permissions }) => permissions.includes("refunds_create"));
      const expected = is.members.flatMap(({ id, user, invite, roles, status }) =>
        granting.flatMap((role) =>
          roles.includes(role.id) ? `${user?.email ?? invite?.email ?? id} ${role.name} ${status}` : [],
        ),
      );
      expect(
        sorted(found.answers.map(({ member, role, held }) => `${member.name} ${role?.name} ${held?.status}`)),
      ).toEqual(sorted(expected));
    }),
  );
});

test("after init, the files name everybody who holds what is live, or what they ignore", () => {
  const counts = { named: 0, ignored: 0 };
  fc.assert(
    fc.property(wildStates, (is) => {
      const text = newFileText(adoptNew(is, NOW), { merchant: "MC1", environment: "test" });
      const { state } = parseMerchantFile("access/mc1.yaml", text, { now: NOW });
      if (state === null) throw new Error(text);
      const [ignored] = ignoredPatterns([state]);
      const isIgnored = (list: "roles" | "members", id: string): boolean =>
        matchesAny(ignored?.[list] ?? [], [id], matches);
      const notListed = new Set(
        is.members.filter((member) => addressOf(member) === null || isServiceAccount(member) !== false),
      );
      for (const permission of new Set(is.roles.flatMap(({ permissions }) => permissions))) {
        const declared = whoCan([declaredSnapshot(state, NOW)], permission, matches);
        const unknown = new Set(declared.unknown.flatMap(({ members }) => members));
        const named = new Set([...declared.answers.map(({ member }) => member.name), ...unknown].map(lower));
        for (const member of is.members) {
          const granting = is.roles.filter(
            ({ id, permissions }) => member.roles.includes(id) && permissions.includes(permission),
          );
          if (granting.length === 0 || notListed.has(member)) continue;
          if (named.has(lower(addressOf(member) ?? ""))) counts.named += 1;
          else {
            counts.ignored += 1;
            const isSaid =
              isIgnored("members", member.id) || granting.every(({ id }) => isIgnored("roles", id));
            expect(isSaid, `${permission} ${member.id}\n${text}`).toBe(true);
          }
        }
      }
    }),
    { numRuns: runs(60) },
  );
  expect(Math.min(...Object.values(counts))).toBeGreaterThan(0);
});

const lower = (text: string): string => text.toLowerCase();

/** Takes lines out of files, and the key of a list of which nothing is left. */
function withoutLines(
  files: Readonly<Record<string, string>>,
  places: readonly string[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(files).map(([file, text]) => {
      const lines = text.split("\n").filter((_, index) => !places.includes(`${file}:${index + 1}`));
      return [file, lines.join("\n").replaceAll(/^ {4}roles:\n(?! {6}- )/gm, "")];
    }),
  );
}

test("why names every line that has to go: without them it ends, with any of them it does not", async () => {
  await fc.assert(
    fc.asyncProperty(
      accessProjects,
      fc.constantFrom(...PEOPLE),
      fc.constantFrom(...PERMISSIONS),
      async (project, member, permission) => {
        const { facts, snapshots, places } = await load(project);
        const { files } = writeProject(project);
        const { explanations } = explainAccess(snapshots, { member, permission }, matches);
        const here = new Set(facts.filter(({ email }) => email === member).map(({ merchant }) => merchant));
        expect(sorted(explanations.map(({ merchant }) => merchant))).toEqual(sorted([...here]));
        for (const { merchant, ways } of explanations) {
          const granting = facts.filter(
            (fact) =>
              fact.merchant === merchant &&
              fact.email === member &&
              fact.permissions?.includes(permission) &&
              !hasEnded(fact),
          );
          const lines = ways.flatMap(({ held }) =>
            held.origins.map((origin) => {
              const at = places.entry(origin);
              return `${at?.file}:${at?.line}`;
            }),
          );
          expect(sorted(lines)).toEqual(sorted(granting.map(({ place }) => place)));
          const canWithout = async (some: readonly string[]): Promise<boolean> => {
            const rest = (await loadFiles(withoutLines(files, some))).snapshots;
            return explainAccess(rest, { member, permission }, matches).explanations.some(
              (one) => one.merchant === merchant && one.ways.length > 0,
            );
          };
          expect(await canWithout(lines)).toBe(false);
          for (const line of lines) expect(await canWithout(lines.filter((one) => one !== line))).toBe(true);
        }
      },
    ),
    { numRuns: runs(60) },
  );
});
