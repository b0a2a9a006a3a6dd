// A bulk edit: gives the role in the second argument to all who hold that in the first; comments stay.
import { readFileSync, writeFileSync } from "node:fs";
import { editYaml, loadMerchants } from "rolecall";

const [held = "", added = "", ...paths] = process.argv.slice(2);
for (const { members = [] } of (await loadMerchants(paths)).merchants) {
  for (const { roles = [], origin } of members) {
    const names = roles.map(({ role }) => role);
    if (!names.includes(held) || names.includes(added)) continue;
    const path = [...origin.path, "roles"];
    const edited = editYaml(readFileSync(origin.file, "utf8"), [{ kind: "append", path, value: added }]);
    if ("text" in edited) writeFileSync(origin.file, edited.text);
    else console.error(`${origin.file}: ${edited.refused}`);
  }
}
