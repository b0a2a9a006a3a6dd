import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type LoggedRequest, writesIn } from "./probes.ts";
import { type Ended, type RunningSandbox, type RunOptions, rolecall, startSandbox } from "./rolecall.ts";

/** A folder with files, and a sandbox beside it, as somebody at work has them. */
export interface Shop {
  readonly sandbox: RunningSandbox;
  readonly folder: string;
  write(file: string, text: string): Promise<void>;
  /** Runs the program in the folder, with the owner's key. */
  run(args: readonly string[], env?: RunOptions["env"], waitFactor?: number): Promise<Ended>;
  /** A request as somebody else, or to a control route: below `/_sandbox`. */
  control(method: string, path: string, body?: object): Promise<unknown>;
  /** Every request so far that was to change something, but for those of somebody else and probes of permissions. */
  writes(): Promise<readonly string[]>;
  stop(): Promise<void>;
}

/** Starts a sandbox with a seed; `options` are those of the sandbox. */
export async function openShop(seed: string, options: Pick<RunOptions, "sleep" | "now"> = {}): Promise<Shop> {
  const cwd = await mkdtemp(join(tmpdir(), "rolecall-shop-"));
  await writeFile(join(cwd, "seed.yaml"), seed);
  const sandbox = await startSandbox(["--seed", join(cwd, "seed.yaml")], options);
  const control: Shop["control"] = async (method, path, body) => {
    const answer = await fetch(`${sandbox.url}/_sandbox${path}`, {
      method,
      ...(body && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return JSON.parse((await answer.text()) || "null");
  };
  return {
    sandbox,
    folder: cwd,
    control,
    write: (file, text) => writeFile(join(cwd, file), text),
    run: (args, env = {}, waitFactor = 1) =>
      rolecall(args, { cwd, env: { ...sandbox.env, ...env }, waitFactor }),
    writes: async () => {
      const { items } = (await control("GET", "/requests")) as { readonly items: readonly LoggedRequest[] };
      return writesIn(items);
    },
    stop: async () => {
      await sandbox.stop();
      await rm(cwd, { recursive: true });
    },
  };
}
