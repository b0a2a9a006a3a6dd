import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { Script } from "node:vm";
import { codeFor } from "./image.ts";

/** A chunk of the built program, as it was compiled. */
export interface CompiledChunk {
  readonly file: string;
  readonly text: Buffer;
  readonly script: Script;
}

/** Where chunks are, and what they get. */
export interface ChunkOptions {
  /** Absolute; the names of chunks begin here. */
  readonly folder: string;
  /** Where the images of their compiled code are; null where there are none for this engine. */
  readonly images: string | null;
  /** What a chunk gets that asks for a module of Node. */
  readonly builtin?: (id: string) => unknown;
  readonly onCompiled?: (chunk: CompiledChunk) => void;
}

/** The folder of the images for this engine, whether it is there or not: no other one can read them. */
export function imageFolder(dist: string): string {
  const { platform, arch, versions } = process;
  const variables: Readonly<Record<string, unknown>> = process.config.variables;
  const pointers = variables["v8_enable_pointer_compression"] ? "-compressed" : "";
  return join(dist, "images", `${versions.v8}-${platform}-${arch}${pointers}`);
}

/** The same, or null where it is not there. */
export function imagesIn(dist: string): string | null {
  const folder = imageFolder(dist);
  return existsSync(folder) ? folder : null;
}

/**
 * Loads chunks as `require` would: they are CommonJS, and ask for each other and for modules of Node only. Where the
 * build has kept what the engine made of a chunk, that is taken, and nothing has to be compiled. The engine refuses what
 * another one has made, or itself with other settings; then, and where there is no image, it compiles. A chunk that is
 * an ES module is promised, as by `import`, which such code cannot do by itself without a warning of Node's.
 */
export function chunkLoader(options: ChunkOptions): (name: string) => unknown {
  const { folder, builtin = moduleOfNode } = options;
  const loaded = new Map<string, { exports: unknown }>();
  const load = (file: string): unknown => {
    const known = loaded.get(file);
    if (known) return known.exports;
    const chunk = { exports: {} };
    loaded.set(file, chunk);
    const directory = dirname(file);
    const require = (id: string): unknown => {
      if (!id.startsWith(".")) return builtin(id);
      const wanted = join(directory, id);
      return id.endsWith(".mjs") ? import(pathToFileURL(wanted).href) : load(wanted);
    };
    try {
      const run = compiled(file, options).runInThisContext();
      run.call(chunk.exports, chunk.exports, require, chunk, file, directory);
    } catch (error) {
      loaded.delete(file);
      throw error;
    }
    return chunk.exports;
  };
  return (name) => load(join(folder, name));
}

function compiled(file: string, { images, onCompiled }: ChunkOptions): Script {
  const text = readFileSync(file);
  const image = images === null ? null : readImage(join(images, `${basename(file)}.image`));
  const cachedData = image === null ? undefined : codeFor(text, image);
  // A line of its own before the text, which is not counted.
  const script = new Script(`(function (exports, require, module, __filename, __dirname) {\n${text}\n})`, {
    filename: file,
    lineOffset: -1,
    ...(cachedData && { cachedData }),
  });
  onCompiled?.({ file, text, script });
  return script;
}

function readImage(file: string): Buffer | null {
  try {
    return readFileSync(file);
  } catch {
    return null;
  }
}

function moduleOfNode(id: string): unknown {
  const found: unknown = process.getBuiltinModule(id);
  if (found === undefined) throw new Error(`Node.js has no module ${id}`);
  return found;
}
