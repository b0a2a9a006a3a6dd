import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join, posix, relative, resolve, sep } from "node:path";
import { loadMerchants } from "../../config/load-merchants.ts";
import type { ReadSource } from "../../config/load-sources.ts";
import type { DesiredState } from "../../model/desired.ts";
import { judgeDeclared } from "../../plan/judge/judge-rules.ts";
import type { UnmanagedMerchant } from "../../render/markdown/review-sections.ts";
import type { PlanView } from "../../render/view/plan-view.ts";
import type { RiskItem } from "../../render/view/risk-view.ts";
import type { ActionContext } from "../action-context.ts";
import type { EventContext, PullContext } from "../github/event-context.ts";
import { type Github, GithubError } from "../github/github-api.ts";
import type { LoadedFiles } from "../load-and-plan.ts";
import { maskAddresses } from "./mask-addresses.ts";

/**
 * Loads the files of a pull request's base branch. They are read through the API, unless the checkout has the same
 * content. Nothing in the pull request decides what is read.
 */
export async function baseStates(
  paths: readonly string[],
  pull: PullContext,
  { sha, workspace }: Pick<EventContext, "sha" | "workspace">,
  github: Github,
  now: number,
): Promise<readonly DesiredState[]> {
  const base = await baseCommit(pull, sha, github);
  const blobs = new Map((await github.files(base)).map(({ path, blob }) => [path, blob]));
  const wanted = paths.map((path) => inRepository(path, workspace));
  const files = [...blobs.keys()].filter((file) =>
    wanted.some((path) => file === path || (isYaml(file) && isBelow(path, file))),
  );
  if (files.length === 0) return [];
  const { merchants } = await loadMerchants(files.sort(), baseReader(blobs, workspace, github), {
    now,
    judge: judgeDeclared,
  });
  return merchants.flatMap(({ state }) => state ?? []);
}

/** Returns the commit to compare with: the first parent of a trial merge, or the event's base. */
async function baseCommit(pull: PullContext, sha: string, github: Github): Promise<string> {
  const parents = sha === pull.headSha ? [] : await github.parents(sha).catch(() => []);
  const [base, head] = parents;
  return parents.length === 2 && head === pull.headSha && base ? base : pull.baseSha;
}

function baseReader(blobs: ReadonlyMap<string, string>, workspace: string, github: Github): ReadSource {
  return async (path, from) => {
    const file = posix.normalize(from === null ? path : posix.join(posix.dirname(from), path));
    const blob = blobs.get(file);
    if (blob === undefined) return { ok: false, reason: file.startsWith("..") ? "outside-root" : "missing" };
    const bytes = (await localCopy(join(workspace, file), blob)) ?? (await github.blob(blob));
    try {
      return { ok: true, file, text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
    } catch {
      return { ok: false, reason: "not-utf8" };
    }
  };
}

/** Returns a file of the checkout if its git object name matches, or `null`. */
async function localCopy(path: string, blob: string): Promise<Uint8Array | null> {
  const bytes = await readFile(path).catch(() => null);
  if (bytes === null) return null;
  const algorithm = blob.length === 64 ? "sha256" : "sha1";
  const name = createHash(algorithm).update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
  return name === blob ? bytes : null;
}

function inRepository(path: string, workspace: string): string {
  return relative(workspace, resolve(workspace, path)).split(sep).join("/");
}

function isYaml(file: string): boolean {
  return /\.ya?ml$/i.test(file) && !/(^|\/)(\.|node_modules\/)/.test(file);
}

function isBelow(folder: string, file: string): boolean {
  return folder === "" || file.startsWith(`${folder}/`);
}

/**
 * Adds the entries of `ignore` that a pull request introduces to the risks of each merchant: what they match is no longer
 * managed. If the base branch cannot be read (`null`), every entry counts as new.
 */
export function withNewIgnores(
  views: readonly PlanView[],
  head: readonly DesiredState[],
  base: readonly DesiredState[] | null,
  context: ActionContext,
): readonly PlanView[] {
  const ignoring = head.filter(({ ignore }) => ignore.roles.length + ignore.members.length > 0);
  if (context.event.pull === null || ignoring.length === 0) return views;
  const risks = newIgnores(ignoring, base ?? []);
  return views.map((view) => {
    const items = risks.get(view.merchant) ?? [];
    const shown = context.masked ? maskAddresses(items) : items;
    return items.length === 0
      ? view
      : { ...view, risks: [...view.risks, { kind: "ignored", items: shown, origin: "plan" }] };
  });
}

/** Returns the merchants of the base branch that no file of the pull request declares; none if some are left out. */
export function goneMerchants(
  { states, valid }: Pick<LoadedFiles, "states" | "valid">,
  base: readonly DesiredState[] | null,
  { inputs }: ActionContext,
): readonly UnmanagedMerchant[] {
  if (!valid || inputs.merchants.length > 0 || inputs.shard !== null) return [];
  const head = new Set(states.map(({ merchant }) => merchant));
  return (base ?? []).flatMap(({ merchant, origin }) =>
    head.has(merchant) ? [] : { merchant, reason: `was declared in ${origin.file}` },
  );
}

/** Loads the files of the base branch; `null` without a pull request, or if they cannot be read. */
export async function readableBase({
  inputs,
  event,
  github,
  io,
  log,
}: ActionContext): Promise<readonly DesiredState[] | null> {
  const { pull } = event;
  if (pull === null) return null;
  try {
    return await baseStates(inputs.paths, pull, event, github, io.now());
  } catch (error) {
    if (!(error instanceof GithubError)) throw error;
    log.notice(
      "The base branch could not be read (contents: read): every entry of ignore is shown as new, and removed merchants are not shown.",
    );
    return null;
  }
}

/** Returns the entries of `ignore` that the base does not have, by merchant. */
function newIgnores(
  head: readonly DesiredState[],
  base: readonly DesiredState[],
): ReadonlyMap<string, readonly RiskItem[]> {
  const before = new Map(base.map(({ merchant, ignore }) => [merchant, ignore]));
  return new Map(
    head.map(({ merchant, ignore }) => {
      const was = before.get(merchant);
      const added = (["role", "member"] as const).flatMap((resource) => {
        const key = `${resource}s` as const;
        const known = new Set(was?.[key]);
        return ignore[key].filter((pattern) => !known.has(pattern)).map((pattern) => ({ pattern, resource }));
      });
      const items = added.map(({ pattern, resource }): RiskItem => {
        return { name: pattern, what: `matching ${resource}s are no longer managed`, resource };
      });
      return [merchant, items];
    }),
  );
}
