// A report for a chat: posts who can edit payouts, at every merchant, to the webhook in CHAT_WEBHOOK_URL.
import { globMatcher, liveSnapshot, loadMerchants, openService, readLive, whoCan } from "rolecall";

const service = openService();
const { merchants } = await loadMerchants(process.argv.slice(2));
const snapshots = await Promise.all(
  merchants.map(async (merchant) => liveSnapshot(await readLive(service, merchant), merchant, null)),
);
await service.close();
const { answers } = whoCan(snapshots, "payouts_edit", globMatcher());
const text = answers
  .map(({ member, role, merchant }) => `${member.name}: ${role?.name} of ${merchant}`)
  .join("\n");
const headers = { "content-type": "application/json" };
await fetch(process.env.CHAT_WEBHOOK_URL ?? "", { method: "POST", headers, body: JSON.stringify({ text }) });
