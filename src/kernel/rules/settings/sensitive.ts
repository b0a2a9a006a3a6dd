import { compileGlob } from "../../../lib/glob.ts";
import type { ProjectSettings } from "../../../model/desired.ts";

/** The name that stands for all sensitive permissions. */
export const SENSITIVE = "sensitive";

/** The sensitive permissions of a project that lists none: those that control access, keys, the account or money. */
export const DEFAULT_SENSITIVE: readonly string[] = [
  "*{member,role,key,owner,merchant,payout,bank_account,refund}*",
  "!*[._:-]{view,read,readonly,list,get,export}",
];

/** Returns a function that tests whether a permission is sensitive in one of the projects, or by default. */
export function sensitiveIn(projects: readonly ProjectSettings[] = []): (permission: string) => boolean {
  const lists = projects.length === 0 ? [DEFAULT_SENSITIVE] : projects.map(listOf);
  const tests = lists.map((list) => ({
    includes: globsOf(list.filter((glob) => !glob.startsWith("!"))),
    excludes: globsOf(list.flatMap((glob) => (glob.startsWith("!") ? [glob.slice(1)] : []))),
  }));
  return (permission) =>
    tests.some(({ includes, excludes }) => includes(permission) && !excludes(permission));
}

function listOf({ sensitive = DEFAULT_SENSITIVE }: ProjectSettings): readonly string[] {
  return sensitive;
}

/** Returns a function that tests whether any of some globs matches a text, ignoring case. */
export function globsOf(globs: readonly string[]): (text: string) => boolean {
  const compiled = globs.map((glob) => compileGlob(glob.toLowerCase()));
  return (text) => compiled.some((matches) => matches(text.toLowerCase()));
}
