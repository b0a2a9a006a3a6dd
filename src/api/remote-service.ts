import type { Io } from "../app/io/io.ts";
import { libraryIo } from "../app/io/node-io.ts";
import { resolveConnection } from "../app/session/connection.ts";
import { openServices } from "../app/session/services.ts";
import { type Session, sessionOpener } from "../app/session/session.ts";
import { namedRoleIds } from "../kernel/plan/build-plan.ts";
import type { DesiredState } from "../model/desired.ts";
import type { ApplyEvent, LiveEvent } from "../model/events.ts";
import type { LiveState } from "../model/live.ts";
import type { Plan } from "../model/plan.ts";

/** Options for a connection to the service. */
export interface OpenServiceOptions {
  /** Base URL; absent: that of a merchant's file, or else `ROLECALL_BASE_URL`. */
  readonly baseUrl?: string;
  /** Environment variables, with the keys; absent: those of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Folder whose project gets the journals of applies; absent: the working directory. */
  readonly cwd?: string;
  /** Maximum number of requests in flight to one service; absent: 8. */
  readonly concurrency?: number;
  /** Total time for one request with its retries, in ms; absent: five minutes. */
  readonly retryFor?: number;
  /** Maximum number of members, roles or memberships of an account; absent: 250,000. */
  readonly maxItems?: number;
  /** Stops retries and further changes of an apply when aborted. */
  readonly signal?: AbortSignal;
  /** Called for each request, wait and change; see `EVENTS`. */
  readonly onEvent?: (event: LiveEvent | ApplyEvent) => void;
}

/** A connection to the service; merchants that share a base URL and key share one rate limiter. */
export interface RemoteService {
  /** Closes all connections. */
  close(): Promise<void>;
  /** @internal */
  readonly io: Io;
  /** @internal */
  readonly concurrency: number;
  /** @internal */
  readonly signal: AbortSignal | undefined;
  /** @internal */
  emit(event: LiveEvent | ApplyEvent): void;
  /** @internal Throws RolecallError without a base URL or key. */
  session(merchant: DesiredState): Session;
  /** @internal */
  read(merchant: DesiredState): Promise<LiveState>;
}

const CONCURRENCY = 8;
/** The option, as messages call it. */
const BASE_URL = "baseUrl";

/**
 * Prepares a connection to the service; nothing is sent yet.
 *
 * @throws RangeError if `concurrency` is not a whole number from 1, or `retryFor` is negative.
 */
export function openService(options: OpenServiceOptions = {}): RemoteService {
  const { baseUrl, concurrency = CONCURRENCY, retryFor, maxItems, signal } = options;
  const { onEvent: emit = () => undefined } = options;
  if (!(Number.isInteger(concurrency) && concurrency > 0)) {
    throw new RangeError(`concurrency must be a whole number from 1, not ${concurrency}`);
  }
  if (retryFor !== undefined && !(retryFor >= 0))
    throw new RangeError(`retryFor must be a number of ms from 0, not ${retryFor}`);
  const io = libraryIo(options);
  const services = openServices(
    {
      concurrency,
      emit,
      ...(retryFor !== undefined && { retryFor }),
      ...(maxItems !== undefined && { maxItems }),
      ...(signal && { signal }),
    },
    io,
  );
  const planning = { baseUrlName: BASE_URL, ...(baseUrl !== undefined && { baseUrl }) };
  const service: RemoteService = {
    close: services.close,
    io,
    concurrency,
    signal,
    emit,
    session(merchant) {
      // An opener lists the journals once; while a program runs, others are written.
      const session = sessionOpener(services, planning, io)(merchant);
      if ("error" in session) throw session.error;
      return session;
    },
    async read(merchant) {
      const { reader } = services.of(resolveConnection(merchant, baseUrl, io.env, BASE_URL));
      return reader.read(merchant.merchant, namedRoleIds(merchant));
    },
  };
  // The environment has the keys: a program that logs its service must not log them.
  const inner = Object.keys(service).filter((key) => key !== "close");
  return Object.defineProperties(
    service,
    Object.fromEntries(inner.map((key) => [key, { enumerable: false }])),
  );
}

/**
 * Reads a merchant's roles and members from the service, completely or not at all.
 *
 * @throws RolecallError if there is no base URL or key, or if the service does not return a consistent state.
 */
export async function readLive(service: RemoteService, merchant: DesiredState): Promise<LiveState> {
  return service.read(merchant);
}

/** A merchant's live state and its plan, as `compareReviewed` takes them. */
export interface MerchantPlan {
  readonly desired: DesiredState;
  readonly live: LiveState;
  readonly plan: Plan;
  /** Plans the same states as of another time, in ms since the epoch. */
  planAt(now: number): Plan;
  /** Plans the same states without the changes of these fingerprints. */
  planWithout(leaveOut: ReadonlySet<string>): Plan;
}

/**
 * Reads a merchant's live state and plans as `rolecall plan` does for a single merchant; `judgeRun` adds the limits of a run with several merchants.
 *
 * @throws RolecallError as `readLive` does.
 */
export async function planMerchant(service: RemoteService, merchant: DesiredState): Promise<MerchantPlan> {
  const { live, plan, planAt, planWithout } = await service.session(merchant).plan();
  return { desired: merchant, live, plan, planAt, planWithout };
}
