import { open } from "node:fs/promises";

/** Keeps what was made or renamed in a folder from being lost with the power. */
export async function syncFolder(folder: string): Promise<void> {
  // Windows cannot open folders, and needs no such step.
  const handle = await open(folder, "r").catch(() => null);
  try {
    await handle?.sync();
  } finally {
    await handle?.close();
  }
}
