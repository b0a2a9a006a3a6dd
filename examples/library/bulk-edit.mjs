// A bulk edit: gives the role in the second argument to everybody who holds the role in the first, and keeps comments.
import { readFileSync, writeFileSync } from "node:fs";
import { editYaml, loadMerchants } from "rolecall";

const [held = "", added = "", ...paths] = process.argv.slice(2);
// Several merchants may include one file: each entry is edited once.
const edited = new Set();
for (const { members = [] } of (await loadMerchants(paths)).merchants) {
  for (const { roles = [], origin } of members) {
    const names = roles.map(({ role }) => role);
    const entry = [origin.file, ...origin.path].join("/");
    if (!names.includes(held) || names.includes(added) || edited.has(entry)) continue;
    edited.add(entry);
    const path = [...origin.path, "roles"];
    const result = editYaml(readFileSync(origin.file, "utf8"), [{ kind: "append", path, value: added }]);
    if ("text" in result) writeFileSync(origin.file, result.text);
    else console.error(`${origin.file}: ${result.refused}`);
  }
}
