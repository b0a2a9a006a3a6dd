import { realpathSync } from "node:fs";
import { delimiter, join } from "node:path";
import { shellWord } from "../../lib/text.ts";

/** Returns how a shell runs this program in any folder: by its name only if it is installed on the path. */
export function programName(path: string): string {
  const script = realpathSync(process.argv[1] ?? "");
  const isOnPath = path.split(delimiter).some((folder) => {
    // npm adds such folders for the commands that it runs.
    if (folder.endsWith(join("node_modules", ".bin"))) return false;
    try {
      return realpathSync(join(folder, "rolecall")) === script;
    } catch {
      return false;
    }
  });
  return isOnPath ? "rolecall" : `node ${shellWord(script)}`;
}
