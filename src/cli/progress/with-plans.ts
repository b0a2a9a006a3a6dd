import type { Io } from "../../app/io/io.ts";
import {
  type PlanMerchantsOptions,
  type PlannedMerchants,
  planMerchants,
} from "../../app/plan/plan-merchants.ts";
import type { ProgressDisplay, ProgressOptions } from "../../app/progress/log-progress.ts";
import type { ReachOptions } from "../../app/session/clients.ts";
import { openServices, type Services } from "../../app/session/services.ts";
import { type Planned, type PlanningOptions, planStates } from "../../app/session/session.ts";
import type { DesiredState } from "../../model/desired.ts";
import { openProgress } from "./open-progress.ts";

/** Plans the merchants of files for `use`, displays the progress, and closes the connections. */
export async function withPlans<T>(
  paths: readonly string[],
  options: PlanMerchantsOptions,
  io: Io,
  use: (merchants: PlannedMerchants) => Promise<T>,
): Promise<T> {
  const merchants = await planMerchants(paths, options, openProgress(options, io), io);
  try {
    return await use(merchants);
  } finally {
    await merchants.close();
  }
}

/** The options of displaying progress and reaching services. */
type LiveOptions = ProgressOptions & Omit<ReachOptions, "emit">;

/** Connects to services for `use`, displays the progress, and closes the connections. */
export async function withServices<T>(
  options: LiveOptions,
  io: Io,
  use: (services: Services, progress: ProgressDisplay) => Promise<T>,
): Promise<T> {
  const progress = openProgress(options, io);
  const services = openServices({ ...options, emit: progress.live }, io);
  try {
    return await use(services, progress);
  } finally {
    await progress.rest();
    await services.close();
  }
}

/** Plans merchants as some states declare them, and displays the progress. */
export async function planLive(
  states: readonly DesiredState[],
  options: LiveOptions & PlanningOptions,
  io: Io,
): Promise<readonly Planned[]> {
  return withServices(options, io, (services, progress) =>
    planStates(states, services, options, progress, io),
  );
}
