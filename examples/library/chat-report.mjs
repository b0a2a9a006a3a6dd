// A report to a chat: posts the owners of every merchant to the webhook CHAT_WEBHOOK_URL.
import { loadMerchants, openService, readLive } from "rolecall";

const service = openService();
const lines = [];
for (const merchant of (await loadMerchants(process.argv.slice(2))).merchants) {
  const { members } = await readLive(service, merchant);
  const owners = members.filter(({ roles }) => roles.includes("role_owner"));
  lines.push(`${merchant.merchant}: ${owners.map(({ user, id }) => user?.email ?? id).join(", ")}`);
}
await service.close();
const body = JSON.stringify({ text: lines.join("\n") });
await fetch(process.env.CHAT_WEBHOOK_URL, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body,
});
