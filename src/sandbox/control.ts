import { Hono } from "hono";
import { z } from "zod";
import { createFaults, faultRuleBody, faultsBody } from "./faults/faults.ts";
import { createRateLimiter, RATE_LIMIT_KINDS, RETRY_AFTER_FORMS } from "./http/rate-limit.ts";
import { ProblemError } from "./http/response.ts";
import { INVITATION_MS, userAt } from "./routes/member-operations.ts";
import { openApi } from "./routes/openapi.ts";
import { checkBody, readJson } from "./routes/operation.ts";
import { memberResource } from "./routes/resources.ts";
import { buildMerchant } from "./seed/build-seed.ts";
import { checkAddedKey, checkAddedMerchant, checkSeedValue } from "./seed/parse-seed.ts";
import { type Member, STATUSES, type Status } from "./state/snapshot.ts";
import {
  type Account,
  addAccount,
  membersByEmail,
  moveToFront,
  replaceMember,
  statusOf,
  touch,
} from "./state/store.ts";
import { type HonoEnv, noteChange, type SandboxContext, type World } from "./world.ts";

const perSecond = z.number().int().min(1).max(1_000_000);
const milliseconds = z.number().int().min(0).max(3_600_000);

const settingsBody = z.strictObject({
  rate_limit: perSecond.nullable().optional(),
  rate_limit_kind: z.enum(RATE_LIMIT_KINDS).optional(),
  rate_limit_burst: perSecond.nullable().optional(),
  retry_after: z.enum(RETRY_AFTER_FORMS).optional(),
  latency_ms: milliseconds.optional(),
  jitter_ms: milliseconds.optional(),
  request_log: z.number().int().min(0).max(1_000_000).optional(),
  strict: z.boolean().optional(),
});

const clockBody = z.union(
  [z.strictObject({ now: z.iso.datetime({ offset: true }) }), z.strictObject({ advance: z.string() })],
  'must have either now, such as "2026-01-05T09:00:00Z", or advance, such as "8d"',
);

const statusBody = z.strictObject({ status: z.enum(STATUSES) });

function merchantOf(world: World, c: SandboxContext): Account {
  const code = c.req.param("merchant") ?? "";
  const merchant = world.store.merchants.get(code);
  if (merchant === undefined) throw new ProblemError(404, `There is no merchant ${code}.`);
  return merchant;
}

/** Finds a member by id or by e-mail address, whose latest membership counts. */
function memberOf(merchant: Account, c: SandboxContext): Member {
  const name = c.req.param("id") ?? "";
  const member = merchant.members.get(name) ?? membersByEmail(merchant, name).at(-1);
  if (member === undefined) throw new ProblemError(404, `There is no member ${name}.`);
  return member;
}

/** Records a change through a control route. */
function recordChange(world: World, c: SandboxContext, merchant?: Account, member?: Member): void {
  const { trace } = c.var;
  trace.merchant = merchant?.id ?? null;
  trace.resource = member?.id ?? null;
  noteChange(world, trace);
}

function memberRoutes(app: Hono<HonoEnv>, world: World): void {
  const path = "/merchants/:merchant/members/:id";
  app.use("/merchants/*", async (c, next) => {
    c.var.trace.throughControl = true;
    await next();
  });
  const put = async (c: SandboxContext, change: (member: Member, now: number) => Member) => {
    const merchant = merchantOf(world, c);
    const now = world.now();
    const member = change(memberOf(merchant, c), now);
    replaceMember(merchant, member);
    recordChange(world, c, merchant, member);
    await world.commit();
    return c.json(memberResource(member, now));
  };
  for (const event of ["accept", "expire", "disable"] as const satisfies readonly Event[]) {
    app.post(`${path}/${event}`, (c) => put(c, (member, now) => afterEvent(member, event, now)));
  }
  app.put(`${path}/status`, async (c) => {
    const { status } = checkBody(statusBody, await readJson(c.req.raw));
    return put(c, (member, now) => withStatus(member, status, now));
  });
  app.post(`${path}/to-front`, async (c) => {
    const merchant = merchantOf(world, c);
    const member = memberOf(merchant, c);
    moveToFront(merchant, member);
    recordChange(world, c, merchant, member);
    await world.commit();
    return c.json(memberResource(member, world.now()));
  });
}

function settingsRoutes(app: Hono<HonoEnv>, world: World): void {
  const show = (c: SandboxContext) => {
    const { rateLimit, rateLimitKind, rateLimitBurst, retryAfter, latency, jitter, strict } = world.settings;
    return c.json({
      rate_limit: rateLimit,
      rate_limit_kind: rateLimitKind,
      rate_limit_burst: rateLimitBurst,
      retry_after: retryAfter,
      latency_ms: latency,
      jitter_ms: jitter,
      request_log: world.requests.bound(),
      strict,
    });
  };
  app.get("/settings", show);
  app.put("/settings", async (c) => {
    const body = checkBody(settingsBody, await readJson(c.req.raw));
    const before = world.settings;
    world.settings = {
      rateLimit: body.rate_limit === undefined ? before.rateLimit : body.rate_limit,
      rateLimitKind: body.rate_limit_kind ?? before.rateLimitKind,
      rateLimitBurst: body.rate_limit_burst === undefined ? before.rateLimitBurst : body.rate_limit_burst,
      retryAfter: body.retry_after ?? before.retryAfter,
      latency: body.latency_ms ?? before.latency,
      jitter: body.jitter_ms ?? before.jitter,
      strict: body.strict ?? before.strict,
    };
    world.limiter = createRateLimiter(world.settings);
    if (body.request_log !== undefined) world.requests.keep(body.request_log);
    return show(c);
  });
}

function faultRoutes(app: Hono<HonoEnv>, world: World): void {
  const show = (c: SandboxContext) => c.json({ seed: world.faults.seed, rules: world.faults.rules });
  app.get("/faults", show);
  app.put("/faults", async (c) => {
    const { seed = world.faults.seed, rules } = checkBody(faultsBody, await readJson(c.req.raw));
    world.faults = createFaults({ seed, rules });
    return show(c);
  });
  app.post("/faults", async (c) => {
    const rule = checkBody(faultRuleBody, await readJson(c.req.raw));
    const { seed, rules } = world.faults;
    world.faults = createFaults({ seed, rules: [...rules, rule] });
    return show(c);
  });
  app.delete("/faults", (c) => {
    world.faults = createFaults({ seed: world.faults.seed, rules: [] });
    return show(c);
  });
}

const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** Parses a duration such as `8d`; throws a 400. */
function durationMs(text: string): number {
  const [, count = "", unit = ""] = /^(\d{1,6})([smhdw])$/.exec(text) ?? [];
  const ms = Object.entries(UNIT_MS).find(([name]) => name === unit)?.[1];
  if (ms !== undefined) return Number(count) * ms;
  throw new ProblemError(400, "advance must be a duration such as 30s, 15m, 2h, 8d or 1w.");
}

function clockRoutes(app: Hono<HonoEnv>, world: World): void {
  const show = (c: SandboxContext) => c.json({ now: new Date(world.now()).toISOString() });
  app.get("/clock", show);
  app.put("/clock", async (c) => {
    const body = checkBody(clockBody, await readJson(c.req.raw));
    world.setClock("now" in body ? Date.parse(body.now) : world.now() + durationMs(body.advance));
    return show(c);
  });
}

function seedRoutes(app: Hono<HonoEnv>, world: World): void {
  app.put("/seed", async (c) => {
    world.plant(checkSeedValue(await readJson(c.req.raw)));
    recordChange(world, c);
    await world.commit();
    return c.json(overview(world));
  });
  app.post("/merchants", async (c) => {
    const seed = checkAddedMerchant(await readJson(c.req.raw));
    if (world.store.merchants.has(seed.code)) {
      throw new ProblemError(409, `There is already a merchant ${seed.code}.`);
    }
    const merchant = addAccount(
      world.store,
      buildMerchant(seed, [...world.store.keys.values()], world.now()),
    );
    recordChange(world, c, merchant);
    await world.commitWhole();
    return c.json(summary(merchant), 201);
  });
  app.post("/keys", async (c) => {
    const key = checkAddedKey(await readJson(c.req.raw), new Set(world.store.merchants.keys()));
    world.store.keys.set(key.key, key);
    recordChange(world, c);
    await world.commitWhole();
    return c.json(key, 201);
  });
}

/** Parses `?since=NUMBER`, which excludes that request and all earlier ones. */
function sinceOf(c: SandboxContext): number {
  const text = c.req.query("since") ?? "0";
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new ProblemError(400, "The query parameter since must be the number of a request.");
}

function requestRoutes(app: Hono<HonoEnv>, world: World): void {
  app.get("/requests", (c) => {
    const since = sinceOf(c);
    return c.json({ items: world.requests.entries().filter(({ number }) => number > since) });
  });
  app.get("/requests/:number", (c) => {
    const number = c.req.param("number");
    const entry = world.requests.entries().find((request) => `${request.number}` === number);
    if (entry === undefined) throw new ProblemError(404, `Request ${number} is not in the log.`);
    return c.json(entry);
  });
  app.delete("/requests", (c) => {
    world.requests.clear();
    return c.json({ items: [] });
  });
}

function summary({ id, name, roles, members }: Account): object {
  return { code: id, name, roles: roles.size, members: members.size };
}

/** Returns the merchants with their number of roles and members. */
export function overview(world: World): object {
  return { merchants: [...world.store.merchants.values()].map(summary) };
}

/** Creates the routes under `/_sandbox/`, for everything that the contract has no operation for. */
export function controlRoutes(world: World): Hono<HonoEnv> {
  const app = new Hono<HonoEnv>();
  app.get("/", (c) => c.json(overview(world)));
  app.post("/reset", async (c) => {
    world.reset();
    recordChange(world, c);
    await world.commit();
    return c.json(overview(world));
  });
  memberRoutes(app, world);
  seedRoutes(app, world);
  clockRoutes(app, world);
  settingsRoutes(app, world);
  faultRoutes(app, world);
  requestRoutes(app, world);
  app.get("/openapi.json", (c) => c.json(openApi()));
  return app;
}

/** Checks whether a host name always means this machine. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[(.*)\]$/, "$1");
  return name === "localhost" || name === "::1" || /^127(\.\d{1,3}){3}$/.test(name);
}

function hostName(header: string): string {
  return /^(\[[^\]]*\]|[^:]*)(:\d*)?$/.exec(header)?.[1] ?? header;
}

/** Throws a 403 for requests that a web page could send: with an Origin or a foreign Host (DNS rebinding). */
export function refuseWebPages(c: SandboxContext, anyHost: boolean): void {
  // Browsers also send it where they send no Origin: with links, images and forms that only read.
  const site = c.req.header("sec-fetch-site") ?? "none";
  if (c.req.header("origin") !== undefined || site === "cross-site" || site === "same-site") {
    throw new ProblemError(403, "The sandbox does not answer requests from web pages.");
  }
  const host = c.req.header("host");
  // A request without a Host header did not come through a socket, so not from a browser.
  if (anyHost || host === undefined || isLoopback(hostName(host))) return;
  throw new ProblemError(403, "The sandbox answers only on loopback host names.");
}

function emailOf(member: Member): string {
  const email = member.user?.email ?? member.invite?.email;
  if (email === undefined) throw new ProblemError(409, `${member.id} has no e-mail address.`);
  return email;
}

/** Returns a member with another status and the user or invitation that the status requires. */
function withStatus(member: Member, status: Status, now: number): Member {
  const updatedAt = touch(member, now);
  switch (status) {
    case "accepted": {
      const user = { ...(member.user ?? userAt(emailOf(member))), disabledAt: undefined };
      return { ...member, status, user, invite: undefined, updatedAt };
    }
    case "pending":
    case "expired": {
      const expiresAt = status === "pending" ? now + INVITATION_MS : now;
      const invite = { email: emailOf(member), expiresAt };
      return { ...member, status: "pending", user: undefined, invite, updatedAt };
    }
    case "disabled": {
      const user = member.user?.type === "managed_user" ? { ...member.user, disabledAt: now } : member.user;
      return { ...member, status, user, updatedAt };
    }
    case "unknown":
      return { ...member, status, updatedAt };
    default:
      return status satisfies never;
  }
}

const FROM = { accept: "pending", expire: "pending", disable: "accepted" } as const;
const TO = { accept: "accepted", expire: "expired", disable: "disabled" } as const;

/** An event in a member's life that no request of the contract causes. */
export type Event = keyof typeof FROM;

/** Returns a member after an event; throws a 409 if its status does not allow it. */
function afterEvent(member: Member, event: Event, now: number): Member {
  const status = statusOf(member, now);
  if (status !== FROM[event]) {
    throw new ProblemError(409, `Cannot ${event} ${member.id}: it is ${status}, not ${FROM[event]}.`);
  }
  return withStatus(member, TO[event], now);
}
