/**
 * Renders the reference of the file language as Markdown: a hand-written head, every key of the JSON Schema, and
 * every diagnostic and finding of `lint`. Pure.
 */
export function reference(head, { merchant, project }, diagnostics, findings) {
  return [
    "<!-- Made by scripts/docs.mjs from docs/src/file.md and the program's own schema: change those. -->",
    head.trim(),
    "## Every key",
    ...mappings([{ path: "", node: merchant }]).flatMap(section("The whole file")),
    "## Every key of rolecall.yaml",
    ...mappings([{ path: "", node: project }]).flatMap(section("The whole rolecall.yaml")),
    "## Every diagnostic",
    "An error prevents a file from being used. A refusal means that a file can be read, but breaks a policy or check, whether its own or an enforced one. A warning prevents nothing.",
    table(["Code", "Severity", "Rule"], diagnostics.map(diagnosticRow)),
    "## Every finding of lint",
    "`rolecall lint` shows the warnings above, too. What it finds is valid, and prevents nothing.",
    table(
      ["Code", "Rule"],
      findings.map(({ code: name, summary }) => [code(name), summary]),
    ),
  ]
    .join("\n\n")
    .concat("\n");
}

/** Returns every mapping with keys of its own, parents first. */
function mappings(places) {
  return places.flatMap(({ path, node }) => {
    if (node.anyOf) return mappings(node.anyOf.map((form) => ({ path, node: form })));
    if (node.type === "array") return mappings([{ path: `${path}[]`, node: node.items }]);
    if (!node.properties) return [];
    const inner = Object.entries(node.properties).map(([key, value]) => ({
      path: path === "" ? key : `${path}.${key}`,
      node: value,
    }));
    return [{ path, node }, ...mappings(inner)];
  });
}

function section(whole) {
  return ({ path, node }) => keysOf(path === "" ? whole : `${code(path)}: ${plain(node.title)}`, node);
}

function keysOf(title, node) {
  const required = new Set(node.required);
  const rows = Object.entries(node.properties).map(([key, value]) => [
    code(key),
    typeOf(value),
    required.has(key) ? "required" : value.default === undefined ? "" : code(yaml(value.default)),
    plain(value.description ?? ""),
    code(yaml(value.examples?.[0] ?? "")),
  ]);
  return [
    `### ${title}`,
    plain(node.description),
    table(["Key", "Type", "Default", "Meaning", "Example"], rows),
  ];
}

function diagnosticRow({ code: name, severity, refusal, summary }) {
  return [code(name), refusal ? "refusal" : severity, summary.replaceAll("|", "\\|")];
}

function typeOf(node) {
  if (node.const !== undefined) return code(yaml(node.const));
  if (node.enum) return node.enum.map((value) => code(yaml(value))).join(" or ");
  if (node.anyOf) return [...new Set(node.anyOf.map(typeOf))].join(" or ");
  if (node.type === "array") return `list of ${many(typeOf(node.items))}`;
  if (node.type === "object") {
    const value = node.additionalProperties;
    return value?.type ? `mapping to ${many(typeOf(value))}` : "mapping";
  }
  return { string: "text", integer: "whole number", number: "number", boolean: "true or false" }[node.type];
}

function many(type) {
  return type.replaceAll(/\b(?:list|mapping|number)\b/g, "$&s");
}

/** Formats a value as YAML on one line. */
function yaml(value) {
  if (Array.isArray(value)) return `[${value.map(yaml).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const pairs = Object.entries(value).map(([key, inner]) => `${key}: ${yaml(inner)}`);
    return pairs.length === 0 ? "{}" : `{ ${pairs.join(", ")} }`;
  }
  const bare = /^[\p{L}\p{N}_.][\p{L}\p{N}_ .@/+%:-]*$/u;
  return typeof value === "string" &&
    (!bare.test(value) || /:[^\d/]|:$/.test(value) || !Number.isNaN(Number(value)))
    ? JSON.stringify(value)
    : String(value);
}

/** Escapes Markdown in a text. */
function plain(text) {
  return text.replace(/[\\<>*|[\]`]/g, "\\$&");
}

function code(text) {
  return text === '""' ? "" : `\`${text.replaceAll("|", "\\|")}\``;
}

function table(heads, rows) {
  const lines = [heads, heads.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`);
  return lines.join("\n");
}
