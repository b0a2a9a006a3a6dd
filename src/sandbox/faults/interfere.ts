import type { World } from "../world.ts";
import { editRequest, type HitRequest, type SomebodysRequest } from "./concurrent-edits.ts";
import type { FaultRule } from "./fault-rules.ts";
import { shiftStep } from "./pagination-drift.ts";

type Fetch = (request: Request) => Promise<Response>;

/** A rule that lets somebody else do something. */
type Interference = FaultRule & { kind: "concurrent-edit" | "shift" };

function send(fetch: Fetch, { method, path, body }: SomebodysRequest): Promise<Response> {
  const init =
    body === undefined
      ? { method }
      : { method, body: JSON.stringify(body), headers: { "content-type": "application/json" } };
  return fetch(new Request(`http://127.0.0.1/_sandbox${path}`, init));
}

/** Lets somebody else do what a rule says, through the same routes as anybody, so that the log tells of it. */
export async function interfere(
  world: World,
  fetch: Fetch,
  rule: Interference,
  hit: HitRequest,
  chance: number,
): Promise<void> {
  const account = world.store.merchants.get(hit.merchant);
  if (rule.kind === "concurrent-edit") {
    const chosen = rule.edit && editRequest(rule.edit, hit, account, chance);
    const request = rule.request ?? chosen;
    if (request) await send(fetch, request);
    return;
  }
  const step = shiftStep(rule.change, hit, account, chance);
  if (step === null) return;
  const members = `/merchants/${hit.merchant}/members`;
  switch (step.kind) {
    case "remove":
      await send(fetch, { method: "DELETE", path: `/v0.1${members}/${step.id}` });
      return;
    case "add":
      await send(fetch, {
        method: "POST",
        path: `/v0.1${members}`,
        body: { email: step.email, roles: [] },
      });
      await send(fetch, { method: "POST", path: `${members}/${step.email}/to-front` });
      return;
    case "move":
      await send(fetch, { method: "POST", path: `${members}/${step.id}/to-front` });
      return;
    default:
      step satisfies never;
  }
}
