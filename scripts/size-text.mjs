/** Describes a size as text; beside another one, only what differs from it. Pure. */
export function sizeText(now, before) {
  const figure = (value, former) =>
    number(value) + (before && value !== former ? ` (${signed(value - former)})` : "");
  const { files, lines, tokens } = now.total;
  return [
    [
      `${figure(files, before?.total.files)} files`,
      `${figure(lines, before?.total.lines)} lines`,
      `${figure(tokens, before?.total.tokens)} tokens`,
      `median file ${figure(now.medianFile, before?.medianFile)} lines`,
      `largest ${figure(now.largestFile, before?.largestFile)}`,
    ].join(", "),
    table("Folder", now.folders, before?.folders, figure),
    table("Command, with what it imports", now.commands, before?.commands, figure),
    pairs(now.mutualImports, before?.mutualImports, figure),
    table("Rule", asRows(now.filesNamingRule), before && asRows(before.filesNamingRule), figure),
    table("Field", asRows(now.filesNamingField), before && asRows(before.filesNamingField), figure),
    now.put && table("Runs for", { "one PUT": now.put }, before && { "one PUT": before.put }, figure),
  ]
    .filter(Boolean)
    .join("\n\n");
}

const number = (value) => value.toLocaleString("en-US");

const signed = (difference) => (difference < 0 ? `−${number(-difference)}` : `+${number(difference)}`);

const asRows = (files) =>
  Object.fromEntries(Object.entries(files).map(([name, count]) => [name, { files: count }]));

/** Returns a table of figures by name, without the rows that are equal, or nothing if all are. */
function table(title, now, before, figure) {
  const columns = Object.keys(Object.values({ ...before, ...now })[0] ?? {});
  const rows = [...new Set([...Object.keys(now), ...Object.keys(before ?? {})])]
    .map((name) => [
      name,
      columns.map((column) => figure(now[name]?.[column] ?? 0, before?.[name]?.[column] ?? 0)),
    ])
    .filter(([, figures]) => !before || figures.some((text) => text.includes("(")))
    .map(([name, figures]) => [name, ...figures]);
  return rows.length > 0 && aligned([[title, ...columns], ...rows]);
}

/** Aligns the first column to the left, and the others to the right. */
function aligned(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  return rows
    .map(([name, ...figures]) =>
      [name.padEnd(widths[0]), ...figures.map((text, index) => text.padStart(widths[index + 1]))].join("  "),
    )
    .join("\n");
}

function pairs(now, before, figure) {
  const gone = before?.filter((pair) => !now.includes(pair)) ?? [];
  const come = before ? now.filter((pair) => !before.includes(pair)) : now;
  if (before && gone.length + come.length === 0) return;
  return [
    `Folders that import one another: ${figure(now.length, before?.length)}`,
    ...gone.map((pair) => `- ${pair}`),
    ...come.map((pair) => `${before ? "+" : " "} ${pair}`),
  ].join("\n");
}
