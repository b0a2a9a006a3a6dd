// A plan without the command line. Arguments: files and folders.
import { loadMerchants, openService, planMerchant, renderPlan } from "rolecall";

const { merchants } = await loadMerchants(process.argv.slice(2));
const service = openService();
const planned = await Promise.all(merchants.map((merchant) => planMerchant(service, merchant)));
await service.close();
process.stdout.write(renderPlan(planned.map(({ plan }) => plan)));
process.exitCode = planned.some(({ plan }) => plan.refusals.length > 0) ? 3 : 0;
