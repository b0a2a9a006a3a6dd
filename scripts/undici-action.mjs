export { default as ProxyAgent } from "undici/lib/dispatcher/proxy-agent.js";
export { fetch } from "undici/lib/web/fetch/index.js";
export * from "./undici-pool.mjs";
