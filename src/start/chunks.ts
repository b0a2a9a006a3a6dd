import { readFileSync, statSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
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
  /** Where the images of their compiled code are, if there are any; null where none are to be taken. */
  readonly images: string | null;
  /** What a chunk gets that asks for a module of Node. */
  readonly builtin?: (id: string) => unknown;
  readonly onCompiled?: (chunk: CompiledChunk) => void;
}

/**
 * The folder of the images for this very build of Node.js: no other one can read them, and the size of its executable
 * tells builds of one version apart. Null where it is not known.
 */
export function imageFolder(dist: string): string | null {
  const { version, platform, arch, execPath } = process;
  try {
    return join(dist, "images", `${version}-${platform}-${arch}-${statSync(execPath).size}`);
  } catch {
    return null;
  }
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

function compiled(file: string, { folder, images, onCompiled }: ChunkOptions): Script {
  const text = readFileSync(file);
  const image = images === null ? null : readImage(join(images, `${basename(file)}.image`));
  const cachedData = image === null ? undefined : codeFor(text, image);
  // A line of its own before the text, which is not counted.
  const script = new Script(`(function (exports, require, module, __filename, __dirname) {\n${text}\n})`, {
    // Where the program lies is nobody's business but this machine's: an image keeps this name, and errors show it.
    filename: join("rolecall", relative(folder, file)),
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
