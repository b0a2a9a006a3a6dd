import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { CronJob } from "kubernetes-models/batch/v1/CronJob";
import { Job } from "kubernetes-models/batch/v1/Job";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";

const run = promisify(execFile);
const ROOT = resolve(import.meta.dirname, "../..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

const KINDS = { "apply.yaml": Job, "drift.yaml": CronJob } as const;
const FILES = Object.keys(KINDS) as readonly (keyof typeof KINDS)[];
const documents = Object.fromEntries(FILES.map((name) => [name, parse(read(`examples/kubernetes/${name}`))]));
const dockerfile = read("Dockerfile");

/** Returns the specification of a document's pods. */
const podOf = (name: string) => {
  const { spec } = documents[name];
  return (spec.jobTemplate?.spec ?? spec).template.spec;
};

describe.each(FILES)("examples/kubernetes/%s", (name) => {
  test("keeps to the schema of Kubernetes", () => {
    const validate = (document: object): void => new KINDS[name](document as never).validate();
    validate(documents[name]);
    const wrong = structuredClone(documents[name]);
    (wrong.spec.jobTemplate?.spec ?? wrong.spec).template.spec.containers[0].args = "drift";
    expect(() => validate(wrong)).toThrow("args must be array");
  });

  test("runs without any right that it does not need", () => {
    const pod = podOf(name);
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      restartPolicy: "Never",
      securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
    });
    expect(pod.containers[0].securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
  });

  test("runs the image as the user that it has, and writes only where a volume is", () => {
    const pod = podOf(name);
    const [, user] = /^USER (\d+):\d+$/m.exec(dockerfile) ?? [];
    expect(pod.securityContext.runAsUser).toBe(Number(user));
    const { version } = JSON.parse(read("package.json"));
    expect(pod.containers[0].image).toMatch(new RegExp(`:${version.replaceAll(".", "\\.")}$`));
    for (const { mountPath } of pod.containers[0].volumeMounts ?? [])
      expect(mountPath.startsWith(/^WORKDIR (\/work)$/m.exec(dockerfile)?.[1] ?? "?")).toBe(true);
  });
});

test("no key of the examples is one that Kubernetes does not know", async () => {
  // Validation accepts unknown keys, as the server does without field validation; the types do not.
  const folder = await mkdtemp(join(ROOT, "node_modules/.kubernetes-"));
  const lines = FILES.map((name, index) => {
    const kind = documents[name].kind;
    return `import type { I${kind} } from "kubernetes-models/batch/v1/${kind}";
export const document${index}: I${kind} = ${JSON.stringify(documents[name])};`;
  });
  const check = async (text: string): Promise<string> => {
    await writeFile(join(folder, "documents.ts"), text);
    const options = ["--ignoreConfig", "--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext"];
    const args = [...options, "--types", "", join(folder, "documents.ts")];
    return run(join(ROOT, "node_modules/.bin/tsc"), args).then(
      ({ stdout }) => stdout,
      ({ stdout }) => stdout,
    );
  };
  expect(await check(lines.join("\n"))).toBe("");
  expect(await check(lines.join("\n").replace('"restartPolicy"', '"restartPolice"'))).toContain(
    "restartPolice",
  );
  await rm(folder, { recursive: true });
});

test("an apply has as many parts as shards, and time to finish what is in flight", () => {
  const { spec } = documents["apply.yaml"];
  expect(spec.completionMode).toBe("Indexed");
  const [container] = spec.template.spec.containers;
  const shards = container.env.find(({ name }: { name: string }) => name === "SHARDS");
  expect(shards.value).toBe(String(spec.completions));
  expect(container.command.join(" ")).toContain(
    'exec rolecall apply --yes --shard "$((JOB_COMPLETION_INDEX + 1))/$SHARDS"',
  );
  expect(spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(60);
});

test("checks for drift do not overlap, and are not tried again", () => {
  const { spec } = documents["drift.yaml"];
  expect(spec.concurrencyPolicy).toBe("Forbid");
  expect(spec.jobTemplate.spec.backoffLimit).toBe(0);
});
