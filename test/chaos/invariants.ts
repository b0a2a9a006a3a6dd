import type { Change, Plan } from "../../src/model/plan.ts";
import { isProbe } from "../support/probes.ts";
import type { Sent } from "./service.ts";

/** A write by what it is about: "create member ada@example.com", "delete role role_1". */
export type Target = string;

/** What a request was to do; null for reads, probes, and what was lost before the service had read what it was about. */
export function targetOf({ method, path, name }: Sent): Target | null {
  if (isProbe({ method, path, name })) return null;
  const [, , , , kind, id] = path.replace(/^\/_sandbox|\?.*$/g, "").split("/");
  const resource = kind === "roles" ? "role" : "member";
  switch (method) {
    case "POST":
      return name === null ? null : `create ${resource} ${name.toLowerCase()}`;
    case "PATCH":
    case "PUT":
      return `update ${resource} ${id}`;
    case "DELETE":
      return `delete ${resource} ${id}`;
    default:
      return null;
  }
}

/** Everything that a plan allows to be sent. */
function allowedBy(plan: Plan | null): ReadonlySet<Target> {
  return new Set((plan?.changes ?? []).flatMap(targetsOf));
}

function targetsOf(change: Change): readonly Target[] {
  const { resource, kind, id } = change;
  const create = `create ${resource} ${change.name.toLowerCase()}`;
  // A role that has to go, or that swaps its name, is renamed first.
  const aside = resource === "role" ? [`update role ${id}`] : [];
  switch (kind) {
    case "create":
      return [create];
    case "update":
      return [`update ${resource} ${id}`];
    case "replace":
      return [create, ...aside, `delete ${resource} ${id}`];
    case "delete":
      return [...aside, `delete ${resource} ${id}`];
    default:
      return change satisfies never;
  }
}

/** Writes that took effect and were not in the plan. */
export function outsideOf(plan: Plan | null, sent: readonly Sent[]): readonly string[] {
  const allowed = allowedBy(plan);
  return sent
    .filter(({ committed }) => committed)
    .flatMap((one) => targetOf(one) ?? [])
    .filter((target) => !allowed.has(target))
    .map((target) => `a write outside the plan: ${target}`);
}

/**
 * Addresses that were invited again although nobody had removed them in between, over a whole scenario. `standing` are
 * the members there were before: id → address.
 */
export function invitedTwice(
  sent: readonly Sent[],
  standing: ReadonlyMap<string, string>,
): readonly string[] {
  const addresses = new Map(standing);
  const invited = new Set<string>();
  const broken: string[] = [];
  for (const one of inOrder(sent)) {
    const { method, resource, name } = one;
    if (!targetOf(one)?.includes(" member ") || resource === null) continue;
    if (method === "POST" && name !== null) {
      const email = name.toLowerCase();
      if (invited.has(email)) broken.push(`${email} was invited twice`);
      invited.add(email);
      addresses.set(resource, email);
    }
    if (method === "DELETE") invited.delete(addresses.get(resource) ?? "");
  }
  return broken;
}

/** What took effect, in the order in which it did. */
function inOrder(sent: readonly Sent[]): readonly Sent[] {
  return sent.filter(({ committed }) => committed).sort((a, b) => (a.state ?? 0) - (b.state ?? 0));
}

/** Names and addresses that are there more than once. */
export function duplicatesIn(
  roles: readonly { readonly name: string }[],
  members: readonly { readonly status: string; readonly email: string | null }[],
): readonly string[] {
  const twice = (values: readonly string[]): readonly string[] =>
    values.filter((value, index) => values.indexOf(value) !== index);
  return [
    ...twice(roles.map(({ name }) => name)).map((name) => `two roles are called ${name}`),
    ...twice(
      members.flatMap(({ status, email }) => (status === "expired" ? [] : (email?.toLowerCase() ?? []))),
    ).map((email) => `${email} is a member twice`),
  ];
}
