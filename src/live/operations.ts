/** The operations of the contract, with the permission, or for the caller's own the scope, that a key needs for each. */
export const OPERATIONS = {
  "list roles": "roles_list",
  "create a role": "roles_create",
  "retrieve a role": "roles_view",
  "update a role": "roles_update",
  "delete a role": "roles_delete",
  "list members": "merchant_read",
  "create a member": "members_create",
  "retrieve a member": "members_view",
  "update a member": "members_update",
  "delete a member": "members_delete",
  "list memberships": "user.profile or user.profile_readonly",
} as const;

/** One operation of the contract. */
export type Operation = keyof typeof OPERATIONS;

/** Whether an operation is about one role or member that is there already. */
export function isAboutOne(operation: Operation): boolean {
  return /^(?:retrieve|update|delete) /.test(operation);
}
