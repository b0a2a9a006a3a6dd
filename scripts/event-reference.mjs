/** The listeners of each source of events. */
const TITLES = {
  report: "Before and after an apply",
  apply: "Apply of one merchant",
  journal: "Lines of a journal",
  service: "Requests to the service",
};

const INTRODUCTIONS = {
  report: "Part of the JSON stream; in text mode, their content is part of the output.",
  apply: "Part of the JSON stream. The text log and the progress display use them, too.",
  journal: "In `.rolecall/runs/<run>-<merchant>.jsonl`. [Journals and undo](undo.md) explains their use.",
  service: "For the text log and the progress display on stderr only.",
};

/** Returns the reference of events as Markdown: a hand-written head, then each event of the registry. Pure. */
export function eventReference(head, events) {
  return [
    "<!-- Made by scripts/docs.mjs from docs/src/events.md and src/model/event-registry.ts: change those. -->",
    head.trim(),
    ...Object.keys(TITLES).flatMap((source) => [
      `## ${TITLES[source]}`,
      INTRODUCTIONS[source],
      ...Object.entries(events[source]).map(section),
    ]),
  ]
    .join("\n\n")
    .concat("\n");
}

function section([type, { level, doc, fields }]) {
  const rows = Object.entries(fields).map(([field, text]) => `| \`${field}\` | ${text} |`);
  return `### \`${type}\` (${level})\n\n${doc}\n\n| Field | Description |\n| --- | --- |\n${rows.join("\n")}`;
}
