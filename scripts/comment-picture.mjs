import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The number of shops of the chain. */
export const SHOPS = 300;
const shopCode = (index) => `MC0SHOP${String(index + 1).padStart(3, "0")}`;
/** Shops with a role of their own, which the shared file does not change. */
const APART = [11, 39];

/** Writes a chain of shops as files that give all cashiers a dangerous permission, and as the live state before. */
export function writeChain(folder) {
  const role = (permissions) => `  - { name: Cashier, permissions: [${permissions}] }\n`;
  const owner = "  - { email: owner@example.com, roles: [role_owner] }\n";
  const people = (index) =>
    Array.from(
      { length: 9 },
      (_, at) => `  - { email: till${at + 1}@shop${index + 1}.example.com, roles: [Cashier] }\n`,
    ).join("");
  const indented = (text) => text.replaceAll(/^/gm, "    ").trimEnd();
  mkdirSync(join(folder, "access"));
  mkdirSync(join(folder, "shared"));
  // With the default limits, no apply would make it.
  writeFileSync(join(folder, "rolecall.yaml"), "version: 1\nrun: { max_gains: {} }\n");
  writeFileSync(
    join(folder, "shared/group.yaml"),
    `version: 1\nroles:\n${role("catalog_view, sales_create, payouts_edit")}`,
  );
  const live = Array.from({ length: SHOPS }, (_, index) => {
    const own = APART.includes(index);
    const said = own ? `roles:\n${role("catalog_view, sales_create")}` : "include: [../shared/group.yaml]\n";
    const members = `members:\n${owner}${people(index)}`;
    writeFileSync(
      join(folder, "access", `${shopCode(index)}.yaml`),
      `version: 1\nmerchant: ${shopCode(index)}\n${said}${members}`,
    );
    return `  - code: ${shopCode(index)}\n${indented(`roles:\n${role("catalog_view, sales_create")}${members}`)}\n`;
  });
  writeFileSync(
    join(folder, "seed.yaml"),
    `merchants:\n${live.join("")}keys:\n  - { key: sk_test_sandbox, owner: owner@example.com }\n`,
  );
}

/**
 * Draws the Markdown of a review as a code host shows it: headings, paragraphs, diffs, tables, quotes and folded blocks,
 * which is all that rolecall writes. Widths are estimated, so that the picture is the same on every machine.
 */
const WIDTH = 960;
const MARGIN = 28;
const INNER = WIDTH - 2 * MARGIN;
const SANS = "-apple-system, 'Segoe UI', Helvetica, Arial, 'DejaVu Sans', sans-serif";
const MONO = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace";
const [TEXT, SOFT, LINE, GROUND] = ["#1f2328", "#59636e", "#d1d9e0", "#f6f8fa"];
const DIFF = { "+": ["#dafbe1", "#116329"], "-": ["#ffebe9", "#82071e"], "!": ["#fff1e5", "#953800"] };
const SANS_CELL = 7.4;
/** The width of a bold character, as in headings. */
const BOLD_CELL = SANS_CELL * 1.25;
/** The width of a capital, of which the codes in the first column of a table consist. */
const CODE_CELL = SANS_CELL * 1.12;

export function commentSvg(markdown, label) {
  const parts = [];
  let y = MARGIN;
  const put = (text, x, size, { bold = false, mono = false, color = TEXT } = {}) =>
    parts.push(
      `<text x="${x}" y="${y.toFixed(1)}" font-size="${size}" fill="${color}"${bold ? ' font-weight="600"' : ""}${mono ? ` font-family="${MONO}"` : ""} xml:space="preserve">${xml(text)}</text>`,
    );
  const rect = (x, top, width, height, fill, stroke = "none") =>
    parts.push(
      `<rect x="${x}" y="${top.toFixed(1)}" width="${width}" height="${height}" rx="${stroke === "none" ? 0 : 6}" fill="${fill}" stroke="${stroke}"/>`,
    );
  const heading = (text, size) => {
    y += size + 6;
    put(text, MARGIN, size, { bold: true });
    y += 10;
    if (size > 18) rect(MARGIN, y, INNER, 1, LINE);
    y += size > 18 ? 8 : 2;
  };
  const paragraph = (text, x = MARGIN, color = TEXT) => {
    for (const line of wrapped(text, (INNER - (x - MARGIN)) / SANS_CELL)) {
      y += 21;
      put(line, x, 14, { color });
    }
    y += 12;
  };
  const fence = (lines) => {
    rect(MARGIN, y, INNER, lines.length * 20 + 20, GROUND, LINE);
    y += 10;
    for (const line of lines) {
      const [ground, color] = DIFF[line[0]] ?? [null, TEXT];
      if (ground) rect(MARGIN + 1, y, INNER - 2, 20, ground);
      y += 14.5;
      put(line, MARGIN + 14, 12.5, { mono: true, color });
      y += 5.5;
    }
    y += 22;
  };
  const table = (rows) => {
    const cells = rows
      .filter((row) => !/^\|[-:|]+\|$/.test(row))
      .map((row) => row.slice(1, -1).split("|").map(plain));
    const needed = cells[0].map(
      (heading, column) =>
        Math.max(heading.length * BOLD_CELL, ...cells.map((row) => (row[column] ?? "").length * SANS_CELL)) +
        22,
    );
    const rest = needed.slice(1).reduce((sum, one) => sum + one, 0);
    const widths = [Math.min(needed[0], INNER - rest), ...needed.slice(1)];
    const total = widths.reduce((sum, one) => sum + one, 0);
    for (const [index, row] of cells.entries()) {
      const lines = row.map((cell, column) =>
        wrapped(cell, (widths[column] - 20) / (column === 0 ? CODE_CELL : SANS_CELL)),
      );
      const height = Math.max(...lines.map((one) => one.length)) * 20 + 12;
      rect(MARGIN, y, total, height, index % 2 === 0 && index > 0 ? GROUND : "#ffffff");
      const top = y;
      let x = MARGIN;
      for (const [column, cell] of lines.entries()) {
        y = top + 1;
        for (const line of cell) {
          y += 20;
          put(line, x + 10, 13.5, { bold: index === 0 });
        }
        parts.push(
          `<rect x="${x.toFixed(1)}" y="${top.toFixed(1)}" width="${widths[column].toFixed(1)}" height="${height}" fill="none" stroke="${LINE}"/>`,
        );
        x += widths[column];
      }
      y = top + height;
    }
    y += 16;
  };

  const lines = markdown.split("\n");
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at];
    const run = (matches) => {
      const from = at;
      while (at + 1 < lines.length && matches(lines[at + 1])) at += 1;
      return lines.slice(from, at + 1);
    };
    if (line.startsWith("```")) {
      const end = lines.indexOf(line.replace(/\w+$/, ""), at + 1);
      fence(lines.slice(at + 1, end));
      at = end;
    } else if (line.startsWith("## ")) heading(plain(line.slice(3)), 21);
    else if (line.startsWith("### ")) heading(plain(line.slice(4)), 16);
    else if (line.startsWith("|")) table(run((next) => next.startsWith("|")));
    else if (line.startsWith("<details")) {
      paragraph(`▸ ${plain(line)}`);
      at = lines.indexOf("</details>", at);
    } else if (line.startsWith("> ")) paragraph(plain(line.slice(2)), MARGIN + 14, SOFT);
    else if (line !== "") paragraph(plain(line));
  }
  const height = Math.ceil(y + MARGIN / 2);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${xml(label)}">`,
    `<rect x="0.5" y="0.5" width="${WIDTH - 1}" height="${height - 1}" rx="10" fill="#ffffff" stroke="${LINE}"/>`,
    `<g font-family="${SANS}">`,
    ...parts,
    "</g>",
    "</svg>",
    "",
  ].join("\n");
}

/** Returns the text of a line of Markdown, without its marks and tags. */
function plain(text) {
  return text
    .replaceAll(/<[^>]+>|\*\*|`/g, "")
    .replaceAll(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)))
    .trim();
}

function wrapped(text, columns) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const longer = lines.at(-1) === "" ? word : `${lines.at(-1)} ${word}`;
    if (lines.at(-1) !== "" && longer.length > columns) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

function xml(text) {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
