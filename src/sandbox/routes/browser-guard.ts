import { ProblemError } from "../answer.ts";
import type { SandboxContext } from "../world.ts";

/** Says whether a host name can only mean this machine. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[(.*)\]$/, "$1");
  return name === "localhost" || name === "::1" || /^127(\.\d{1,3}){3}$/.test(name);
}

function hostName(header: string): string {
  return /^(\[[^\]]*\]|[^:]*)(:\d*)?$/.exec(header)?.[1] ?? header;
}

/** Refuses what a web page could send to a control route: a foreign Host (DNS rebinding) or an Origin. */
export function guardControl(c: SandboxContext, anyHost: boolean): void {
  if (c.req.header("origin") !== undefined) {
    throw new ProblemError(403, "Control routes cannot be used from a web page.");
  }
  const host = c.req.header("host");
  // Without a socket there is no Host header, and nobody else who could have sent the request.
  if (anyHost || host === undefined || isLoopback(hostName(host))) return;
  throw new ProblemError(403, "Control routes answer on loopback host names only.");
}
