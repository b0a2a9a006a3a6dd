import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import xterm from "@xterm/headless";
import { commentSvg, SHOPS, writeChain } from "./comment-picture.mjs";
import { writeFleet } from "./fleet.mjs";

/**
 * Draws the pictures of the README and the pages: runs sessions of the built program on a terminal, against sandboxes, and renders the
 * screen's cells as SVG. With names of files it draws only those; with --check it only reports whether a picture is out
 * of date. Run it with "npm run picture"; it needs script(1) of util-linux.
 */
const root = resolve(import.meta.dirname, "..");
const program = join(root, "dist", "bin.js");
const COLUMNS = 104;
const PATIENCE_MS = 60_000;
/** A screen that has not changed for so long is complete. */
const QUIET_MS = 3_000;

const [BACKGROUND, PLAIN] = ["#16181d", "#e6e6e6"];
/** The terminal colours that rolecall uses, of the 256-colour cube: grey, red, green, yellow, cyan; a little lighter. */
const COLORS = { 243: "#8b949e", 161: "#ff5c93", 28: "#3fb950", 130: "#d9822b", 30: "#2bb3b3" };

/** What differs from run to run, and what a picture shows instead. */
const STEADY = [
  [/127\.0\.0\.1:\d+/, "127.0.0.1:4010"],
  [/\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z/, "2026-06-15T12-00-00-000Z"],
  [/(?<=requests\/)\d+/, "1204"],
];

const empty = mkdtempSync(join(tmpdir(), "rolecall-picture-"));
const fleet = mkdtempSync(join(tmpdir(), "rolecall-fleet-"));
writeFleet(fleet);
writeFileSync(
  join(fleet, "faults.yaml"),
  "rules:\n  - { kind: status, status: 403, operation: members.create, nth: 60, detail: The key may not invite here. }\n",
);
const stopped = mkdtempSync(join(tmpdir(), "rolecall-stopped-"));
writeFleet(stopped);
writeFileSync(
  join(stopped, "faults.yaml"),
  "rules:\n  - { kind: status, status: 409, operation: members.delete, nth: 40, detail: The member is being changed. }\n",
);

/**
 * Each picture: its sandbox, the commands to run in a folder, and the keys to press, each after a text appears. One that
 * moves is taken as soon as the last text appears, and is another one each time.
 */
const PICTURES = [
  {
    file: "board.svg",
    label:
      "apply of sixty merchants: a bar over all changes, what is under way, what was done last, a failure and a wait",
    rows: 19,
    columns: 92,
    sandbox: [
      "--seed",
      "seed.yaml",
      "--faults",
      "faults.yaml",
      "--rate-limit",
      "16",
      "--latency",
      "450",
      "--jitter",
      "300",
    ],
    cwd: fleet,
    commands: ["apply --yes 2>&1"],
    steps: [[/✓ (?:2[4-9]|3\d|4\d) done {3}▶ +[4-9] under way[\s\S]*✗ MC/, null]],
    moves: true,
  },
  {
    file: "ending.svg",
    label: "the ending of an apply of sixty merchants, one of which was stopped by a conflict",
    rows: 31,
    sandbox: ["--seed", "seed.yaml", "--faults", "faults.yaml"],
    cwd: stopped,
    commands: ["apply --yes"],
    steps: [[/^journals: /m, null]],
    moves: true,
  },
  {
    file: "interactive.svg",
    label:
      "apply --interactive: the changes of two merchants, one of them left out with what needs it, and what a change does to somebody's access",
    rows: 24,
    columns: 112,
    sandbox: ["--seed", "examples/retail/live.yaml"],
    cwd: root,
    commands: ["apply --interactive examples/retail/access"],
    steps: [
      [/\? keys/, "jjj"],
      [/❯ .*Refund Approver/, " "],
      [/\[·\] ~ tomasz/, "jjjj"],
      [/❯ .*hana\.sato[\s\S]*Access: 4 permissions before, 6 after/, null],
    ],
  },
  {
    file: "init.svg",
    label: "init writes the files of an existing account, and a plan has no changes",
    rows: 18,
    sandbox: ["--generate", "400"],
    cwd: empty,
    commands: ["init MC0DEMO1 --yes", "plan"],
    prompt: true,
    steps: [[/\$ rolecall plan *\n(?:.*\n){2}.*Plan: no changes/, null]],
  },
];

try {
  const named = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
  const isWanted = (file) => named.length === 0 || named.includes(file);
  for (const picture of PICTURES) if (isWanted(picture.file)) await draw(picture);
  if (isWanted("chain-comment.svg")) await drawComment();
} finally {
  for (const folder of [empty, fleet, stopped]) rmSync(folder, { recursive: true });
}

async function draw(picture) {
  const path = join(root, "docs", picture.file);
  if (picture.moves && process.argv.includes("--check")) return;
  const sandbox = spawn(process.execPath, [program, "sandbox", "--port", "0", ...picture.sandbox], {
    cwd: picture.moves ? picture.cwd : root,
    stdio: ["ignore", "pipe", "ignore"],
  });
  try {
    const url = await listening(sandbox);
    const expected = process.argv.includes("--check") ? readFileSync(path, "utf8") : null;
    const drawn = svg(await session(picture, url, expected), picture);
    if (expected === null) {
      writeFileSync(path, drawn);
    } else if (drawn !== expected) {
      console.error(`docs/${picture.file} is out of date: run npm run picture.`);
      process.exitCode = 1;
    }
  } finally {
    sandbox.kill();
  }
}

/** Draws the comment of a pull request that gives all cashiers of a chain a dangerous permission. */
async function drawComment() {
  const path = join(root, "docs", "chain-comment.svg");
  const folder = mkdtempSync(join(tmpdir(), "rolecall-chain-"));
  let sandbox = null;
  try {
    writeChain(folder);
    sandbox = spawn(process.execPath, [program, "sandbox", "--port", "0", "--seed", "seed.yaml"], {
      cwd: folder,
      stdio: ["ignore", "pipe", "ignore"],
    });
    const url = await listening(sandbox);
    const markdown = execFileSync(process.execPath, [program, "plan", "--quiet", "--format", "markdown"], {
      cwd: folder,
      encoding: "utf8",
      env: { PATH: process.env.PATH, ROLECALL_BASE_URL: url, ROLECALL_API_KEY: "sk_test_sandbox" },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const label = `The comment on a pull request that adds payouts_edit to the role Cashier of a chain of ${SHOPS} shops`;
    const drawn = commentSvg(markdown, label);
    if (!process.argv.includes("--check")) writeFileSync(path, drawn);
    else if (drawn !== readFileSync(path, "utf8")) {
      console.error("docs/chain-comment.svg is out of date: run npm run picture.");
      process.exitCode = 1;
    }
  } finally {
    sandbox?.kill();
    rmSync(folder, { recursive: true });
  }
}

async function listening(child) {
  let text = "";
  for await (const chunk of child.stdout) {
    text += chunk;
    const url = /http:\/\/\S+/.exec(text)?.[0];
    if (url) return url;
  }
  throw new Error("the sandbox ended");
}

/**
 * Runs the program through the steps on a terminal; returns the screen as rows of cells, once it looks as expected or
 * has not changed for a while: a screen may arrive in parts.
 */
async function session(picture, url, expected) {
  const { rows, columns = COLUMNS, cwd, commands, prompt, steps, moves } = picture;
  const terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true });
  const runs = commands.map((args, index) => {
    // The last one takes the place of the shell, and so is the one to end.
    const run = `${index === commands.length - 1 ? "exec " : ""}'${process.execPath}' '${program}' ${args}`;
    return prompt ? `echo '$ rolecall ${args}' && ${run}` : run;
  });
  const command = [`stty cols ${columns} rows ${rows}`, ...runs].join(" && ");
  const child = spawn("script", ["--quiet", "--flush", "--command", command, "/dev/null"], {
    cwd,
    env: {
      PATH: process.env.PATH,
      TERM: "xterm-256color",
      SHELL: "/bin/sh",
      ROLECALL_BASE_URL: url,
      ROLECALL_API_KEY: "sk_test_sandbox",
      TILL_7_PASSWORD: "only-for-the-sandbox",
    },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const closed = once(child, "close");
  const changed = new EventTarget();
  child.stdout.on("data", (chunk) => terminal.write(chunk, () => changed.dispatchEvent(new Event("drawn"))));
  try {
    for (const [wanted, keys] of steps) {
      await seen(terminal, wanted, changed);
      if (keys !== null) child.stdin.write(keys);
    }
    let changes = !moves;
    while (changes && svg(cellsOf(terminal), picture) !== expected) {
      changes = await once(changed, "drawn", { signal: AbortSignal.timeout(QUIET_MS) }).then(
        () => true,
        () => false,
      );
    }
    return cellsOf(terminal);
  } finally {
    child.kill("SIGKILL");
    await closed;
  }
}

async function seen(terminal, wanted, changed) {
  const late = AbortSignal.timeout(PATIENCE_MS);
  while (!wanted.test(textOf(terminal))) {
    await once(changed, "drawn", { signal: late }).catch(() => {
      throw new Error(`${wanted} never came:\n${textOf(terminal)}`);
    });
  }
}

function textOf(terminal) {
  return cellsOf(terminal)
    .map((row) => row.map(({ text }) => text).join(""))
    .join("\n");
}

function cellsOf({ rows, cols, buffer: { active } }) {
  return Array.from({ length: rows }, (_, y) => {
    const line = active.getLine(active.baseY + y);
    return Array.from({ length: cols }, (_, x) => {
      const cell = line?.getCell(x);
      return {
        text: cell?.getWidth() === 0 ? "" : cell?.getChars() || " ",
        color: cell?.isFgPalette() ? (COLORS[cell.getFgColor()] ?? PLAIN) : PLAIN,
        bold: Boolean(cell?.isBold()),
        dim: Boolean(cell?.isDim()),
        inverse: Boolean(cell?.isInverse()),
      };
    });
  });
}

function svg(cells, { label, columns = COLUMNS }) {
  const rows = cells.map(steady);

  const [cell, line, margin] = [8.4, 19, 16];
  const width = Math.ceil(columns * cell + 2 * margin);
  const height = rows.length * line + 2 * margin;
  const highlights = rows.flatMap((row, y) => {
    const cells = row.flatMap(({ inverse }, x) => (inverse ? [x] : []));
    if (cells.length === 0) return [];
    const left = (margin + cells[0] * cell).toFixed(1);
    const wide = (cells.length * cell).toFixed(1);
    return [`<rect x="${left}" y="${margin + y * line}" width="${wide}" height="${line}" fill="${PLAIN}"/>`];
  });
  const texts = rows.flatMap((row, y) =>
    runs(row).map(({ text, x, color, bold, dim, inverse }) => {
      const look = `${bold ? ' font-weight="bold"' : ""}${dim ? ' opacity="0.6"' : ""}`;
      const left = (margin + x * cell).toFixed(1);
      return `<text x="${left}" y="${margin + y * line + 14}" fill="${inverse ? BACKGROUND : color}"${look} xml:space="preserve">${escaped(text)}</text>`;
    }),
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${label}">`,
    `<rect width="${width}" height="${height}" rx="10" fill="${BACKGROUND}"/>`,
    `<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14">`,
    ...highlights,
    ...texts,
    "</g>",
    "</svg>",
    "",
  ].join("\n");
}

/** Shows the same port, time and number of requests each time. */
function steady(row) {
  return STEADY.reduce((cells, [pattern, text]) => {
    const found = pattern.exec(cells.map((cell) => cell.text || " ").join(""));
    if (found === null) return cells;
    const shown = text.padEnd(found[0].length);
    return cells.map((cell, x) => {
      const at = x - found.index;
      return at >= 0 && at < found[0].length ? { ...cell, text: shown[at] } : cell;
    });
  }, row);
}

/** Groups cells of equal style; each group is positioned, so that a font cannot shift it. */
function runs(row) {
  const found = [];
  let last = null;
  const isSame = (a, b) =>
    a.color === b.color && a.bold === b.bold && a.dim === b.dim && a.inverse === b.inverse;
  for (const [x, { text, ...look }] of row.entries()) {
    if (text.trim() === "") {
      last = null;
    } else if (last && isSame(last, look)) {
      last.text += text;
    } else {
      last = { text, x, ...look };
      found.push(last);
    }
  }
  return found;
}

function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
