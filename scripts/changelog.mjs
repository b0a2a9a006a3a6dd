/**
 * Returns the text of a version's section in the changelog, for the release. A tag, version or section that does not
 * fit is an error: nothing may be published under a name that means something else. Links to files get a base, since
 * the page of a release is not among them.
 */
export function releaseNotes({ tag, version, changelog, base = "", unreleased = false }) {
  if (!/^v\d+\.\d+\.\d+$/.test(tag)) throw new Error(`"${tag}" is not a tag such as v1.2.3.`);
  if (tag !== `v${version}`)
    throw new Error(`The tag is ${tag}, but package.json has the version ${version}.`);
  const sections = changelog.split(/^(?=## )/m);
  const section = sections.find((one) => one.startsWith(`## ${version} `));
  if (section === undefined) throw new Error(`CHANGELOG.md has no section "## ${version} (date)".`);
  const [heading, ...lines] = section.split("\n");
  const date = heading.slice(`## ${version} `.length);
  if (!/^\(\d{4}-\d{2}-\d{2}\)$/.test(date) && !(unreleased && date === "(unreleased)")) {
    throw new Error(
      `The section of ${version} in CHANGELOG.md says "${date}" instead of a date such as (2026-01-31).`,
    );
  }
  const notes = lines.join("\n").trim();
  if (notes === "") throw new Error(`The section of ${version} in CHANGELOG.md is empty.`);
  return `${notes.replace(/\]\((?![a-z]+:|#)/g, `](${base}`)}\n`;
}
