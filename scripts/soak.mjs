import { runBundled } from "./run-bundled.mjs";

/** `npm run soak -- --minutes M`: measures whether the sandbox and a program that watches for drift stay as they are. */
await runBundled("test/soak/main.ts");
