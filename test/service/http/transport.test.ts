import { createServer, type RequestListener, type Server } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import {
  type Later,
  LostResponse,
  lostResponse,
  type OpenTransport,
  type TransportLimits,
  undiciTransport,
} from "../../../src/service/http/transport.ts";
import { checkBaseUrl } from "../../../src/service/paths.ts";

const open: (Server | OpenTransport)[] = [];

async function closeAll(): Promise<void> {
  for (const one of open.splice(0)) {
    if ("send" in one) await one.close();
    else {
      one.closeAllConnections();
      await new Promise((resolve) => one.close(resolve));
    }
  }
}

afterEach(closeAll);

const LIMITS: TransportLimits = {
  connectTimeoutMs: 2000,
  responseTimeoutMs: 2000,
  wholeTimeoutMs: 3000,
  maxBodyBytes: 1000,
};

const never: Later = () => () => undefined;

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function serve(listener: RequestListener, prefix = "", later: Later = never): Promise<OpenTransport> {
  const url = `http://${await listen(listener)}${prefix}`;
  const transport = undiciTransport(checkBaseUrl(url), 2, later, LIMITS);
  open.unshift(transport);
  return transport;
}

const get = { method: "GET", path: "/v0.1/x?a=1", headers: { authorization: "Bearer k" } } as const;

describe("over a socket", () => {
  test("a request keeps the prefix of the base URL, and its response is read whole", async () => {
    const { send } = await serve(async (request, response) => {
      let body = "";
      for await (const piece of request) body += piece;
      response.writeHead(201, { "content-type": "application/json", "retry-after": "3" });
      response.end(JSON.stringify([request.method, request.url, request.headers.authorization, body]));
    }, "/prefix/");
    const answer = await send({ ...get, method: "POST", body: '{"name":"ä"}' });
    expect(answer.status).toBe(201);
    expect(answer.header("retry-after")).toBe("3");
    expect(answer.header("location")).toBeUndefined();
    expect(JSON.parse(answer.body)).toEqual(["POST", "/prefix/v0.1/x?a=1", "Bearer k", '{"name":"ä"}']);
  });

  test("a redirect is a response, and is not followed", async () => {
    const urls: (string | undefined)[] = [];
    const { send } = await serve((request, response) => {
      urls.push(request.url);
      response.writeHead(307, { location: "/elsewhere" }).end();
    });
    expect(await send(get)).toMatchObject({ status: 307 });
    expect(urls).toEqual(["/v0.1/x?a=1"]);
  });

  test.each<[string, RequestListener, object]>([
    ["breaks before it", (request) => request.socket.destroy(), { kind: "network", sent: true }],
    [
      "breaks in the middle of it",
      (request, response) => {
        response.writeHead(200, { "content-length": "100" });
        response.write("half", () => request.socket.destroy());
      },
      { kind: "network", sent: true },
    ],
    ["never stops", (_, response) => void response.end("x".repeat(5000)), { kind: "too-large", sent: true }],
    [
      "never stops, in pieces",
      (_, response) => {
        for (let piece = 0; piece < 50; piece += 1) response.write("x".repeat(100));
        response.end();
      },
      { kind: "too-large", sent: true },
    ],
  ])("a response that %s is lost", async (_, listener, expected) => {
    const { send } = await serve(listener);
    await expect(send(get)).rejects.toMatchObject({ name: "LostResponse", ...expected });
  });

  test("nothing was sent where nothing listens", async () => {
    const host = await listen(() => undefined);
    await closeAll();
    const transport = undiciTransport(checkBaseUrl(`http://${host}`), 1, never, LIMITS);
    open.push(transport);
    await expect(transport.send(get)).rejects.toMatchObject({
      kind: "network",
      sent: false,
      message: `nothing is listening at ${host}`,
    });
  });

  test("nothing was sent where HTTPS is not spoken, and trying again would not help", async () => {
    const host = await listen(() => undefined);
    const transport = undiciTransport(checkBaseUrl(`https://${host}`), 1, never, LIMITS);
    open.unshift(transport);
    await expect(transport.send(get)).rejects.toMatchObject({
      kind: "refused",
      sent: false,
      message: `${host} does not speak HTTPS`,
    });
  });

  test("a slow response is given up at its timeout, which ends with the response", async () => {
    let tooLate = (): void => undefined;
    const asked: { readonly ms: number; over: boolean }[] = [];
    const later: Later = (ms, run) => {
      const timer = { ms, over: false };
      asked.push(timer);
      tooLate = run;
      return () => {
        timer.over = true;
      };
    };
    const { send } = await serve(
      ({ url }, response) => {
        if (url === "/whole") response.end("{}");
        else response.write("{", () => tooLate());
      },
      "",
      later,
    );
    await send({ ...get, path: "/whole" });
    await expect(send({ ...get, withinMs: 70 })).rejects.toMatchObject({ kind: "timeout", sent: true });
    expect(asked).toEqual([
      { ms: LIMITS.wholeTimeoutMs, over: true },
      { ms: 70, over: true },
    ]);
  });

  test("closing does not wait for requests in flight", async () => {
    let arrived = (): void => undefined;
    const underWay = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const transport = await serve(() => arrived());
    const lost = expect(transport.send(get)).rejects.toMatchObject({ kind: "network", sent: true });
    await underWay;
    await transport.close();
    await lost;
  });

  test("a request that no connection could send is a bug, and shows as one", async () => {
    const { send } = await serve((_, response) => void response.end());
    const headers = { "not a header": "x" };
    await expect(send({ ...get, headers })).rejects.not.toBeInstanceOf(LostResponse);
  });

  test("an aborted request is not sent once it gets a connection", async () => {
    let asked = 0;
    const { send } = await serve((_, response) => {
      asked += 1;
      response.end("{}");
    });
    const stop = new AbortController();
    // Its connection takes at least a turn.
    const lost = expect(send({ ...get, signal: stop.signal })).rejects.toThrow("not wanted");
    stop.abort(new Error("not wanted"));
    await lost;
    await send(get);
    expect(asked).toBe(1);
  });

  test("a write that waits for a connection is not sent once the run is stopped; one that was sent ends", async () => {
    let asked = 0;
    let answer: () => void = () => undefined;
    const { send } = await serve((_, response) => {
      asked += 1;
      answer = () => response.end("{}");
      if (asked === 2) stop.abort(new Error("stopped"));
    });
    const stop = new AbortController();
    const put = { ...get, method: "PUT", notAfter: stop.signal } as const;
    // There are two connections.
    const [one, two, three] = [send(put), send(put), send(put)];
    await expect(three).rejects.toThrow("stopped");
    answer();
    expect((await Promise.race([one, two])).status).toBe(200);
    await expect(send(put)).rejects.toThrow("stopped");
    expect(asked).toBe(2);
    await closeAll();
    await Promise.allSettled([one, two]);
  });

  test("a byte order mark is removed from a response", async () => {
    const { send } = await serve((_, response) => void response.end("\ufeff{}"));
    expect((await send(get)).body).toBe("{}");
  });

  test("an informational response is no response", async () => {
    const { send } = await serve((_, response) => {
      response.writeEarlyHints({ link: "</x>; rel=preload" });
      response.writeHead(200, { "x-own": "1" }).end("{}");
    });
    const { status, header, body } = await send(get);
    expect([status, header("x-own"), header("link"), body]).toEqual([200, "1", undefined, "{}"]);
  });

  test("an aborted request rejects with the reason of its signal", async () => {
    const stop = new AbortController();
    const { send } = await serve(() => stop.abort(new Error("not wanted any more")));
    await expect(send({ ...get, signal: stop.signal })).rejects.toThrow("not wanted any more");
  });
});

describe("an error of a connection", () => {
  const coded = (code: string, more: object = {}) => Object.assign(new Error(code), { code, ...more });
  test.each<[unknown, string, boolean]>([
    [coded("ECONNREFUSED"), "network", false],
    [coded("ENOTFOUND", { syscall: "getaddrinfo" }), "network", false],
    [coded("EHOSTUNREACH", { syscall: "connect" }), "network", false],
    [coded("EHOSTUNREACH", { syscall: "read" }), "network", true],
    [
      Object.assign(new AggregateError([coded("ETIMEDOUT", { syscall: "connect" })]), { code: "ETIMEDOUT" }),
      "timeout",
      false,
    ],
    [coded("ETIMEDOUT", { syscall: "connect" }), "timeout", false],
    [coded("ETIMEDOUT", { syscall: "read" }), "network", true],
    [coded("HPE_INVALID_CONSTANT"), "network", true],
    [coded("ERR_SSL_WRONG_VERSION_NUMBER"), "refused", false],
    [coded("DEPTH_ZERO_SELF_SIGNED_CERT"), "untrusted", false],
    [coded("UNABLE_TO_VERIFY_LEAF_SIGNATURE"), "untrusted", false],
    [coded("CERT_HAS_EXPIRED"), "untrusted", false],
    [coded("ERR_TLS_CERT_ALTNAME_INVALID"), "untrusted", false],
    [coded("UND_ERR_CONNECT_TIMEOUT"), "timeout", false],
    [coded("UND_ERR_HEADERS_TIMEOUT"), "timeout", true],
    [coded("UND_ERR_BODY_TIMEOUT"), "timeout", true],
    [coded("ECONNRESET", { syscall: "read" }), "network", true],
    [coded("UND_ERR_SOCKET"), "network", true],
  ])("%s is a lost response (%s, sent: %s)", (error, kind, sent) => {
    expect(lostResponse(error, "api.example.com")).toMatchObject({ kind, sent });
  });
});

test("suggests a next step if this process may open no more files", () => {
  for (const syscall of ["connect", "socket", "open"]) {
    const error = Object.assign(new Error("EMFILE"), { code: "EMFILE", syscall });
    expect(lostResponse(error, "api.example.com")).toMatchObject({
      kind: "network",
      sent: false,
      message:
        "this process cannot open any more files or connections (EMFILE); use a smaller --concurrency, or raise `ulimit -n`",
    });
  }
});

describe("an error that is not the connection's", () => {
  test.each<[string, unknown]>([
    ["a bug", new TypeError("x is not a function")],
    ["a bug with a code", Object.assign(new TypeError("wrong"), { code: "ERR_SOMETHING" })],
    ["a request that cannot be", Object.assign(new Error("wrong"), { code: "UND_ERR_INVALID_ARG" })],
    ["an error without a code", new Error("plain")],
    ["no error at all", "text"],
  ])("is not a lost response: %s", (_, error) => {
    expect(lostResponse(error, "api.example.com")).toBeNull();
  });
});

describe("a base URL", () => {
  test.each([
    "https://api.example.com",
    "https://api.example.com:8443/prefix/",
    "http://127.0.0.1:4010",
    "http://127.9.9.9",
    "http://[::1]:80",
    "http://localhost:3000/x",
  ])("may be %s", (text) => {
    expect(checkBaseUrl(text).href).toContain("://");
  });

  test.each([
    ["http://api.example.com", "base-url-insecure"],
    ["http://127.0.0.1.example.com", "base-url-insecure"],
    ["http://localhost.example.com", "base-url-insecure"],
    ["http://0.0.0.0", "base-url-insecure"],
    ["https://user:hunter2@api.example.com", "usage"],
    ["https://api.example.com/?token=hunter2", "usage"],
    ["https://api.example.com/#hunter2", "usage"],
    ["ftp://api.example.com", "usage"],
    ["api.example.com", "usage"],
    ["", "usage"],
  ])("must not be %s", (text, code) => {
    expect(() => checkBaseUrl(text)).toThrow(expect.objectContaining({ code }));
    expect(() => checkBaseUrl(text)).not.toThrow(/hunter2/);
  });

  test.each([
    ["https://api.example.com/v0.1/", "Remove it: rolecall adds the API version."],
    ["api.example.com", "Add the scheme: https://api.example.com"],
    ["nothing", "For example: https://api.example.com"],
  ])("the hint for the base URL %s says what to write", (text, hint) => {
    expect(() => checkBaseUrl(text)).toThrow(expect.objectContaining({ hint }));
  });
});

describe("a response that is not HTTP is lost", () => {
  test.each([
    ["garbage", "\u0000\u0001 nothing like it\r\n\r\n"],
    ["another protocol", "SSH-2.0-OpenSSH_9.2\r\n"],
    ["a bad chunk", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nZZ\r\n{}\r\n0\r\n\r\n"],
    ["a bad header", "HTTP/1.1 200 OK\r\nnonsense\r\n\r\n{}"],
    [
      "both lengths",
      "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    ],
    ["two lengths", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}"],
    ["no status", "HTTP/1.1 1000 X\r\n\r\n"],
    ["headers without end", `HTTP/1.1 200 OK\r\nx: ${"a".repeat(40_000)}\r\n\r\n{}`, "too-large"],
  ])("%s", async (_, text, kind = "network") => {
    const server = createTcpServer((socket) => {
      socket.on("error", () => undefined).once("data", () => socket.end(text, "latin1"));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const transport = undiciTransport(new URL(`http://127.0.0.1:${port}`), 1, never, LIMITS);
    const lost = await transport
      .send({ method: "POST", path: "/", headers: {}, body: "{}" })
      .catch((error) => error);
    await transport.close();
    server.close();
    expect(lost).toBeInstanceOf(LostResponse);
    expect(lost).toMatchObject({ kind, sent: true });
  });
});
