/**
 * A minimal service that answers after a fixed time, in a process of its own, so that only the client is measured.
 * `node bench/server.mjs <members per merchant> <latency ms>` prints its URL; GET /_bench/counts returns the number of
 * requests by operation and resets it.
 */
import { createServer } from "node:http";
import { EMPLOYEE, rolesOf, wireMember, wireRole } from "./support/shop.mjs";

const [members = 0, latencyMs = 0] = process.argv.slice(2).map(Number);
const PAGE = 25;

// Serialized in advance, so that a response costs only its transmission.
const bodies = Array.from({ length: members }, (_, at) => JSON.stringify(wireMember(at)));
const updated = new Map();
/** Pages of unchanged merchants; those of a changed one are made for each request. */
const pages = new Map();
const written = new Set();
const roleList = JSON.stringify({ items: rolesOf().map((role) => wireRole(role)) });
const roles = new Map(rolesOf().map((role) => [role.id, JSON.stringify(wireRole(role))]));
roles.set(EMPLOYEE.id, JSON.stringify(wireRole(EMPLOYEE, true)));
const memberships = JSON.stringify({ items: [], total_count: 0 });
for (let offset = 0; offset < members; offset += PAGE) pages.set(offset, makePage(offset, PAGE));

let counts = {};

const server = createServer((request, response) => {
  if (request.url === "/_bench/counts") {
    response.end(JSON.stringify(counts));
    counts = {};
    return;
  }
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    setTimeout(() => {
      const { status = 200, body, operation } = answer(request, chunks);
      counts[operation] = (counts[operation] ?? 0) + 1;
      response.writeHead(status, {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(body),
      });
      response.end(body);
    }, latencyMs);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));

function answer({ method, url }, chunks) {
  const { pathname, searchParams } = new URL(url, "http://localhost");
  if (pathname === "/v0.1/memberships") return { operation: "list memberships", body: memberships };
  const [, , , merchant, kind, id] = pathname.split("/");
  if (kind === "roles") {
    if (id === undefined) return { operation: "list roles", body: roleList };
    const body = roles.get(id);
    return body === undefined ? notFound("retrieve a role") : { operation: "retrieve a role", body };
  }
  if (kind === "members" && id === undefined) {
    const offset = Number(searchParams.get("offset") ?? 0);
    const limit = Number(searchParams.get("limit") ?? 10);
    return { operation: "list members", body: pageAt(offset, limit, merchant) };
  }
  const at = Number(id?.slice("mem_".length));
  if (!(at < members)) return notFound("retrieve a member");
  if (method === "GET") return { operation: "retrieve a member", body: memberAt(at, merchant) };
  if (method === "PUT") {
    const { roles, metadata } = JSON.parse(Buffer.concat(chunks).toString());
    updated.set(`${merchant} ${at}`, JSON.stringify({ ...wireMember(at), roles, metadata }));
    written.add(merchant);
    return { operation: "update a member", body: memberAt(at, merchant) };
  }
  return notFound(`${method} ${kind}`);
}

function notFound(operation) {
  return {
    status: 404,
    operation,
    body: JSON.stringify({ type: "about:blank", title: "Not found", status: 404 }),
  };
}

function memberAt(at, merchant) {
  return updated.get(`${merchant} ${at}`) ?? bodies[at];
}

function pageAt(offset, limit, merchant) {
  const ready = limit === PAGE && !written.has(merchant) ? pages.get(offset) : undefined;
  return ready ?? makePage(offset, limit, merchant);
}

function makePage(offset, limit, merchant) {
  const length = Math.max(0, Math.min(limit, members - offset));
  const items = Array.from({ length }, (_, n) => memberAt(offset + n, merchant));
  return `{"items":[${items.join(",")}],"total_count":${members}}`;
}
