import { readFileSync } from "node:fs";
import { licensePlugin } from "rolldown-license-plugin";

/** Copyright lines of MIT-licensed packages that ship no license text. */
const COPYRIGHTS = {
  "@bomb.sh/tab": "Copyright (c) Bombshell Authors",
  "yoga-layout": "Copyright (c) Meta Platforms, Inc. and affiliates.",
};

/** MIT-licensed code that other packages contain, compiled. */
const EMBEDDED = { undici: [{ name: "llhttp", copyright: "Copyright Fedor Indutny, 2018." }] };

/** Creates a plugin that writes the licenses of all packages in a bundle into one file; a missing text is an error. */
export function licenses(fileName) {
  return licensePlugin({
    allow: ({ name, license, licenseText }) => license !== "" && (licenseText !== "" || name in COPYRIGHTS),
    failOnViolation: true,
    failOnUnlicensed: true,
    done: (packages, context) => {
      const source = packages.flatMap(({ name, version, license, licenseText }) => [
        entry(`${name} ${version} (${license})`, licenseText || mit(COPYRIGHTS[name])),
        ...(EMBEDDED[name] ?? []).map((part) =>
          entry(`${part.name} (MIT), in ${name} ${version}`, mit(part.copyright)),
        ),
      ]);
      context.emitFile({ type: "asset", fileName, source: source.join(`\n${"-".repeat(80)}\n\n`) });
    },
  });
}

function entry(title, text) {
  return `${title}\n\n${text.replaceAll("\r", "").trim()}\n`;
}

/** Returns the MIT license with another copyright line. */
function mit(copyright) {
  const text = readFileSync(new URL("../node_modules/undici/LICENSE", import.meta.url), "utf8");
  return `MIT License\n\n${copyright}\n\n${text.slice(text.indexOf("Permission is hereby granted"))}`;
}
