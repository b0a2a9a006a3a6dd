const [START, END] = ["<!-- The formats: made by scripts/docs.mjs. -->", "<!-- End of the formats. -->"];

/** Puts the table of formats into a page, between its marks, with the commands whose help offers each. Pure. */
export function withFormatTable(page, formats, commands) {
  const [start, end] = [page.indexOf(START), page.indexOf(END)];
  if (start < 0 || end < start) throw new Error(`The page needs the lines ${START} and ${END}`);
  const offered = commands.map(({ name, help }) => ({ name, names: formatsIn(help) }));
  const rows = formats
    .filter(({ name }) => name !== "text")
    .map(({ name, use }) => {
      const names = offered
        .filter((command) => command.names.includes(name))
        .map((command) => `\`${command.name}\``);
      return `| \`${name}\` | ${names.join(", ")} | ${use} |`;
    });
  const table = ["| Format | Commands | Shown by |", "| --- | --- | --- |", ...rows].join("\n");
  return `${page.slice(0, start)}${START}\n${table}\n${page.slice(end)}`;
}

function formatsIn(help) {
  const [, option = ""] = /--format <format>([\s\S]*?)default:/.exec(help) ?? [];
  const [, choices = ""] = /choices:([\s\S]*)/.exec(option) ?? [];
  return [...choices.matchAll(/"(\w+)"/g)].map(([, name]) => name);
}
