export { default as buildConnector } from "undici/lib/core/connect.js";
export { default as Pool } from "undici/lib/dispatcher/pool.js";
export { default as ProxyAgent } from "undici/lib/dispatcher/proxy-agent.js";
export { fetch } from "undici/lib/web/fetch/index.js";
