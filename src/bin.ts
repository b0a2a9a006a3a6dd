#!/usr/bin/env node
import { enableCompileCache } from "./cli/io/compile-cache.ts";

// The demo leaves nothing behind but the folder that it names.
if (process.argv[2] !== "demo") enableCompileCache();
// Static imports would be compiled before the cache is enabled.
await import("./cli/run-program.ts");
