import { createSandbox } from "rolecall/sandbox";
import { expect, test } from "vitest";

test("an invitation that nobody accepts expires", async () => {
  const sandbox = createSandbox();
  const members = `${await sandbox.listen()}/v0.1/merchants/MC0DEMO1/members`;
  const headers = { authorization: "Bearer sk_test_sandbox", "content-type": "application/json" };
  const body = JSON.stringify({ email: "ann@example.com", roles: ["role_employee"] });
  const { id } = await (await fetch(members, { method: "POST", headers, body })).json();
  await sandbox.advance("8d");
  const ann = await (await fetch(`${members}/${id}`, { headers })).json();
  expect(ann.status).toBe("expired");
  await sandbox.close();
});
