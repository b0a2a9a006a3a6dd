import { z } from "zod";
import { type Member, memberSchema, type Role, roleSchema } from "./snapshot.ts";

const place = { change: z.enum(["merchant", "organization"]), of: z.string() };

const changeSchema = z.union([
  z.strictObject({ change: z.literal("counter"), counter: z.number().int().min(0) }),
  z.strictObject({ ...place, member: memberSchema.readonly() }),
  z.strictObject({ ...place, role: roleSchema.readonly() }),
  z.strictObject({ ...place, gone: z.string() }),
  z.strictObject({ ...place, first: z.string() }),
]);

/** One change of the state, as a state file has it behind the state that it follows. */
export type Change =
  | { readonly change: "counter"; readonly counter: number }
  | {
      readonly change: "merchant" | "organization";
      readonly of: string;
      /** Added, or put in the place of the one with this id. */
      readonly member?: Member;
      readonly role?: Role;
      /** Id of a member or a role. */
      readonly gone?: string;
      /** Id of the member that is listed first from now on. */
      readonly first?: string;
    };

/** What every line of a change begins with, and no line of a state. */
export const CHANGE_MARK = '{"change":';

/** Reads one line; null where it is none. */
export function parseChange(line: string): Change | null {
  try {
    return changeSchema.safeParse(JSON.parse(line)).data ?? null;
  } catch {
    return null;
  }
}
