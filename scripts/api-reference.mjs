/**
 * Returns the reference of the public API as Markdown: a hand-written head with the examples that it names, then each
 * function and each type of the model that the build extracts. Pure.
 */
export function apiReference(head, examples, { members: [{ members: items }] }) {
  const [functions, types] = [items.filter(isFunction), items.filter((item) => !isFunction(item))];
  return [
    "<!-- Made by scripts/docs.mjs from docs/src/api.md, examples/library and the declarations of src/index.ts: change those. -->",
    head.trim().replaceAll(/<!-- (\S+\.mjs) -->/g, (_, name) => fence("js", examples[name].trim())),
    "## Functions",
    ...functions.map(functionSection),
    "## Types",
    ...types.map(typeSection),
  ]
    .join("\n\n")
    .concat("\n");
}

const isFunction = ({ kind }) => kind === "Function";

function functionSection(item) {
  const { text, params, throws } = parsed(item.docComment);
  const given = params.map(([name, about]) => `- \`${name}\`: ${about}`);
  return [
    `### \`${item.name}\``,
    fence("ts", signature(item)),
    text,
    ...(given.length > 0 ? [given.join("\n")] : []),
    ...throws.map((about) => `Throws ${about}`),
    source(item),
  ].join("\n\n");
}

function typeSection(item) {
  const { text } = parsed(item.docComment);
  const fields = (item.members ?? []).filter(({ kind }) => kind !== "Constructor");
  const base = fields.length > 0 ? / extends (.+)$/.exec(signature(item))?.[1] : undefined;
  const about = [text, ...(base ? [`It has the fields of ${inline(base)}, too.`] : [])].join(" ").trim();
  const shape = fields.length > 0 ? table(fields) : fence("ts", signature(item));
  return [`### \`${item.name}\``, ...(about === "" ? [] : [about]), shape, source(item)].join("\n\n");
}

function table(fields) {
  const rows = fields.map((field) => {
    const name = `${field.name}${field.isOptional ? "?" : ""}`;
    const type = signature(field).replace(/^(?:readonly )?\w+\??(?:: )?/, "");
    return `| \`${name}\` | ${cell(inline(type))} | ${cell(parsed(field.docComment).text)} |`;
  });
  return ["| Field | Type | Description |", "| --- | --- | --- |", ...rows].join("\n");
}

const inline = (code) => `\`${code.replaceAll(/\s+/g, " ")}\``;
const cell = (text) => text.replaceAll("|", "\\|").replaceAll("\n", " ");
const fence = (info, text) => `\`\`\`${info}\n${text}\n\`\`\``;

/** Returns the declaration of an item without what every item has. */
function signature({ kind, name, excerptTokens }) {
  const text = excerptTokens.map((token) => token.text).join("");
  const own = text.replace(/^export (?:declare )?/, "").replace(/;?\s*$/, "");
  // The public name may be an alias.
  return kind === "Function" ? own.replace(/^function \w+/, `function ${name}`) : own;
}

/** Returns the path of the sources that an item comes from. */
function source({ fileUrlPath }) {
  const path = fileUrlPath.replace(/^dist\/types\//, "src/").replace(/\.d\.ts$/, ".ts");
  return `Source: \`${path}\``;
}

/** Splits a doc comment into its text, its parameters and what is thrown. */
function parsed(comment = "") {
  const lines = comment
    .replace(/^\/\*\*|\*\/\s*$/g, "")
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, ""));
  const [text = "", ...blocks] = lines
    .join("\n")
    .split(/^@/m)
    .map((block) => block.trim().replaceAll(/\s*\n\s*/g, " "));
  const params = blocks.flatMap((block) => {
    const [, name, about] = /^param (\w+) - (.*)$/.exec(block) ?? [];
    return name === undefined ? [] : [[name, about]];
  });
  return { text, params, throws: blocks.flatMap((block) => /^throws (.*)$/.exec(block)?.[1] ?? []) };
}
