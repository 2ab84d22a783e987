/** Proxies and certificates as on the wire; and what the rules about addresses mean where a proxy finds the way. */

import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect, isIP, type LookupFunction } from "node:net";
import { certificate, refusingProxy, webServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { createBoundedFetch } from "../../src/net/bounded-fetch.ts";

const answering =
  (...addresses: readonly string[]): LookupFunction =>
  (_host, _options, callback) =>
    callback(
      null,
      addresses.map((address) => ({ address, family: isIP(address) })),
    );

const unknown: LookupFunction = (host, _options, callback) =>
  callback(Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: "ENOTFOUND" }), "");

/** Lets everything through, to this machine, whatever the name. */
async function tunnel(): Promise<AsyncDisposable & { readonly origin: string; readonly asked: readonly string[] }> {
  const asked: string[] = [];
  const server = createServer().on("connect", ({ url = "" }, socket) => {
    asked.push(url);
    const upstream = connect(Number(url.split(":").at(-1)), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      upstream.pipe(socket).pipe(upstream);
    });
    upstream.on("error", () => socket.destroy());
    socket.on("error", () => upstream.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    async [Symbol.asyncDispose]() {
      server.close();
      await once(server, "close");
    },
  };
}

test("a certificate of an unknown authority is an error; with its authority it is fine", async () => {
  await using server = await webServer((_request, response) => void response.end(), { secure: true });
  const near = server.origin;
  await expect(createBoundedFetch({ env: {}, near })(server.origin)).rejects.toMatchObject({
    name: "HostError",
    code: "tls",
  });
  expect((await createBoundedFetch({ env: {}, near, ca: certificate })(server.origin)).status).toBe(200);
});

test("https goes through a tunnel, to a name that need not be known here", async () => {
  await using server = await webServer((_request, response) => void response.end("inside"), { secure: true });
  await using proxy = await tunnel();
  const url = server.origin.replace("127.0.0.1", "localhost");
  const fetch = createBoundedFetch({ env: { HTTPS_PROXY: proxy.origin }, ca: certificate, resolve: unknown });
  expect(await (await fetch(url)).text()).toBe("inside");
  expect(proxy.asked).toEqual([new URL(url).host]);
});

test("plain http, where it is allowed at all, gives the proxy the whole address", async () => {
  await using proxy = await webServer((_request, response) => void response.end("by proxy"));
  const near = "http://mcp.example/mcp";
  const env = { http_proxy: proxy.origin.replace("//", "//user:p%40ss@") };
  const fetch = createBoundedFetch({ env, near, resolve: unknown });
  expect(await (await fetch("http://mcp.example/.well-known/x")).text()).toBe("by proxy");
  expect(proxy.seen).toMatchObject([
    {
      path: "http://mcp.example/.well-known/x",
      headers: { host: "mcp.example", "proxy-authorization": `Basic ${Buffer.from("user:p@ss").toString("base64")}` },
    },
  ]);
});

test.each<[string, string, LookupFunction]>([
  ["an address", "https://10.0.0.1/", unknown],
  ["an address in other words", "https://0x7f.1/", unknown],
  ["a name that means one here", "https://metadata.example/", answering("169.254.169.254")],
  ["a name that means one here beside others", "https://metadata.example/", answering("93.184.216.34", "10.0.0.1")],
])("a proxy is not asked for what must not be asked: %s", async (_what, url, resolve) => {
  await using proxy = await refusingProxy(403);
  const fetch = createBoundedFetch({ env: { ALL_PROXY: proxy.origin }, resolve });
  await expect(fetch(url)).rejects.toMatchObject({ code: "denied" });
  expect(proxy.asked).toEqual([]);
});

test("every hop finds its own way, and is checked on it", async () => {
  await using proxy = await refusingProxy(403);
  await using server = await webServer((_request, response) =>
    response.writeHead(302, { location: "https://login.example/" }).end(),
  );
  const env = { HTTPS_PROXY: proxy.origin, HTTP_PROXY: proxy.origin, NO_PROXY: "127.0.0.1" };
  for (const [resolve, code, asked] of [
    [answering("10.0.0.1"), "denied", []],
    [answering("93.184.216.34"), "proxy", ["login.example:443"]],
  ] as const) {
    const fetch = createBoundedFetch({ env, near: server.origin, resolve });
    await expect(fetch(server.origin)).rejects.toMatchObject({ code });
    expect(proxy.asked).toEqual(asked);
  }
  expect(server.seen.length).toBe(2);
});

test.each([403, 407] as const)(
  "a proxy that answers %i is named as what refused, without its password",
  async (status) => {
    await using proxy = await refusingProxy(status);
    const env = { https_proxy: proxy.origin.replace("//", "//user:hidden-word@") };
    const error: unknown = await createBoundedFetch({ env, resolve: unknown })("https://login.example/").catch(
      (cause: unknown) => cause,
    );
    expect(error).toMatchObject({
      name: "HostError",
      code: "proxy",
      message: `the proxy answered with HTTP status ${status}`,
    });
    expect(JSON.stringify(error, ["message", "next", "evidence"])).not.toContain("hidden-word");
  },
);

test("a proxy whose address is none is an error about it", async () => {
  const fetch = createBoundedFetch({ env: { https_proxy: "socks5://127.0.0.1:1" }, resolve: unknown });
  await expect(fetch("https://login.example/")).rejects.toMatchObject({ name: "HostError", code: "proxy" });
});
