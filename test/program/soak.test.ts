import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runSoak } from "../soak/run-soak.ts";

test("a round of plans, applies and drifts beside a watching program leaves no socket, descriptor or timer open", async () => {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-soak-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const told: string[] = [];
  const output = join(folder, "soak.csv");
  const { rounds, broken } = await runSoak({
    minutes: 0,
    every: 1,
    seed: 1,
    output,
    tell: (line) => void told.push(line),
  });
  expect(broken, told.join("\n")).toEqual([]);
  expect(rounds).toBe(1);
  const [columns = "", row = ""] = readFileSync(output, "utf8").split("\n");
  expect(row.split(",")).toHaveLength(columns.split(",").length);
});
