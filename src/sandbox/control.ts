import { Hono } from "hono";
import { z } from "zod";
import { checkBody, readJson } from "./body.ts";
import { type Member, STATUSES } from "./data.ts";
import { faultRuleBody, faultsBody } from "./fault-rules.ts";
import { createFaults } from "./faults.ts";
import { ProblemError } from "./problem.ts";
import { createRateLimiter } from "./rate-limit.ts";
import { type Account, membersAt, replaceMember } from "./store.ts";
import { afterEvent, type Event, withStatus } from "./transitions.ts";
import { memberResource } from "./wire.ts";
import type { Env, SandboxContext, World } from "./world.ts";

const settingsBody = z.strictObject({
  rate_limit: z.number().int().min(1).nullable().optional(),
  latency_ms: z.number().int().min(0).max(3_600_000).optional(),
});

const statusBody = z.strictObject({ status: z.enum(STATUSES) });

function merchantOf(world: World, c: SandboxContext): Account {
  const code = c.req.param("merchant") ?? "";
  const merchant = world.store.merchants.get(code);
  if (merchant === undefined) throw new ProblemError(404, `There is no merchant ${code}.`);
  return merchant;
}

/** By id or, because it is easier to type, by e-mail address: the latest membership that it has. */
function memberOf(merchant: Account, c: SandboxContext): Member {
  const name = c.req.param("id") ?? "";
  const member = merchant.members.get(name) ?? membersAt(merchant, name).at(-1);
  if (member === undefined) throw new ProblemError(404, `There is no member ${name}.`);
  return member;
}

function memberRoutes(app: Hono<Env>, world: World): void {
  const path = "/merchants/:merchant/members/:id";
  const put = async (c: SandboxContext, change: (member: Member, now: number) => Member) => {
    const merchant = merchantOf(world, c);
    const now = world.now();
    const member = change(memberOf(merchant, c), now);
    replaceMember(merchant, member);
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
}

function settingsRoutes(app: Hono<Env>, world: World): void {
  const show = (c: SandboxContext) =>
    c.json({ rate_limit: world.settings.rateLimit, latency_ms: world.settings.latency });
  app.get("/settings", show);
  app.put("/settings", async (c) => {
    const body = checkBody(settingsBody, await readJson(c.req.raw));
    const { rateLimit, latency } = world.settings;
    world.settings = {
      rateLimit: body.rate_limit === undefined ? rateLimit : body.rate_limit,
      latency: body.latency_ms ?? latency,
    };
    world.limiter = world.settings.rateLimit === null ? null : createRateLimiter(world.settings.rateLimit);
    return show(c);
  });
}

function faultRoutes(app: Hono<Env>, world: World): void {
  const show = (c: SandboxContext) => c.json({ seed: world.faults.seed, rules: world.faults.rules });
  app.get("/faults", show);
  app.put("/faults", async (c) => {
    const { seed, rules } = checkBody(faultsBody, await readJson(c.req.raw));
    world.faults = createFaults(seed, rules);
    return show(c);
  });
  app.post("/faults", async (c) => {
    const rule = checkBody(faultRuleBody, await readJson(c.req.raw));
    world.faults = createFaults(world.faults.seed, [...world.faults.rules, rule]);
    return show(c);
  });
  app.delete("/faults", (c) => {
    world.faults = createFaults(world.faults.seed, []);
    return show(c);
  });
}

function requestRoutes(app: Hono<Env>, world: World): void {
  app.get("/requests", (c) => c.json({ items: world.requests.entries() }));
  app.get("/requests/:number", (c) => {
    const number = c.req.param("number");
    const entry = world.requests.entries().find((one) => `${one.number}` === number);
    if (entry === undefined) throw new ProblemError(404, `Request ${number} is not in the log.`);
    return c.json(entry);
  });
  app.delete("/requests", (c) => {
    world.requests.clear();
    return c.json({ items: [] });
  });
}

/** Which merchants there are, and how big. */
export function overview(world: World): object {
  const merchants = [...world.store.merchants.values()].map((merchant) => ({
    code: merchant.id,
    name: merchant.name,
    roles: merchant.roles.size,
    members: merchant.members.size,
  }));
  return { merchants };
}

/** The routes under `/_sandbox/`: what the contract has no request for. */
export function controlRoutes(world: World): Hono<Env> {
  const app = new Hono<Env>();
  app.get("/", (c) => c.json(overview(world)));
  app.post("/reset", async (c) => {
    world.reset();
    await world.commit();
    return c.json(overview(world));
  });
  memberRoutes(app, world);
  settingsRoutes(app, world);
  faultRoutes(app, world);
  requestRoutes(app, world);
  return app;
}
