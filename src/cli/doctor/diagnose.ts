import { lookup } from "node:dns/promises";
import { ExitCode, type Io, userAgentOf } from "../../app/io/io.ts";
import { announceIfSlow, serviceLog } from "../../app/progress/service-log.ts";
import type { OutputOptions, ServiceOptions } from "../../app/project/command-options.ts";
import type { DeclaredMerchant } from "../../app/project/declared-merchants.ts";
import { type Clients, openClients } from "../../app/session/clients.ts";
import {
  type Connection,
  requireVariable,
  resolveConnection,
  resolveOwnConnection,
} from "../../app/session/connection.ts";
import { writeDocument } from "../../app/show/write-document.ts";
import { mapConcurrent } from "../../lib/map-concurrent.ts";
import { groupByKey, grouped } from "../../lib/text.ts";
import { RolecallError, rolecallErrorOf } from "../../model/errors.ts";
import type { HealthGroup, HealthReport, NeededPermissions } from "../../model/reports.ts";
import { connectProbe, type Probe } from "../../service/probe-operations.ts";
import { askWithoutKey, reachService } from "../../service/reach-service.ts";
import { healthDocument } from "../../show/documents/health.ts";
import { documentJson } from "../../show/machine/machine-formats.ts";
import { type CheckedFiles, checkMachine, readProject } from "./machine-checks.ts";
import {
  COMMANDS_FOR,
  type KeyNeed,
  type KeyUse,
  neededOperations,
  neededPermissions,
  operationChecks,
} from "./permissions.ts";
import { checkAccepted, checkAccount, checkForm, checkService, type Network } from "./service-checks.ts";

/** The options of `doctor`. */
export type DoctorCommandOptions = Pick<ServiceOptions, "baseUrl" | "concurrency" | "merchant" | "verbose"> &
  OutputOptions & { readonly keyEnv?: string; readonly for: KeyUse };

/** Timeout of each step on the way to a service, and of each request with its retries, in ms. */
const STEP_TIMEOUT_MS = 5_000;

/** Checks machine, project, services, keys and permissions, and prints what it finds. */
export async function diagnose(
  paths: readonly string[],
  options: DoctorCommandOptions,
  io: Io,
  network: Network = openNetwork(io),
): Promise<ExitCode> {
  const project = await readProject(paths, io);
  const subjects = subjectsOf(project, options, io.env);
  const services = openClients(
    connectProbe,
    { ...options, retryFor: STEP_TIMEOUT_MS, emit: serviceLog(io, options.verbose === true) },
    io,
  );
  try {
    const many = subjects.length > 1 ? `${grouped(subjects.length)} merchants` : "the service and the key";
    const report = await announceIfSlow(`Checking ${many} …`, io, () =>
      examine(project, subjects, { services, network, options, io }),
    );
    const document = { json: () => documentJson(report), report: () => healthDocument(report) };
    await writeDocument("result", document, options, io);
    return isHealthy(report) ? ExitCode.ok : ExitCode.failed;
  } finally {
    await services.close();
  }
}

function openNetwork(io: Io): Network {
  return {
    lookup: (host) =>
      new Promise((resolve, reject) => {
        // The system's resolver cannot be cancelled, and waits longer.
        const cancel = io.setTimer(STEP_TIMEOUT_MS, () =>
          reject(Object.assign(new Error("no response in time"), { code: "ETIMEDOUT" })),
        );
        lookup(host, { all: true })
          .then((addresses) => resolve(addresses.map(({ address }) => address)), reject)
          .finally(cancel);
      }),
    reach: (target, proxy) => reachService(target, proxy, STEP_TIMEOUT_MS),
    ask: (baseUrl, proxy) =>
      askWithoutKey(baseUrl, proxy, STEP_TIMEOUT_MS, { later: io.setTimer, userAgent: userAgentOf(io) }),
  };
}

/** A merchant to check, or with `null` only a key. */
interface Subject {
  readonly merchant: string | null;
  readonly state: DeclaredMerchant | null;
  readonly connection: Connection | RolecallError;
}

/** Returns the merchants of `--merchant`, else those of the files, else only the key of the environment. */
function subjectsOf(
  { merchants: declared }: CheckedFiles,
  options: Pick<DoctorCommandOptions, "merchant" | "baseUrl" | "keyEnv">,
  env: Io["env"],
): readonly Subject[] {
  const { baseUrl, keyEnv } = options;
  if (keyEnv !== undefined) requireVariable(keyEnv);
  const ownConnection = (): Connection => resolveOwnConnection(options, env, declared);
  const stateOf = new Map(declared.map((merchant) => [merchant.merchant, merchant]));
  const merchants = options.merchant.length > 0 ? options.merchant : [...stateOf.keys()];
  if (merchants.length === 0) return [{ merchant: null, state: null, connection: toResult(ownConnection) }];
  return [...new Set(merchants)].map((merchant) => {
    const state = stateOf.get(merchant) ?? null;
    const connect =
      state === null
        ? ownConnection
        : () => resolveConnection({ ...state, ...(keyEnv !== undefined && { keyEnv }) }, baseUrl, env);
    return { merchant, state, connection: toResult(connect) };
  });
}

function toResult<T>(work: () => T): T | RolecallError {
  try {
    return work();
  } catch (error) {
    return rolecallErrorOf(error);
  }
}

interface Examination {
  readonly services: Clients<Probe>;
  readonly network: Network;
  readonly options: Pick<DoctorCommandOptions, "for">;
  readonly io: Io;
}

/** Runs all checks: those of a service before those of its keys, and those of a key before those of its merchants. */
async function examine(
  project: CheckedFiles,
  subjects: readonly Subject[],
  examination: Examination,
): Promise<HealthReport> {
  const connected = subjects.flatMap(({ connection, ...rest }) =>
    connection instanceof RolecallError ? [] : [{ ...rest, connection }],
  );
  const byService = groupByKey(connected, ({ connection }) => connection.baseUrl);
  const examined = await Promise.all(byService.map((group) => examineService(group, examination)));
  const groups: readonly HealthGroup[] = [
    { about: "machine", names: [], checks: checkMachine(project, examination.io) },
    ...unconnected(subjects),
    ...examined.flatMap((service) => service.groups),
  ];
  const commands = COMMANDS_FOR[examination.options.for];
  const needed = neededPermissions(
    examined.flatMap(({ needs }) => needs),
    commands,
  );
  const grants = keysMissing(needed);
  const failed = groups.flatMap(({ checks }) => checks.filter(({ status }) => status === "failed"));
  return { groups, needed, next: [...new Set([...failed.flatMap(({ next }) => next ?? []), ...grants])] };
}

/** Returns a group for each failure of connections, with its merchants. */
function unconnected(subjects: readonly Subject[]): readonly HealthGroup[] {
  const failed = subjects.flatMap(({ merchant, connection }) =>
    connection instanceof RolecallError ? [{ merchant, error: connection }] : [],
  );
  return groupByKey(failed, ({ error }) => JSON.stringify([error.message, error.hint])).map((group) => {
    const { message: detail, hint: next } = group[0].error;
    const names = group.flatMap(({ merchant }) => merchant ?? []);
    return {
      about: names.length > 0 ? "merchant" : "service",
      names,
      checks: [{ name: "Connection", status: "failed", detail, ...(next !== undefined && { next }) }],
    };
  });
}

interface Examined {
  readonly groups: readonly HealthGroup[];
  readonly needs: readonly KeyNeed[];
}

type Connected = Subject & { readonly connection: Connection };

/** Merchants with one service, or one key. */
type Alike = readonly [Connected, ...Connected[]];

async function examineService(subjects: Alike, examination: Examination): Promise<Examined> {
  const { baseUrl, baseUrlSource: source } = subjects[0].connection;
  const checks = await checkService({ baseUrl, source }, examination.network, examination.io);
  const group: HealthGroup = { about: "service", names: [withoutCredentials(baseUrl)], checks };
  // The clock does not affect reachability.
  const isReached = checks.every(({ name, status }) => status !== "failed" || name === "Clock");
  if (!isReached) return { groups: [group], needs: [] };
  const byKey = groupByKey(subjects, ({ connection }) => connection.key);
  const keys = await Promise.all(byKey.map((group) => examineKey(group, examination)));
  return {
    groups: [group, ...keys.flatMap(({ groups }) => groups)],
    needs: keys.flatMap(({ needs }) => needs),
  };
}

/** Merchants that are checked at the same time. */
const MERCHANTS_AT_ONCE = 8;

async function examineKey(subjects: Alike, { services, options }: Examination): Promise<Examined> {
  const [{ connection }] = subjects;
  const { keySource } = connection;
  const service = services.of(connection);
  const accepted = await checkAccepted(connection, service);
  const group: HealthGroup = { about: "key", names: [keySource], checks: [checkForm(connection), accepted] };
  if (accepted.status === "failed") return { groups: [group], needs: [] };
  const commands = COMMANDS_FOR[options.for];
  const merchants = subjects.flatMap(({ merchant, state }) =>
    merchant === null ? [] : [{ merchant, state }],
  );
  const examined = await mapConcurrent(merchants, MERCHANTS_AT_ONCE, async ({ merchant, state }) => {
    const environment = checkAccount(merchant, state, connection, await service.findCurrentMember(merchant));
    const needed = neededOperations(state?.manages ?? null, commands);
    // A merchant of the wrong environment is not probed, since probes send writes, even if these change nothing.
    if (environment?.status === "failed") {
      const probed = { missing: false, verdicts: [] };
      return { merchant, need: { keySource, needed: new Map(), probed }, checks: [environment] };
    }
    const probed = await service.probe(merchant, new Set(needed.keys()));
    return {
      merchant,
      need: { keySource, needed, probed },
      checks: [...(environment ? [environment] : []), ...operationChecks(probed, needed, keySource)],
    };
  });
  const alike = groupByKey(examined, ({ checks }) => JSON.stringify(checks));
  return {
    groups: [
      group,
      ...alike.map(
        (group): HealthGroup => ({
          about: "merchant",
          names: group.map(({ merchant }) => merchant),
          checks: group[0].checks,
        }),
      ),
    ],
    needs: examined.map(({ need }) => need),
  };
}

function keysMissing(needed: HealthReport["needed"]): readonly string[] {
  const byKey = groupByKey(
    needed.filter(({ missing }) => missing.length > 0),
    ({ keySource }) => keySource,
  );
  return byKey.map((needs) => {
    const missing = [...new Set(needs.flatMap((need) => need.missing))];
    const [{ keySource }] = needs;
    return needs.every(isReadOnly)
      ? `The key in ${keySource} cannot write what the files declare. That is enough for plan and drift (with "--for plan" or "--for drift", only these are checked); apply also needs ${missing.join(", ")}.`
      : `Grant the key in ${keySource}: ${missing.join(", ")}.`;
  });
}

/** Returns whether a key lacks nothing but the permissions for an apply's writes. */
function isReadOnly({ command, permissions, missing }: NeededPermissions): boolean {
  const writes = permissions.filter((permission) => /(create|update|delete)$/.test(permission));
  return (
    command === "apply" &&
    writes.length === missing.length &&
    missing.every((operation) => writes.includes(operation))
  );
}

/** Returns an address without the parts that may be secret: user, query and fragment. */
function withoutCredentials(address: string): string {
  return address.replace(/^([a-z][a-z0-9+.-]*:\/\/)?[^/?#]*@/i, "$1****@").replace(/[?#].*$/, "?****");
}

function isHealthy({ groups }: HealthReport): boolean {
  return groups.every(({ checks }) => checks.every(({ status }) => status !== "failed"));
}
