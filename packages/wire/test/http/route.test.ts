import { once } from "node:events";
import type { Agent, ClientRequest, IncomingMessage } from "node:http";
import { createServer } from "node:https";
import { type AddressInfo, connect as connectTo, createServer as createPlainServer } from "node:net";
import { certificate, certificateKey as key } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { createHttpClient, type HttpClient } from "../../src/http/http-client.ts";
import { openRoute } from "../../src/http/proxy.ts";
import { defaultLimits } from "../../src/target.ts";
import { webServer } from "../support/web-server.ts";

async function secureServer(): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer({ cert: certificate, key }, (_request, response) => void response.end("secret"));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}/mcp`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function get(url: string, options: { ca?: string; proxy?: string } = {}): Promise<number> {
  const client: HttpClient = await createHttpClient(
    { kind: "http", url, headers: {} },
    { limits: defaultLimits, ca: options.ca, proxyFor: () => options.proxy },
  );
  try {
    const answer = await client.request({ url: new URL(url), method: "GET", headers: {}, repeatable: true });
    answer.body.resume();
    return answer.status;
  } finally {
    client.close();
  }
}

test("a certificate of an unknown authority is a `tls` error; with its authority it is fine", async () => {
  await using server = await secureServer();
  await expect(get(server.url)).rejects.toMatchObject({ code: "tls", message: expect.stringContaining("localhost") });
  expect(await get(server.url, { ca: certificate })).toBe(200);
});

test("https to a server that speaks plain HTTP is a `tls` error", async () => {
  await using server = await webServer((_request, response) => void response.end());
  await expect(get(server.url.replace("http:", "https:"))).rejects.toMatchObject({ code: "tls" });
});

test.each([
  ["directly", undefined],
  ["through a plain proxy", "proxy"],
])(
  "an idle connection that was opened %s times out one second before the time that the server announces",
  async (_, via) => {
    await using web = await webServer((_request, response) => void response.end());
    web.server.keepAliveTimeout = 500_000;
    const url = new URL(web.url);
    const route = await openRoute(url, { proxyFor: () => (via === undefined ? undefined : web.url) });
    const request = route.request(url, { method: "GET" });
    const [response] = (await once(request.end(), "response")) as [IncomingMessage];
    response.resume();
    await once(request, "close");
    const { agent } = request as ClientRequest & { readonly agent: Agent };
    expect(Object.values(agent.freeSockets).map((sockets) => sockets?.map(({ timeout }) => timeout))).toEqual([
      [499_000],
    ]);
    route.close();
  },
);

test("a plain proxy gets the whole address and its credentials", async () => {
  await using proxy = await webServer((_request, response) => void response.end("via proxy"));
  const url = "http://server.invalid/mcp";
  expect(await get(url, { proxy: proxy.url.replace("//", "//user:p%40ss@") })).toBe(200);
  expect(proxy.seen[0]).toMatchObject({
    path: url,
    headers: { host: "server.invalid", "proxy-authorization": `Basic ${Buffer.from("user:p@ss").toString("base64")}` },
  });
});

test("a plain proxy that wants credentials is a `proxy` error", async () => {
  await using proxy = await webServer((_request, response) => void response.writeHead(407).end());
  await expect(get("http://server.invalid/mcp", { proxy: proxy.url })).rejects.toMatchObject({
    code: "proxy",
    evidence: { httpStatus: 407 },
  });
});

test("https goes through a tunnel; a proxy that refuses it is a `proxy` error", async () => {
  await using server = await secureServer();
  await using proxy = await webServer((_request, response) => void response.end());
  let refuse = false;
  proxy.server.on("connect", (request, socket) => {
    if (refuse) return void socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
    const [, port] = (request.url ?? "").split(":");
    const upstream = connectTo(Number(port), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      upstream.pipe(socket).pipe(upstream);
    });
    upstream.on("error", () => socket.destroy());
    socket.on("error", () => upstream.destroy());
  });
  expect(await get(server.url, { ca: certificate, proxy: proxy.url })).toBe(200);
  refuse = true;
  await expect(get(server.url, { ca: certificate, proxy: proxy.url })).rejects.toMatchObject({
    code: "proxy",
    evidence: { httpStatus: 407 },
  });
});

test.each([403, 407, 503])("a request whose tunnel the proxy refuses with %d was never sent", async (status) => {
  await using proxy = await webServer((_request, response) => void response.end());
  proxy.server.on("connect", (_request, socket) => void socket.end(`HTTP/1.1 ${status} Refused\r\n\r\n`));
  await expect(get("https://server.invalid/mcp", { proxy: proxy.url })).rejects.toMatchObject({
    code: "proxy",
    evidence: { httpStatus: status, unsent: true },
  });
});

test("a proxy that is not there is a `proxy` error", async () => {
  const gone = await webServer(() => {});
  await gone[Symbol.asyncDispose]();
  for (const url of ["http://server.invalid/", "https://server.invalid/"])
    await expect(get(url, { proxy: gone.url })).rejects.toMatchObject({ code: "proxy" });
});

test("a proxy that speaks something else is a `proxy` error that says so", async () => {
  const proxy = createPlainServer((socket) => void socket.resume().end("SSH-2.0-OpenSSH_9.6\r\n\r\n"));
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  for (const url of ["http://server.invalid/", "https://server.invalid/"])
    await expect(get(url, { proxy: address })).rejects.toMatchObject({
      code: "proxy",
      message: expect.stringContaining("the proxy does not speak HTTP"),
    });
  proxy.close();
  await once(proxy, "close");
});

test.each(["", "no address", "localhost:8080", "socks5://user:secret@127.0.0.1:1080"])(
  "an invalid URL is told as whose it is: %j",
  async (address) => {
    for (const url of ["http://server.invalid/", "https://server.invalid/"])
      await expect(get(url, { proxy: address })).rejects.toMatchObject({
        code: "proxy",
        message: "the proxy's URL is not an http or https URL",
      });
    await expect(get(address)).rejects.toMatchObject({
      code: "unreachable",
      message: "the server's URL is not an http or https URL",
    });
  },
);

test("an origin to which a server redirects is named in few words", async () => {
  const location = `http://${"x".repeat(50_000)}.invalid/`;
  await using server = await webServer((_request, response) => void response.writeHead(307, { location }).end());
  const error = await get(server.url).catch((cause: Error) => cause);
  expect(error).toMatchObject({ code: "http_status" });
  expect(String(error).length).toBeLessThan(400);
});

test("headers over the limit are refused", async () => {
  await using server = await webServer(
    (_request, response) => void response.writeHead(200, { "x-long": "x".repeat(100_000) }).end(),
  );
  await expect(get(server.url)).rejects.toMatchObject({ code: "too_large" });
});
