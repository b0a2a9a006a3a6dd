import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../support/property-runs.ts";
import { gitIn, openShopRepository, type ShopRepository } from "../support/shop-repository.ts";

const BIN = resolve(import.meta.dirname, "../../dist/bin.js");

/** Twenty jobs with `npm run fuzz`. */
const CODES = Array.from({ length: Math.min(20, runs(4)) }, (_, index) => `MC${index}`);

const SEED = `merchants:
${CODES.map((code) => `  - code: ${code}\n    members: [{ email: ada@example.com, roles: [role_owner] }]\n`).join("")}keys:
  - { key: sk_test_sandbox, owner: ada@example.com }
`;

const FILES = CODES.map((code) => {
  const members = ["ada@example.com, roles: [role_owner]", "ben@example.com, roles: [role_employee]"];
  const text = members.map((member) => `  - { email: ${member} }\n`).join("");
  return [`access/${code}.yaml`, `version: 1\nmerchant: ${code}\nmembers:\n${text}`] as const;
});

const KEY = { ROLECALL_APPROVAL_SECRET: "0123456789abcdef0123456789abcdef" };

/** A job in a clone of its own. */
interface Job {
  readonly code: string;
  readonly folder: string;
}

/** Runs the program with a merchant's file, and kills it after a time in ms; `null` never. */
async function work({ code, folder }: Job, shop: ShopRepository, killAfter: number | null): Promise<boolean> {
  const args = ["apply", "--yes", "--merchant", code, "--records", "push"];
  const env = { ...process.env, ...shop.sandbox.env, ...KEY };
  const child = spawn(process.execPath, [BIN, ...args], {
    cwd: folder,
    env,
    detached: true,
    stdio: "ignore",
  });
  const ended = once(child, "close");
  const timer =
    killAfter === null ? undefined : setTimeout(() => process.kill(-(child.pid ?? 0), "SIGKILL"), killAfter);
  const [exit] = (await ended) as [number | null];
  clearTimeout(timer);
  expect(exit === null || exit === 0, `${code} ended with ${exit}`).toBe(true);
  return exit === 0;
}

/** Returns the outcomes that the repository has for a merchant. */
function outcomes(remote: string, code: string): readonly string[] {
  const refs = gitIn(remote, ["for-each-ref", "--format=%(contents)%00", "refs/rolecall/runs"]).split("\0");
  return refs.flatMap((message) =>
    message.includes(`\nMerchant: ${code}\n`) ? (/^Outcome: (.*)$/m.exec(message)?.[1] ?? []) : [],
  );
}

test("of concurrent jobs that kill -9 ends at any moment, every run that ended has one record, and the next one adds what is missing", async () => {
  const shop = await openShopRepository(SEED, Object.fromEntries(FILES));
  const { remote } = shop;
  const root = await mkdtemp(join(tmpdir(), "rolecall-jobs-"));
  try {
    const others = (): string =>
      gitIn(remote, ["for-each-ref"])
        .split("\n")
        .filter((line) => !line.includes("refs/rolecall/"))
        .join("\n");
    const before = others();
    const jobs = CODES.map((code): Job => ({ code, folder: join(root, code) }));
    for (const { folder } of jobs) gitIn(root, ["clone", "--quiet", remote, folder]);
    const started = performance.now();
    const [first, ...rest] = jobs as [Job, ...Job[]];
    expect(await work(first, shop, null)).toBe(true);
    // The others work side by side, and take longer than one alone.
    const most = 2 * (performance.now() - started);
    const sampled = fc.sample(
      fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { freq: 4 }),
      rest.length,
    );
    const moments = [0.25, ...sampled];
    const ends = await Promise.all(
      rest.map((job, index) => {
        const moment = moments[index] ?? null;
        return work(job, shop, moment === null ? null : most * moment);
      }),
    );
    expect(ends[0]).toBe(false);
    for (const [index, { code }] of rest.entries()) {
      const found = outcomes(remote, code);
      expect(found.length, code).toBeLessThanOrEqual(1);
      if (ends[index]) expect(found, code).toEqual(["done"]);
    }
    const verify = async () => (await shop.run(["runs", "verify"], KEY)).code;
    expect(await verify()).toBe(0);
    for (const [index, job] of rest.entries()) {
      if (ends[index]) continue;
      await appendFile(
        join(job.folder, "access", `${job.code}.yaml`),
        "  - { email: cy@example.com, roles: [role_employee] }\n",
      );
      expect(await work(job, shop, null)).toBe(true);
      const found = outcomes(remote, job.code);
      expect([found.length <= 2, found.includes("began")], `${job.code}: ${found}`).toEqual([true, false]);
    }
    expect(await verify()).toBe(0);
    expect(others()).toBe(before);
    expect(gitIn(remote, ["fsck", "--no-dangling"])).toBe("");
  } finally {
    await shop.stop();
    await rm(root, { recursive: true });
  }
});
