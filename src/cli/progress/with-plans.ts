import type { Io } from "../../app/io/io.ts";
import {
  type PlanMerchantsOptions,
  type PlannedMerchants,
  planMerchants,
} from "../../app/plan/plan-merchants.ts";
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
