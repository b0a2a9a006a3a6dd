import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ConnectProxy, startConnectProxy } from "../support/connect-proxy.ts";
import { rolecall } from "../support/program.ts";
import { type RunningSandbox, startSandbox } from "../support/rolecall.ts";

const TLS = resolve(import.meta.dirname, "../support/tls");
const SHOP = "version: 1\nmerchant: MC0DEMO1\nsync: { roles: additive }\n";

let cwd = "";

let sandbox: RunningSandbox;
let service: Server;
let proxy: ConnectProxy;

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "rolecall-proxy-"));
  await writeFile(join(cwd, "shop.yaml"), SHOP);
  sandbox = await startSandbox();
  const port = Number(new URL(sandbox.url).port);
  const [key, cert] = await Promise.all(["key.pem", "cert.pem"].map((file) => readFile(join(TLS, file))));
  service = createServer({ key, cert } as object, (asked, answer) => {
    // The sandbox answers only on loopback host names.
    const headers = { ...asked.headers, host: "127.0.0.1" };
    const { method, url: path } = asked;
    const upstream = request({ host: "127.0.0.1", port, method, path, headers }, (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(answer);
    });
    asked.pipe(upstream);
  });
  await new Promise<void>((done) => service.listen(0, "127.0.0.1", done));
  const secure = (service.address() as AddressInfo).port;
  proxy = await startConnectProxy((to, credentials) => {
    if (credentials !== "ada:s3cret") return 407;
    return to === "service.test:443" ? { port: secure } : { port: Number(to.split(":")[1]) };
  });
});

afterAll(async () => {
  await proxy.close();
  service.close();
  await sandbox.stop();
  await rm(cwd, { recursive: true });
});

const run = (env: Readonly<Record<string, string>>, more: readonly string[] = ["--verbose"]) =>
  rolecall(["plan", "shop.yaml", ...more], {
    cwd,
    env: {
      ROLECALL_API_KEY: "sk_test_sandbox",
      ROLECALL_BASE_URL: "https://service.test",
      NODE_EXTRA_CA_CERTS: join(TLS, "cert.pem"),
      ROLECALL_PROGRESS: "auto",
      ...env,
    },
  });

describe("behind a proxy", () => {
  test.each(["HTTPS_PROXY", "https_proxy"])("a service is reached over TLS as %s says", async (name) => {
    const asked = proxy.asked.length;
    const { code, stdout, stderr } = await run({ [name]: `http://ada:s3cret@${proxy.host}` });
    expect(code, stderr).toBe(0);
    expect(stdout).toContain("MC0DEMO1");
    expect(stderr).toContain(
      `https://service.test is reached through the proxy http://${proxy.host} (${name})\n`,
    );
    expect(stdout + stderr).not.toContain("s3cret");
    expect(proxy.asked.slice(asked).map(({ to }) => to)).toContain("service.test:443");
  });

  test("a service on this machine is reached as HTTP_PROXY says", async () => {
    const asked = proxy.asked.length;
    const env = { ROLECALL_BASE_URL: sandbox.url, HTTP_PROXY: `ada:s3cret@${proxy.host}` };
    expect((await run(env, [])).code).toBe(0);
    expect(proxy.asked.length).toBeGreaterThan(asked);
  });

  test("NO_PROXY has it reached directly", async () => {
    const asked = proxy.asked.length;
    const env = {
      ROLECALL_BASE_URL: sandbox.url,
      HTTP_PROXY: `ada:s3cret@${proxy.host}`,
      NO_PROXY: "127.0.0.0/8",
    };
    const { code, stderr } = await run(env);
    expect(code).toBe(0);
    expect(stderr).toContain(`${sandbox.url} is reached directly, without a proxy (NO_PROXY)\n`);
    expect(proxy.asked).toHaveLength(asked);
  });

  test("wrong credentials of a proxy end the command at once, and are not shown", async () => {
    const { code, stderr } = await run({ HTTPS_PROXY: `http://ada:wr0ng@${proxy.host}` });
    expect(code).toBe(1);
    expect(stderr).toContain(`the proxy ${proxy.host} requires other credentials (407)`);
    expect(stderr).not.toContain("wr0ng");
  });

  test("an address that is none says which variable holds it", async () => {
    const { code, stderr } = await run({ HTTPS_PROXY: "socks5://ada:s3cret@127.0.0.1:1" });
    expect(code).toBe(1);
    expect(stderr).toContain("HTTPS_PROXY is a socks5 proxy, which is not supported.");
    expect(stderr).not.toContain("s3cret");
  });
});
