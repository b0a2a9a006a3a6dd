// Loaded with `--import` into a process that is measured; answers each message on its IPC channel with what it uses.
import { readdirSync } from "node:fs";

/** The open file descriptors, less the one of the listing; null where the system does not tell. */
function descriptors() {
  try {
    return readdirSync("/proc/self/fd").length - 1;
  } catch {
    return null;
  }
}

async function measure() {
  // A second collection, a turn later, takes what finalizers of the first have let go.
  globalThis.gc();
  await new Promise((resolve) => setImmediate(resolve));
  globalThis.gc();
  const { rss, heapUsed, external } = process.memoryUsage();
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  const active = process.getActiveResourcesInfo();
  const count = (type) => active.filter((name) => name === type).length;
  const [sockets, timers] = [count("TCPSocketWrap"), count("Timeout")];
  const cpuMs = Math.round((userCPUTime + systemCPUTime) / 1000);
  return { type: "usage", rss, heap: heapUsed, external, fds: descriptors(), sockets, timers, cpuMs };
}

process.on("message", (message) => {
  if (message === "measure") void measure().then((usage) => process.send(usage));
});
// A listener keeps the channel open; the process is to end as if there were none.
process.channel.unref();
