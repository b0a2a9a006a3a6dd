// A plan without the command line. Arguments: files and folders.
import { judgeRun, loadMerchants, openService, planMerchant, renderPlan } from "rolecall";

const { merchants, project } = await loadMerchants(process.argv.slice(2));
const service = openService();
const planned = await Promise.all(merchants.map((merchant) => planMerchant(service, merchant)));
await service.close();
// The limits of a run and the rules across merchants count all merchants together.
const run = planned.map(({ plan, desired, live }) => ({ plan, files: desired, live }));
const plans = judgeRun(run, project);
process.stdout.write(renderPlan(plans));
process.exitCode = plans.some(({ refusals }) => refusals.length > 0) ? 3 : 0;
