import { expect, test } from "vitest";
import { sourceFiles } from "./support/source-files.ts";

/** What a layer may import besides itself: layers, their rooms and files, and packages. "!" takes one out. */
const LAYERS: Readonly<Record<string, string>> = {
  lib: "",
  model: "",
  config: "lib model js-yaml yaml zod",
  plan: "lib model node:crypto",
  live: "lib model undici zod",
  apply: "lib model",
  render: "!render/tui lib model diff",
  "render/html": "render !render/tui !render/html/client lib model node:crypto",
  "render/html/client": "lib render/html/page-data.ts",
  "render/tui": "render !render/html lib model ink react string-width",
  sandbox: "hono @hono/node-server yaml zod node:http node:crypto",
  cli: "lib model config plan live apply render sandbox node: commander @bomb.sh/tab ../package.json",
  action:
    "lib model config plan render !render/tui cli !cli/commands node: @actions/core @actions/github/lib/utils yaml zod",
  "bin.ts": "cli/io",
  api: "lib model config plan live apply render !render/tui !render/html/client cli !cli/commands",
  "index.ts": "api model config plan cli/session",
};

const isIn = (path: string, room: string): boolean =>
  path === room || path.startsWith(room.endsWith(":") ? room : `${room}/`);

/** Returns the narrowest of the rooms that a path is in. */
const roomOf = (path: string, rooms: readonly string[]): string | undefined =>
  rooms.filter((room) => isIn(path, room.replace("!", ""))).sort((a, b) => b.length - a.length)[0];

test("every layer imports only what it may", () => {
  const wrong = sourceFiles().flatMap(({ path, imports }) => {
    const layer = roomOf(path, Object.keys(LAYERS)) ?? "";
    const allowed = [layer, ...(LAYERS[layer] ?? "").split(" ")];
    const forbidden = imports.filter(({ to }) => (roomOf(to, allowed) ?? "!").startsWith("!"));
    return forbidden.map(({ to }) => `${path} imports ${to}`);
  });
  expect(wrong).toEqual([]);
});
