// A policy in code: applies the plan of each merchant, unless somebody gains the permission to edit payouts.
import { applyPlan, loadMerchants, openService, planMerchant } from "rolecall";

const service = openService();
for (const merchant of (await loadMerchants(process.argv.slice(2))).merchants) {
  const { plan } = await planMerchant(service, merchant);
  const gaining = plan.impact.members.filter(({ gained }) => gained.includes("payouts_edit"));
  const { status, reasons } =
    gaining.length > 0
      ? { status: "refused", reasons: gaining.map(({ name }) => `${name} gains payouts_edit`) }
      : await applyPlan(service, merchant, plan);
  console.log(`${merchant.merchant}: ${[status, ...reasons].join("; ")}`);
}
await service.close();
