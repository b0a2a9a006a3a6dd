import { execFileSync } from "node:child_process";

/** A Node that the action is run with. */
export interface NodeUnderTest {
  readonly name: string;
  readonly path: string;
  readonly newest: boolean;
}

/** The running Node, and the one that GitHub's runners have, where ROLECALL_NODE24 says where it is. */
export function nodesUnderTest(): readonly NodeUnderTest[] {
  const node24 = process.env["ROLECALL_NODE24"];
  if (!node24) {
    console.warn(
      "ROLECALL_NODE24 is not set: the action is tested on the running Node only, not on Node 24.",
    );
  }
  const paths = node24 ? [process.execPath, node24] : [process.execPath];
  return paths.map((path, index) => ({
    name: `Node ${execFileSync(path, ["--version"], { encoding: "utf8" }).trim()}`,
    path,
    newest: index === paths.length - 1,
  }));
}
