import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { RolecallError } from "../../model/errors.ts";

/** Returns a path in rolecall's own package, whether this runs from the sources or from the build. */
export function packagePath(path: string): string {
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    const found = join(folder, path);
    if (existsSync(found)) return found;
    if (dirname(folder) === folder) {
      throw new RolecallError("file-unreadable", `This installation of rolecall has no ${path}.`, {
        hint: "Reinstall the package.",
      });
    }
  }
}
