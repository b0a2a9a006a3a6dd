import { createHash } from "node:crypto";

/** Returns the packages in a bundle, from the licenses beside it: `[{ name, version, license, contains }]`. */
export function bundledPackages(licenses) {
  const titles = licenses.split(/^-{80}$/m).map((part) => part.trim().split("\n", 1)[0]);
  const packages = [];
  for (const title of titles) {
    const [, name, version, license] = /^(\S+) (\S+) \((.+)\)$/.exec(title) ?? [];
    const [, part, partLicense] = /^(\S+) \((.+)\), in \S+ \S+$/.exec(title) ?? [];
    if (name) packages.push({ name, version, license, contains: [] });
    else if (part) packages.at(-1).contains.push({ name: part, license: partLicense });
    else throw new Error(`This is no title of a license: ${title}`);
  }
  return packages;
}

/**
 * Returns the software bill of materials of a bundle in CycloneDX 1.6. npm's own (`npm sbom`) takes what is bundled for
 * tools of development, since nothing is installed with the package. The same input gives the same text.
 */
export function bundleSbom({ name, manifest, lock, licenses, now }) {
  const root = `pkg:npm/${manifest.name}@${manifest.version}`;
  const components = bundledPackages(licenses).map((one) => component(one, lock));
  const bom = {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      timestamp: now.toISOString(),
      lifecycles: [{ phase: "build" }],
      component: {
        type: "application",
        "bom-ref": root,
        name,
        version: manifest.version,
        description: manifest.description,
        licenses: licensesOf(manifest.license),
        purl: root,
      },
    },
    components,
    dependencies: [
      { ref: root, dependsOn: components.map((one) => one["bom-ref"]) },
      ...components.map((one) => ({ ref: one["bom-ref"] })),
    ],
  };
  return `${JSON.stringify({ ...bom, serialNumber: serialNumber(bom) }, null, 2)}\n`;
}

function component({ name, version, license, contains }, lock) {
  const locked = Object.entries(lock.packages).find(
    ([path, one]) => path.endsWith(`node_modules/${name}`) && one.version === version,
  );
  if (!locked) throw new Error(`The lockfile has no ${name} ${version}.`);
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
  const hash = /^sha512-(\S+)$/.exec(locked[1].integrity)?.[1];
  return {
    type: "library",
    "bom-ref": purl,
    name,
    version,
    scope: "required",
    ...(hash && { hashes: [{ alg: "SHA-512", content: Buffer.from(hash, "base64").toString("hex") }] }),
    licenses: licensesOf(license),
    purl,
    ...(contains.length > 0 && {
      components: contains.map((part) => ({
        type: "library",
        name: part.name,
        licenses: licensesOf(part.license),
      })),
    }),
  };
}

function licensesOf(license) {
  return / (OR|AND|WITH) /.test(license) ? [{ expression: license }] : [{ license: { id: license } }];
}

/** Returns a UUID that follows from the contents (version 8 of RFC 9562). */
function serialNumber(bom) {
  const hex = createHash("sha256").update(JSON.stringify(bom)).digest("hex");
  const variant = ((Number.parseInt(hex[16], 16) & 3) | 8).toString(16);
  return `urn:uuid:${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
