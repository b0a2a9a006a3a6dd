import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { openShop } from "../../support/shop.ts";

const SEED = `merchants:
  - code: MC1
    members:
      - { email: ada@example.com, roles: [role_owner] }
keys:
  - { key: sk_test_sandbox, owner: ada@example.com }
`;
const HEAD = "version: 1\nmerchant: MC1\nmembers:\n  - { email: ada@example.com, roles: [role_owner] }\n";

test("a plan of what a branch changes tells what is looser than at the commit, in text and Markdown", async () => {
  const shop = await openShop(SEED);
  const git = (...args: readonly string[]) =>
    execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@example.com", ...args], {
      cwd: shop.folder,
      env: { PATH: process.env["PATH"], HOME: shop.folder },
    });
  await shop.write(
    "shop.yaml",
    `${HEAD}guards: { max_removals: 2, protect: { members: [ada@example.com] } }\n`,
  );
  git("init", "--quiet", "-b", "main");
  git("add", ".");
  git("commit", "--quiet", "-m", "all");
  await shop.write("shop.yaml", `${HEAD}guards: { max_removals: 9 }\n`);
  const plan = (...args: readonly string[]) => shop.run(["plan", "shop.yaml", ...args]);
  const text = await plan("--changed-since", "HEAD");
  expect(text.code).toBe(0);
  expect(text.stdout).toContain(
    "Rules: 2 looser than on the base branch\n  ! MC1: at most 2 → 9 may be removed\n  ! MC1: the member ada@example.com is no longer protected\n",
  );
  const markdown = await plan("--changed-since", "HEAD", "--format", "markdown");
  expect(markdown.stdout).toContain("## ⚠️ rolecall plan: no changes, with looser rules");
  expect(markdown.stdout).toContain("! MC1: at most 2 → 9 may be removed\n");
  expect((await plan()).stdout).not.toContain("Rules");
  await shop.stop();
});
