/** The texts of commands that replace the notes at the end of their help. */
const INSTEAD_OF_NOTES = { sandbox: "Seeds, control routes and faults: [The sandbox](sandbox.md)." };

/**
 * Returns the reference of commands as Markdown: a hand-written head, then a section for each command, made from what
 * its `--help` prints. Pure; the same inputs give the same text.
 */
export function commandReference(head, helps) {
  return [
    "<!-- Made by scripts/docs.mjs from docs/src/commands.md and the program's own help: change those. -->",
    head.trim(),
    ...helps.flatMap(({ name, help }) => section(name, help)),
  ]
    .join("\n\n")
    .concat("\n");
}

/** Returns the names of the commands that the program's help lists, without `help` itself. */
export function commandNames(help) {
  const lists = help.match(/^(?:Daily|Questions|Set-up):\n(?: .*\n)+/gm) ?? [];
  return lists
    .flatMap((list) => [...list.matchAll(/^ {2}([a-z]+)\b/gm)].map(([, name]) => name))
    .filter((name) => name !== "help");
}

function section(name, help) {
  const [usage = "", description = "", ...rest] = help.trim().split("\n\n");
  const parts = new Map(rest.slice(0, 2).map((part) => [part.split("\n")[0], part]));
  const notes = rest.filter((part) => !/^(?:Arguments|Options):\n/.test(part));
  return [
    `## ${name}`,
    joined(description),
    `\`\`\`text\n${usage.replace("Usage: ", "")}\n\`\`\``,
    ...table("Argument", parts.get("Arguments:") ?? ""),
    ...table("Option", parts.get("Options:") ?? ""),
    ...(name in INSTEAD_OF_NOTES ? [examples(notes), INSTEAD_OF_NOTES[name]] : notes.map(note)),
  ];
}

function examples(notes) {
  return note(notes.find((part) => part.startsWith("Examples:")) ?? "");
}

/** A paragraph of the help: prose as prose, anything indented as it is printed. */
function note(part) {
  const [first = "", ...lines] = part.split("\n");
  if (!lines.some((line) => line.startsWith(" "))) return plain(joined(part));
  if (first.startsWith(" ")) return block(part);
  return `${plain(first)}\n\n${block(lines.join("\n"))}`;
}

function block(text) {
  return `\`\`\`text\n${text.replaceAll(/^ {2}/gm, "")}\n\`\`\``;
}

/** Returns a list of the help as a table; nothing if only `--help` is in it. */
function table(head, part) {
  const rows = entries(part)
    .filter(([term]) => term !== "-h, --help")
    .map(([term, text]) => `| \`${term}\` | ${plain(text)} |`);
  return rows.length === 0 ? [] : [[`| ${head} | Description |`, "| --- | --- |", ...rows].join("\n")];
}

/** The terms of a list in a help, each with its text, which may go on below it. */
function entries(part) {
  const found = [];
  for (const line of part.split("\n").slice(1)) {
    const [, term, text] = /^ {2}(\S.*?)(?: {2,}(.*))?$/.exec(line) ?? [];
    const last = found.at(-1);
    if (term !== undefined) found.push([term, text ?? ""]);
    else if (last) last[1] = `${last[1]} ${line.trim()}`.trim();
  }
  return found;
}

function joined(text) {
  return text.replaceAll(/\s*\n\s*/g, " ");
}

/** Escapes Markdown in a text. */
function plain(text) {
  return text.replace(/[\\<>*|[\]`]/g, "\\$&");
}
