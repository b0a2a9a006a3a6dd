import { ProblemError, type ResponseData } from "../http/response.ts";
import type { ApiKey } from "../state/snapshot.ts";
import type { Account, Store } from "../state/store.ts";
import { MEMBERSHIP_OPERATIONS } from "./lists.ts";
import { MEMBER_OPERATIONS } from "./member-operations.ts";
import type { ContractOperation, UncheckedCall } from "./operation.ts";
import { ROLE_OPERATIONS } from "./role-operations.ts";

/** Every operation of the contract. */
export const CONTRACT_OPERATIONS: readonly ContractOperation[] = [
  ...ROLE_OPERATIONS,
  ...MEMBER_OPERATIONS,
  ...MEMBERSHIP_OPERATIONS,
];

/** Returns the OAuth scope that permits an operation, like `members.read`; undefined if it has no scope of its own. */
export function oauthScope({ method, name, scope }: ContractOperation): string | undefined {
  return scope === "merchant" ? `${name.split(".")[0]}.${method === "GET" ? "read" : "write"}` : undefined;
}

const SCOPES: ReadonlySet<string> = new Set(
  CONTRACT_OPERATIONS.flatMap((operation) => oauthScope(operation) ?? []),
);

/** Every permission and scope of an API key. */
export const KEY_PERMISSIONS: readonly string[] = [
  ...CONTRACT_OPERATIONS.flatMap((operation) => operation.permissions),
  ...SCOPES,
];

/** Returns the API key of a request; throws a 401. */
export function authenticate(store: Store, authorization: string | undefined): ApiKey {
  const presented = /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
  if (presented === undefined) {
    throw new ProblemError(401, "An API key is required, as Authorization: Bearer <API_KEY>.", {
      "www-authenticate": "Bearer",
    });
  }
  const key = store.keys.get(presented);
  if (key === undefined) {
    throw new ProblemError(401, "The API key is not valid.", { "www-authenticate": "Bearer" });
  }
  return key;
}

/** Returns a label of a key for logs: its prefix and last characters. */
export function keyLabel(key: ApiKey): string {
  const prefix = /^sk_(test|live)_/.exec(key.key)?.[0] ?? "";
  const secret = key.key.slice(prefix.length);
  const shown = Math.min(4, Math.floor(secret.length / 2));
  return `${prefix}…${secret.slice(secret.length - shown)}`;
}

function ownMerchant(store: Store, key: ApiKey, code: string): Account {
  const merchant = store.merchants.get(code);
  const allowed = key.merchants?.includes(code) ?? true;
  // The same message for both, so that a key cannot probe which merchants exist.
  if (merchant === undefined || !allowed) throw new ProblemError(404, `There is no merchant ${code}.`);
  return merchant;
}

function requirePermission({ permissions }: ApiKey, operation: ContractOperation): void {
  const scope = oauthScope(operation);
  const sufficient = [...operation.permissions, ...(scope === undefined ? [] : [scope])];
  if (permissions === undefined || sufficient.some((permission) => permissions.includes(permission))) return;
  const lacking =
    scope !== undefined && permissions.some((permission) => SCOPES.has(permission))
      ? `scope ${scope}`
      : `permission ${operation.permissions.join(" or ")}`;
  throw new ProblemError(403, `The API key lacks the ${lacking}.`);
}

/** Returns the handler of an operation for a key; throws a 403 or 404 if the key may not use it. */
export function admit(
  operation: ContractOperation,
  store: Store,
  key: ApiKey,
  merchant: string,
): (call: UncheckedCall) => ResponseData {
  if (operation.scope === "merchant") {
    const account = ownMerchant(store, key, merchant);
    requirePermission(key, operation);
    return (call) => operation.handle(call, account);
  }
  requirePermission(key, operation);
  const { owner } = key;
  if (owner === undefined) throw new ProblemError(403, "The API key does not belong to a user.");
  return (call) => operation.handle(call, owner);
}
