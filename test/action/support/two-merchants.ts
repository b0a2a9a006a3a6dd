import { expect } from "vitest";
import { type FileChanges, openStory, type Story } from "./story.ts";

const SEED = `merchants:
  - { code: MC1, members: [{ email: ada@example.com, roles: [role_owner] }] }
  - { code: MC2, members: [{ email: ada@example.com, roles: [role_owner] }] }
keys:
  - { key: sk_test_sandbox, owner: ada@example.com }
`;

/** The file that both merchants include. */
export const SHARED = "shared/night.yaml";

/** The path of a merchant's file. */
export const file = (merchant: string): string => `access/${merchant.toLowerCase()}.yaml`;

/** A section of roles with these names. */
export const roles = (...names: readonly string[]): string =>
  `roles:\n${names.map((name) => `  - { name: ${name}, permissions: [catalog_view] }\n`).join("")}`;

/** A merchant's file with roles of its own. */
export const merchant = (
  code: string,
  ...names: readonly string[]
): FileChanges & Record<string, string> => ({
  [file(code)]:
    `version: 1\nmerchant: ${code}\ninclude: [../${SHARED}]\n${names.length > 0 ? roles(...names) : ""}`,
});

/** Begins a story of two merchants with a shared role, which have been applied: two writes. */
export async function openTwoMerchants(): Promise<Story> {
  const files = {
    ...(merchant("MC1") as Record<string, string>),
    ...(merchant("MC2") as Record<string, string>),
    [SHARED]: `version: 1\n${roles("Night")}`,
  };
  const story = await openStory(SEED, { "README.md": "Access.\n" });
  await mergeReviewed(story, files);
  const first = await story.apply();
  expect(first.outputs["result"]).toBe("applied");
  return story;
}

/** Opens a pull request, plans, approves and merges it. */
export async function mergeReviewed(
  story: Story,
  files: FileChanges,
  method?: Parameters<Story["merge"]>[1],
): Promise<{ readonly pull: number; readonly sha: string }> {
  const pull = await story.openPull(files);
  expect((await story.plan(pull)).outputs["failure-reason"]).toBe("");
  await story.review(pull, "APPROVED");
  return { pull, sha: await story.merge(pull, method) };
}
