import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

/**
 * Takes the pictures of the report's front page, light and dark: runs the built program against a sandbox of sixty
 * merchants, and opens the page in Chromium, installed or named in CHROMIUM. Run it after "npm run build".
 */
const root = resolve(import.meta.dirname, "..");
const program = join(root, "dist", "bin.js");
const folder = mkdtempSync(join(tmpdir(), "rolecall-report-"));
const page = join(folder, "report.html");
const SHOPS = 60;

writeShops();
const sandbox = spawn(process.execPath, [program, "sandbox", "--port", "0", "--seed", "seed.yaml"], {
  cwd: folder,
  stdio: ["ignore", "pipe", "ignore"],
});
try {
  const url = await listening(sandbox);
  const env = { PATH: process.env.PATH, ROLECALL_BASE_URL: url, ROLECALL_API_KEY: "sk_test_sandbox" };
  const args = ["report", "--quiet", "--as-of", "2026-06-15", "--output", page, "access"];
  execFileSync(process.execPath, [program, ...args], { cwd: folder, env });
  await takePictures();
} finally {
  sandbox.kill();
  rmSync(folder, { recursive: true });
}

async function takePictures() {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox"],
  });
  try {
    for (const colorScheme of ["light", "dark"]) {
      const view = await browser.newPage({ colorScheme, viewport: { width: 1080, height: 700 } });
      await view.goto(pathToFileURL(page).href);
      await view.screenshot({ path: join(root, "docs", `report-${colorScheme}.png`) });
    }
  } finally {
    await browser.close();
  }
}

/** Writes the files of shops of different sizes and care, and what is live. */
function writeShops() {
  mkdirSync(join(folder, "access"));
  const live = Array.from({ length: SHOPS }, (_, index) => {
    const code = `MCSHOP${index + 1}`;
    const size = 9 + ((index * 37) % 61);
    const members = Array.from({ length: size }, (_, at) => {
      const email = `till-${at + 1}@shop-${index + 1}.example`;
      const leads = at % (3 + (index % 7)) === 0;
      const role = at === 0 || (index % 11 === 4 && at < 4) ? "role_owner" : leads ? "Shift Lead" : "Cashier";
      const expired = at > 2 && at % (9 + (index % 8)) === 5;
      const mfa = (at * 5 + index) % (2 + ((index * 3) % 8)) !== 0;
      return { email, role, ends: at > 4 && at % (6 + (index % 9)) === 0, expired, mfa };
    });
    const line = ({ email, role, expired, mfa }) =>
      `      - { email: ${email}, roles: [${role}]${expired ? ", status: expired" : `, mfa: ${mfa}`} }`;
    const entry = ({ email, role, ends }) =>
      `  - { email: ${email}, roles: [${ends ? `{ role: ${role}, until: 2026-0${6 + (index % 4)}-30 }` : role}] }`;
    const roles = (indent) =>
      [
        "roles:",
        "  - { name: Cashier, permissions: [catalog_view, sales_create, refunds_create] }",
        "  - { name: Shift Lead, permissions: [refunds_create, members_edit, payouts_edit] }",
        "members:",
      ].map((text) => `${indent}${text}`);
    writeFileSync(
      join(folder, "access", `${code}.yaml`),
      ["version: 1", `merchant: ${code}`, ...roles(""), ...members.map(entry), ""].join("\n"),
    );
    return [`  - code: ${code}`, ...roles("    "), ...members.map(line)].join("\n");
  });
  writeFileSync(
    join(folder, "seed.yaml"),
    `merchants:\n${live.join("\n")}\nkeys:\n  - { key: sk_test_sandbox, owner: till-1@shop-1.example }\n`,
  );
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
