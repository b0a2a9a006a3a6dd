import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Child, type Ended, here, plannedBy, run, type Setting, start } from "./apply.ts";
import { heldNoMore } from "./held.ts";
import { duplicatesIn, invitedTwice, outsideOf } from "./invariants.ts";
import { disagreements, type JournalText } from "./journals.ts";
import { type Crash, IGNORED, OWNER, type Scenario, type Shop, scenarioOf } from "./scenario.ts";
import { type Sent, type Service, startService } from "./service.ts";

/** What came of a scenario. */
export interface Report {
  readonly seed: number;
  /** What did not hold; empty where all is well. */
  readonly broken: readonly string[];
  readonly facts: Facts;
}

/** What has happened, for counting. */
export interface Facts {
  /** How the apply was cut short, where it was. */
  readonly cut: Crash["kind"];
  readonly racing: boolean;
  /** The exit codes of the applies that were disturbed; null where it was killed. */
  readonly codes: readonly (number | null)[];
  readonly requests: number;
  readonly writes: number;
  readonly faults: number;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly adopted: number;
  /** How many applies without faults it took until the plan was empty; null where a guard, or the file itself, stood in the way. */
  readonly recoveries: number | null;
}

const KEYS = { first: "sk_test_chaosfirst1", second: "sk_test_chaossecond", after: "sk_test_chaosafter_" };
const PASSWORD = "only-for-the-chaos";
const MOST_RECOVERIES = 4;

/** Runs the scenario of a seed and checks what must hold. */
export async function runScenario(seed: number): Promise<Report> {
  const scenario = scenarioOf(seed);
  const cwd = await mkdtemp(join(tmpdir(), "rolecall-chaos-"));
  const shops = shopsOf(scenario);
  const worlds = new Map(shops.map(({ merchant, world }) => [merchant, world]));
  const service = await startService(worlds, Object.values(KEYS), !scenario.isOtherAccount);
  try {
    return await runIn(cwd, service, scenario, seed);
  } finally {
    await service.close();
    await rm(cwd, { recursive: true, force: true });
  }
}

/** The scenario at one of its merchants. */
type AtMerchant = Scenario & { readonly merchant: string };

function shopsOf(scenario: Scenario): readonly AtMerchant[] {
  const shops: readonly Shop[] = [scenario, ...scenario.further];
  return shops.map(({ world, want }, index) => ({ ...scenario, world, want, merchant: `MC${index}CHAOS` }));
}

async function runIn(cwd: string, service: Service, scenario: Scenario, seed: number): Promise<Report> {
  await mkdir(join(cwd, "access"));
  const shops = shopsOf(scenario);
  for (const shop of shops) await writeFile(join(cwd, "access", `${shop.merchant}.yaml`), fileOf(shop));
  const standings = (): Promise<readonly Standing[]> =>
    Promise.all(shops.map(({ merchant }) => standing(service, merchant)));
  const setting = (key: string): Setting => ({ cwd, url: service.url, key, password: PASSWORD });
  const saw: Ended[] = [];
  const untouched = await standings();

  const always = [...scenario.habits, ...(scenario.replacingPut ? [{ kind: "replacing-put" }] : [])];
  await service.control("PUT", "/faults", { seed, rules: [...scenario.faults, ...always] });
  const keys = scenario.racing ? [KEYS.first, KEYS.second] : [KEYS.first];
  // Only what is to be killed, or to race, needs a process of its own.
  const alone = scenario.crash.kind === "none" && !scenario.racing;
  const children = keys.map((key) => (alone ? here : start)(applyArgs(scenario), setting(key)));
  const cut = watchFor(service, scenario.crash, children);
  const ended = await Promise.all(children.map((child) => child.ended));
  service.watch(null);
  await service.control("PUT", "/faults", { seed, rules: always });
  saw.push(...ended);

  const disturbed = await journalsIn(join(cwd, ".rolecall", "runs"));
  const between = await standings();
  const recovered = await recover(setting(KEYS.after), saw);
  const after = await standings();
  const sent = await service.requests();
  const journals = await journalsIn(join(cwd, ".rolecall", "runs"));
  const ofKey = (key: string): readonly Sent[] =>
    sent.filter((one) => one.key?.endsWith(key.slice(-4)) && !one.somebody_else);

  const brokenAt = (shop: AtMerchant, at: number): readonly string[] => {
    const [before, cutOff, end] = [untouched[at] ?? NOBODY, between[at] ?? NOBODY, after[at] ?? NOBODY];
    const isHere = ({ path }: Sent): boolean => path.includes(`/merchants/${shop.merchant}/`);
    const isOf = ({ file }: JournalText): boolean => file.includes(`-${shop.merchant}`);
    const everyone = sent.filter(isHere);
    const by = (key: string): readonly Sent[] => ofKey(key).filter(isHere);
    const later = journals.slice(disturbed.length);
    const undisturbed = isUndisturbed(shop, ended);
    return [
      ...ended.flatMap((one, index) => outsideOf(plannedBy(one, shop.merchant), by(keys[index] ?? ""))),
      ...(recovered.times === null || shop.racing
        ? []
        : heldNoMore(shop, end.list, undisturbed ? [] : everyone)),
      ...duplicates(end),
      ...(undisturbed ? lostMetadata(shop, before, cutOff) : []),
      ...lostMetadata(shop, cutOff, end),
      ...invitedTwice(everyone, before.members),
      ...touchedIgnored(everyone, before.members),
      ...[...keys, KEYS.after].flatMap((key) => changedOther(shop, ofKey(key), isHere)),
      ...lostAccess(shop, before, end),
      ...disagreements({ journals: disturbed.filter(isOf), sent: keys.flatMap(by), everyone }, shop),
      ...disagreements({ journals: later.filter(isOf), sent: by(KEYS.after), everyone }, shop),
    ].map((text) => `${shop.merchant}: ${text}`);
  };
  const broken = [
    ...ended.flatMap(badEnd),
    ...recovered.broken,
    ...shops.flatMap(brokenAt),
    ...secretsIn([
      ...journals.map(({ text }) => text),
      ...saw.flatMap(({ stdout, stderr }) => [stdout, stderr]),
    ]),
  ];
  const first = sent.filter(
    ({ somebody_else, key }) => !somebody_else && !key?.endsWith(KEYS.after.slice(-4)),
  );
  return {
    seed,
    broken,
    facts: {
      cut: cut() ? scenario.crash.kind : "none",
      racing: scenario.racing,
      codes: ended.map(({ code }) => code),
      requests: first.length,
      writes: first.filter(({ committed }) => committed).length,
      faults: first.filter(({ faults }) => faults.length > 0).length,
      ...outcomesIn(journals),
      recoveries: recovered.times,
    },
  };
}

function fileOf({ want, merchant, isOtherAccount }: AtMerchant): string {
  return JSON.stringify({
    version: 1,
    merchant,
    ...(isOtherAccount && { environment: "test" }),
    ignore: { members: ["*@auditor.example"] },
    guards: { max_removals: "100%", protect: { members: [OWNER] } },
    ...want,
  });
}

function applyArgs({ recheck, concurrency }: Scenario): readonly string[] {
  return [
    "apply",
    "--yes",
    "--format",
    "json",
    "--retry-for",
    "10s",
    "--concurrency",
    `${concurrency}`,
    ...(recheck ? [] : ["--no-recheck"]),
  ];
}

/** Cuts the first apply short when its moment has come; tells whether it came. */
function watchFor(
  service: Service,
  { kind, request, when }: Crash,
  [child]: readonly Child[],
): () => boolean {
  let struck = false;
  const strike = async (number: number, now: Crash["when"]): Promise<void> => {
    if (kind === "none" || child === undefined || number !== request || now !== when) return;
    struck = true;
    await child.signal(kind);
  };
  service.watch({
    before: (number) => strike(number, "before"),
    after: (number) => strike(number, "after"),
  });
  return () => struck;
}

/** Runs apply, undisturbed, until nothing is left to do. */
async function recover(
  setting: Setting,
  saw: Ended[],
): Promise<{ readonly times: number | null; readonly broken: readonly string[] }> {
  for (let times = 0; times <= MOST_RECOVERIES; times += 1) {
    const left = await run(["plan", "--detailed-exitcode"], setting);
    saw.push(left);
    if (left.code === 0) return { times, broken: [] };
    // A guard or an error in the plan: nothing may be changed, and nothing was to be expected.
    if (left.code !== 2) return { times: null, broken: left.code === 70 ? [`a bug: ${left.stderr}`] : [] };
    const applied = await run(["apply", "--yes", "--format", "json"], setting);
    saw.push(applied);
    if (applied.code !== 0) {
      return { times: null, broken: [`an undisturbed apply ended with ${applied.code}: ${applied.stderr}`] };
    }
  }
  return { times: null, broken: [`after ${MOST_RECOVERIES} undisturbed applies something is still left`] };
}

/** Whether nobody but the apply itself has changed anything, and all of it was done. */
function isUndisturbed({ racing, crash, faults }: Scenario, ended: readonly Ended[]): boolean {
  const alone = !racing && crash.kind === "none";
  const meddled = faults.some((fault) => /concurrent-edit|shift/.test(JSON.stringify(fault)));
  return alone && !meddled && ended.every(({ code }) => code === 0);
}

/** Members who have lost metadata that the file does not manage. */
function lostMetadata({ want }: Scenario, before: Standing, after: Standing): readonly string[] {
  const managed = new Set(
    (want.members ?? []).flatMap((one) =>
      "metadata" in one && one.metadata !== undefined && "email" in one ? [`${one.email}`.toLowerCase()] : [],
    ),
  );
  const now = new Map(after.list.map(({ id, metadata }) => [id, JSON.stringify(metadata ?? {})]));
  return before.list
    .filter(({ id, email }) => now.has(id) && !managed.has(email?.toLowerCase() ?? ""))
    .filter(({ id, metadata }) => now.get(id) !== JSON.stringify(metadata ?? {}))
    .map(({ id, email }) => `metadata that no file manages was lost: ${email ?? id}`);
}

interface Standing {
  readonly roles: readonly { readonly name: string }[];
  readonly list: readonly {
    readonly id: string;
    readonly status: string;
    readonly email: string | null;
    readonly roles: readonly string[];
    readonly metadata: object | undefined;
  }[];
  /** Id → address, in lower case. */
  readonly members: ReadonlyMap<string, string>;
}

const NOBODY: Standing = { roles: [], list: [], members: new Map() };

interface MemberResource {
  readonly id: string;
  readonly status: string;
  readonly roles: readonly string[];
  readonly user?: { readonly email: string };
  readonly invite?: { readonly email: string };
  readonly metadata?: object;
}

/** What is there now, as somebody else sees it. */
async function standing(service: Service, merchant: string): Promise<Standing> {
  const base = `/v0.1/merchants/${merchant}`;
  const roles = (await service.control("GET", `${base}/roles`)) as { items: readonly { name: string }[] };
  const members = (await service.control("GET", `${base}/members?limit=25`)) as {
    items: readonly MemberResource[];
  };
  const list = members.items.map(({ id, status, user, invite, roles: held, metadata }) => ({
    id,
    status,
    roles: held,
    metadata,
    email: user?.email ?? invite?.email ?? null,
  }));
  return {
    roles: roles.items,
    list,
    members: new Map(list.flatMap(({ id, email }) => (email === null ? [] : [[id, email.toLowerCase()]]))),
  };
}

/** Writes at a live account whose file declares a test account, by a key that was told which it is. */
function changedOther(
  { isOtherAccount }: Scenario,
  sent: readonly Sent[],
  isHere: (one: Sent) => boolean,
): readonly string[] {
  const asked = sent.filter(({ path }) => path.startsWith("/v0.1/memberships"));
  const isTold =
    asked.length > 0 && asked.every(({ status, faults }) => status === 200 && faults.length === 0);
  return isOtherAccount && isTold && sent.some((one) => isHere(one) && one.committed)
    ? ["a live account was changed whose file declares a test account"]
    : [];
}

/** Members of previous addresses who are gone before the new address has accepted. */
function lostAccess({ want, faults }: Scenario, before: Standing, end: Standing): readonly string[] {
  if (faults.some((rule) => /concurrent-edit|shift/.test(JSON.stringify(rule)))) return [];
  const isAccepted = ({ list }: Standing, address: string): boolean =>
    list.some(({ email, status }) => status === "accepted" && email?.toLowerCase() === address.toLowerCase());
  return (want.members ?? []).flatMap((one) => {
    const { email, previously } = one as { readonly email: string; readonly previously?: string };
    return previously === undefined || !isAccepted(before, previously) || isAccepted(end, previously)
      ? []
      : isAccepted(end, email)
        ? []
        : [`${previously} is gone, and ${email} has not accepted`];
  });
}

function duplicates({ roles, list }: Standing): readonly string[] {
  return duplicatesIn(roles, list);
}

function touchedIgnored(sent: readonly Sent[], members: ReadonlyMap<string, string>): readonly string[] {
  return sent
    .filter(({ committed, somebody_else }) => committed && !somebody_else)
    .filter(({ path }) => {
      const email = members.get(path.split("/").at(-1) ?? "");
      return email === IGNORED || email === OWNER;
    })
    .map(({ method, path }) => `what is ignored or protected was touched: ${method} ${path}`);
}

function badEnd({ code, stderr }: Ended): readonly string[] {
  return code === null || [0, 1, 3, 4].includes(code) ? [] : [`an apply ended with ${code}: ${stderr}`];
}

function secretsIn(texts: readonly string[]): readonly string[] {
  const secrets = [PASSWORD, ...Object.values(KEYS)];
  return secrets.some((secret) => texts.some((text) => text.includes(secret)))
    ? ["a secret stands in an output or a journal"]
    : [];
}

async function journalsIn(folder: string): Promise<readonly JournalText[]> {
  const files = await readdir(folder).catch(() => []);
  return Promise.all(
    files
      .filter((file) => file.endsWith(".jsonl"))
      .sort()
      .map(async (file) => ({ file, text: await readFile(join(folder, file), "utf8") })),
  );
}

function outcomesIn(journals: readonly JournalText[]): Pick<Facts, "outcomes" | "adopted"> {
  const outcomes: Record<string, number> = {};
  let adopted = 0;
  for (const { text } of journals) {
    for (const [, status = ""] of text.matchAll(/"type":"outcome".*?"status":"([a-z]+)"/g)) {
      outcomes[status] = (outcomes[status] ?? 0) + 1;
    }
    adopted += [...text.matchAll(/"adopted":true/g)].length;
  }
  return { outcomes, adopted };
}
