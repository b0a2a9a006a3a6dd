import { RolecallError } from "../model/errors.ts";
import type { LiveEvent } from "../model/ports.ts";
import type { Access } from "./credentials.ts";
import type { Io } from "./io.ts";

/** What services are reached with. */
export interface ReachOptions {
  readonly concurrency: number;
  /** How long one request is tried for in all, in milliseconds. */
  readonly retryFor: number;
  readonly emit: (event: LiveEvent) => void;
  /** Once aborted, the service is not waited for any more, and nothing is sent again. */
  readonly signal?: AbortSignal;
}

type Service = ReturnType<typeof import("../live/service.ts").connect>;

/** The services that merchants are reached at: one, with one limiter, for each address and key. */
export interface Services {
  /** Nothing is sent yet; throws RolecallError for an address that will not do. */
  of(access: Access): Service;
  close(): Promise<void>;
}

/** Makes ready to reach services. */
export async function openServices(options: ReachOptions, io: Io): Promise<Services> {
  const { connect } = await import("../live/service.ts");
  const { emit, concurrency, retryFor: retryForMs, signal } = options;
  const services = new Map<string, Service>();
  return {
    of(access) {
      const { baseUrl, key, keySource } = access;
      const id = JSON.stringify([baseUrl, key]);
      const { now, sleep, later, pause, random } = io;
      const service =
        services.get(id) ??
        withSource(access, () =>
          connect({
            baseUrl,
            key,
            keySource,
            concurrency,
            retryForMs,
            emit,
            now,
            sleep,
            later,
            pause,
            random,
            ...(signal && { signal }),
          }),
        );
      services.set(id, service);
      return service;
    },
    close: async () => {
      await Promise.all([...services.values()].map((service) => service.close()));
    },
  };
}

/** Nothing is sent yet, so what does not connect is the base URL: the message says who gave it. */
function withSource<T>({ baseUrlSource }: Access, connect: () => T): T {
  try {
    return connect();
  } catch (error) {
    if (!(error instanceof RolecallError)) throw error;
    const { code, message, hint } = error;
    throw new RolecallError(code, `${message} It comes from ${baseUrlSource}.`, {
      ...(hint !== undefined && { hint }),
      cause: error,
    });
  }
}
