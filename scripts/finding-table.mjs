const [START, END] = ["<!-- The findings: made by scripts/docs.mjs. -->", "<!-- End of the findings. -->"];

/** Puts the table of a plan's findings into a page, between its marks. Pure. */
export function withFindingTable(page, findings) {
  const [start, end] = [page.indexOf(START), page.indexOf(END)];
  if (start < 0 || end < start) throw new Error(`The page needs the lines ${START} and ${END}`);
  const rows = findings.map(({ code, severity, summary }) => `| \`${code}\` | ${severity} | ${summary} |`);
  const table = ["| Code | Severity | Meaning |", "| --- | --- | --- |", ...rows].join("\n");
  return `${page.slice(0, start)}${START}\n${table}\n${page.slice(end)}`;
}
