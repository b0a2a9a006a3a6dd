#!/usr/bin/env node
import { enableCompileCache } from "./cli/compile-cache.ts";

enableCompileCache();
// Whatever is imported statically would be compiled before the cache is enabled.
await import("./program.ts");
