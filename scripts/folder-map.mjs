import { posix } from "node:path";
import { importsBetweenFolders } from "./sources.mjs";

const [START, END] = ["<!-- The map: made by scripts/docs.mjs. -->", "<!-- End of the map. -->"];

/**
 * Puts the map of the sources into a page, between its marks: what each folder does, by `sentences`, and which folders
 * it imports. A folder without a sentence, or a sentence without its folder, is an error. Pure.
 */
export function withFolderMap(page, sources, sentences) {
  const [start, end] = [page.indexOf(START), page.indexOf(END)];
  if (start < 0 || end < start) throw new Error(`The page needs the lines ${START} and ${END}`);
  const folders = [...new Set(sources.map(({ path }) => posix.dirname(path)))];
  const lacking = folders.filter((folder) => !sentences[folder]);
  const stale = Object.keys(sentences).filter((folder) => !folders.includes(folder));
  const wrong = [
    ...(lacking.length > 0 ? [`no sentence for ${lacking.join(", ")}`] : []),
    ...(stale.length > 0 ? [`one for ${stale.join(", ")}, which is no folder`] : []),
  ];
  if (wrong.length > 0) throw new Error(`scripts/folders.json has ${wrong.join(", and has ")}`);
  return `${page.slice(0, start)}${START}\n${tableOf(folders, importsBetweenFolders(sources), sentences)}\n${page.slice(end)}`;
}

/** Lists folders after those that they import, without the arrows that follow from others. */
function tableOf(folders, imports, sentences) {
  const targets = (folder) => [...(imports.get(folder)?.keys() ?? [])];
  const reach = new Map(folders.map((folder) => [folder, reachedFrom(folder, targets)]));
  const isImplied = (to, others) =>
    others.some((other) => other !== to && reach.get(other).has(to) && !reach.get(to).has(other));
  const rows = folders
    .sort((a, b) => reach.get(a).size - reach.get(b).size || (a < b ? -1 : 1))
    .map((folder) => {
      const arrows = targets(folder).filter((to, _, others) => !isImplied(to, others));
      return `| \`${folder}\` | ${sentences[folder]} | ${arrows
        .sort()
        .map((to) => `\`${to}\``)
        .join(", ")} |`;
    });
  return ["| Folder | Does | Imports, besides what these import |", "|---|---|---|", ...rows].join("\n");
}

function reachedFrom(folder, targets) {
  const reached = new Set(targets(folder));
  for (const next of reached) for (const to of targets(next)) reached.add(to);
  return reached;
}
