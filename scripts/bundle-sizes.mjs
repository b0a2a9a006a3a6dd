/** Creates a plugin that writes how many bytes each package, and the program itself (""), has in a bundle. */
export function bundleSizes(fileName) {
  return {
    name: "bundle-sizes",
    generateBundle(_, bundle) {
      const sizes = {};
      for (const chunk of Object.values(bundle)) {
        for (const [path, { renderedLength }] of Object.entries(chunk.modules ?? {})) {
          const [, name = ""] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path) ?? [];
          sizes[name] = (sizes[name] ?? 0) + renderedLength;
        }
      }
      this.emitFile({ type: "asset", fileName, source: `${JSON.stringify(sizes, null, 2)}\n` });
    },
  };
}
