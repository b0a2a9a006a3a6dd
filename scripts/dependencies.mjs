import { bundledPackages } from "./sbom.mjs";

/**
 * Returns the page about dependencies: versions, licenses and sizes as the build has them; reasons as data has them. A
 * dependency without a reason, or a reason without its dependency, is an error. A size stays as the page has it until it
 * is a tenth off: names that the bundler chooses change it a little with any source.
 */
export function dependencyPage(head, { manifest, lock, data, page, program, action }) {
  const names = Object.keys(manifest.devDependencies);
  same(names, [...Object.keys(data.bundled), ...Object.keys(data.development)], "devDependencies");
  same(Object.keys(manifest.overrides ?? {}), Object.keys(data.overrides), "overrides");
  const bundles = [program, action].map(({ licenses, sizes }) => ({
    packages: bundledPackages(licenses),
    sizes,
  }));
  const bundled = new Set(bundles.flatMap(({ packages }) => packages.map(({ name }) => name)));
  same(
    names.filter((name) => bundled.has(name)),
    Object.keys(data.bundled),
    "bundled packages",
  );
  const owners = ownersOf(Object.keys(data.bundled), lock);
  const size = ({ sizes }, name) =>
    Object.entries(sizes)
      .filter(([one]) => owners.get(one) === name)
      .reduce((sum, [, bytes]) => sum + bytes, 0);
  const written = (name, column) => Number(rowOf(page, name)[column]?.trim());
  const kilobytes = (bytes, before) => {
    if (bytes === 0) return "";
    const size = Math.max(1, Math.round(bytes / 1000));
    return String(Math.abs(size - before) <= size / 10 ? before : size);
  };
  const locked = (name) => lock.packages[`node_modules/${name}`];
  return [
    head,
    table(
      ["Package", "Version", "Last release", "License", "Program", "Action", "Why", "What would replace it"],
      Object.entries(data.bundled).map(([name, { released, why, instead, held }]) => [
        `\`${name}\``,
        locked(name).version + (held ? ` (${held})` : ""),
        released,
        locked(name).license,
        ...bundles.map((bundle, index) => kilobytes(size(bundle, name), written(name, index + 5))),
        why,
        instead,
      ]),
    ),
    `Last releases were looked up on ${data.checked}. Including their dependencies, there are ${bundles[0].packages.length} packages in the program and ${bundles[1].packages.length} in the action.\n`,
    "## Held back\n",
    `${Object.entries(data.overrides)
      .map(([name, why]) => `- \`${name}\` ${manifest.overrides[name]}: ${why}.`)
      .join("\n")}\n`,
    "## Tools\n",
    "For builds and tests only; none of these is bundled.\n",
    table(
      ["Package", "Version", "License", "Why"],
      Object.entries(data.development).map(([name, why]) => [
        `\`${name}\``,
        locked(name).version,
        locked(name).license,
        why,
      ]),
    ),
  ].join("\n");
}

/** Returns which direct dependency brings each package: itself, or the first through which it is reached. */
function ownersOf(direct, lock) {
  const owners = new Map(direct.map((name) => [name, name]));
  const visit = (name, owner) => {
    const { dependencies = {} } = lock.packages[`node_modules/${name}`] ?? {};
    for (const one of Object.keys(dependencies)) {
      if (owners.has(one)) continue;
      owners.set(one, owner);
      visit(one, owner);
    }
  };
  for (const name of direct) visit(name, name);
  return owners;
}

/** Returns the cells of a package's row, as they are. */
function rowOf(page, name) {
  return (page.split("\n").find((line) => line.startsWith(`| \`${name}\` |`)) ?? "").split("|");
}

function table(columns, rows) {
  const line = (cells) => `| ${cells.join(" | ")} |`;
  return `${[line(columns), line(columns.map(() => "---")), ...rows.map(line)].join("\n")}\n`;
}

function same(actual, expected, what) {
  const missing = actual.filter((name) => !expected.includes(name));
  const gone = expected.filter((name) => !actual.includes(name));
  if (missing.length > 0)
    throw new Error(`scripts/dependencies.json does not have the ${what} ${missing.join(", ")}.`);
  if (gone.length > 0)
    throw new Error(`scripts/dependencies.json has what is not in the ${what}: ${gone.join(", ")}.`);
}
