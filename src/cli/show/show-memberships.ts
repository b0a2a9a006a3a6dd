import { ExitCode, type Io } from "../../app/io/io.ts";
import { styleFor } from "../../app/io/terminal.ts";
import { announceIfSlow, serviceLog } from "../../app/progress/service-log.ts";
import type { OutputOptions, ServiceOptions } from "../../app/project/command-options.ts";
import { declaredDiagnostics } from "../../app/project/declared-diagnostics.ts";
import { declaredMerchants } from "../../app/project/declared-merchants.ts";
import { ifAnyFiles } from "../../app/project/find-files.ts";
import { type Clients, openClients } from "../../app/session/clients.ts";
import { type Connection, resolveConnection, resolveOwnConnection } from "../../app/session/connection.ts";
import { printDiagnostics } from "../../app/show/print-diagnostics.ts";
import { writeDocument } from "../../app/show/write-document.ts";
import type { Addressed } from "../../model/desired.ts";
import { RolecallError, rolecallErrorOf } from "../../model/errors.ts";
import type { Membership } from "../../model/live.ts";
import { connectKeyUser, type KeyUser } from "../../service/key-user.ts";
import type { MembershipFilter } from "../../service/memberships.ts";
import { renderFailure } from "../../show/documents/failure.ts";
import { type MembershipsView, membershipsDocument } from "../../show/documents/memberships-document.ts";
import { diagnosticFailure, documentJson, failureJson } from "../../show/machine/machine-formats.ts";

/** The options of `whoami`. */
export type WhoamiCommandOptions = Pick<
  ServiceOptions,
  "baseUrl" | "concurrency" | "retryFor" | "maxItems" | "verbose"
> &
  OutputOptions &
  Omit<MembershipFilter, "roles"> & {
    readonly keyEnv?: string;
    readonly role: readonly string[];
  };

/** Prints the memberships of the keys' users, and compares them with the files. */
export async function showMemberships(
  paths: readonly string[],
  options: WhoamiCommandOptions,
  io: Io,
): Promise<ExitCode> {
  const loaded = await ifAnyFiles(paths, () => declaredMerchants(paths, io.cwd));
  const errors = loaded === null ? [] : declaredDiagnostics(loaded);
  printDiagnostics(errors, options, io);
  const filter = filterOf(options);
  const keys = keysOfFiles(loaded?.merchants ?? [], options, io.env);
  const users = openClients(
    connectKeyUser,
    { ...options, emit: serviceLog(io, options.verbose === true) },
    io,
  );
  try {
    const read = await announceIfSlow("Reading the key's memberships …", io, () =>
      Promise.all(keys.map((key) => readKey(key, filter, users))),
    );
    const views = read.flatMap((result) =>
      "memberships" in result ? [viewOf(result, loaded?.merchants ?? [], filter)] : [],
    );
    const failed = read.flatMap((result) => ("error" in result ? [result.error] : []));
    const failures = [
      ...errors.map(diagnosticFailure),
      ...failed.map((error) => failureJson(null, error.failure)),
    ];
    const about = { anyFiles: loaded !== null, filtered: isFiltering(filter) };
    const document = {
      json: () => documentJson({ keys: views, failures }),
      report: (isVerbose: boolean) => membershipsDocument(views, about, isVerbose),
    };
    await writeDocument("result", document, options, io);
    const style = styleFor(io.stderr, io, options.color);
    for (const error of failed) io.stderr.write(renderFailure(error.failure, style));
    return failures.length > 0 ? ExitCode.failed : ExitCode.ok;
  } finally {
    await users.close();
  }
}

function filterOf({ type, status, sandbox, name, parent, role }: WhoamiCommandOptions): MembershipFilter {
  return {
    ...(type !== undefined && { type }),
    ...(status !== undefined && { status }),
    ...(sandbox !== undefined && { sandbox }),
    ...(name !== undefined && { name }),
    ...(parent !== undefined && { parent }),
    ...(role.length > 0 && { roles: role }),
  };
}

function isFiltering(filter: MembershipFilter): boolean {
  return Object.keys(filter).length > 0;
}

/** A service and key, with the merchants of the files that use it. */
export interface KeyOfFiles {
  readonly connection: Connection;
  readonly merchants: ReadonlySet<string>;
}

/** Returns the keys that the files use and the one of the environment, each once; `--key-env` selects a single one. */
export function keysOfFiles(
  states: readonly Addressed[],
  options: Pick<WhoamiCommandOptions, "baseUrl" | "keyEnv">,
  env: Io["env"],
): readonly KeyOfFiles[] {
  const keys = new Map<string, { connection: Connection; merchants: Set<string> }>();
  const idOf = ({ baseUrl, key }: Connection): string => JSON.stringify([baseUrl, key]);
  const add = (connection: Connection): Set<string> => {
    const sameKey = keys.get(idOf(connection)) ?? { connection, merchants: new Set<string>() };
    keys.set(idOf(connection), sameKey);
    return sameKey.merchants;
  };
  for (const state of states) {
    const connection = nullIfMissing(() => resolveConnection(state, options.baseUrl, env));
    if (connection !== null) add(connection).add(state.merchant);
  }
  const ownConnection = (): Connection => resolveOwnConnection(options, env, states);
  if (options.keyEnv !== undefined) {
    const connection = ownConnection();
    const merchants = keys.get(idOf(connection))?.merchants ?? new Set();
    return [{ connection, merchants }];
  }
  // If there is no key at all, the error names the variables to set.
  const additional = keys.size === 0 ? ownConnection() : nullIfMissing(ownConnection);
  if (additional !== null) add(additional);
  return [...keys.values()];
}

function nullIfMissing(resolve: () => Connection): Connection | null {
  try {
    return resolve();
  } catch (error) {
    rolecallErrorOf(error);
    return null;
  }
}

type ReadKey = KeyOfFiles &
  ({ readonly memberships: readonly Membership[] } | { readonly error: RolecallError });

async function readKey(
  key: KeyOfFiles,
  filter: MembershipFilter,
  users: Clients<Pick<KeyUser, "memberships">>,
): Promise<ReadKey> {
  const read = await readMemberships(key.connection, filter, users).catch(rolecallErrorOf);
  return read instanceof RolecallError ? { ...key, error: read } : { ...key, memberships: read };
}

/**
 * Reads the memberships of a key's user; if the service itself, and not a proxy, refuses the key, the error says why.
 */
export async function readMemberships(
  connection: Connection,
  filter: MembershipFilter,
  users: Clients<Pick<KeyUser, "memberships">>,
): Promise<readonly Membership[]> {
  try {
    return await users.of(connection).memberships(filter);
  } catch (error) {
    const isService = error instanceof RolecallError && error.request?.problem !== undefined;
    throw isService && error.code === "forbidden" ? noUser(error, connection) : error;
  }
}

/** Returns the error for a key that may not list memberships, usually because it belongs to no user. */
function noUser(error: RolecallError, { keySource }: Connection): RolecallError {
  return new RolecallError(
    "forbidden",
    `The key in ${keySource} cannot list memberships: it is not tied to a user, or lacks the scope user.profile_readonly.`,
    {
      hint: 'Use the key of a user, or specify merchants with "rolecall init CODE". Plans do not list memberships.',
      ...(error.request && { request: error.request }),
      cause: error,
    },
  );
}

/** Compares memberships with the files; only an accepted membership gives access. */
function viewOf(
  { connection, merchants, memberships }: Extract<ReadKey, { readonly memberships: unknown }>,
  states: readonly Addressed[],
  filter: MembershipFilter,
): MembershipsView {
  const accepted = new Set(
    memberships.flatMap(({ resource, status }) =>
      resource.type === "merchant" && status === "accepted" ? [resource.id] : [],
    ),
  );
  const declared = new Set(states.map(({ merchant }) => merchant));
  const rank = ({ resource }: Membership): string => `${resource.type === "merchant" ? 0 : 1} ${resource.id}`;
  return {
    service: connection.baseUrl,
    keySource: connection.keySource,
    memberships: [...memberships].sort((a, b) => (rank(a) < rank(b) ? -1 : 1)),
    withoutFile: [...accepted].filter((code) => !declared.has(code)).sort(),
    notReached: isFiltering(filter)
      ? null
      : states
          .filter(({ merchant }) => merchants.has(merchant) && !accepted.has(merchant))
          .map(({ merchant, origin }) => ({ merchant, file: origin.file })),
  };
}
