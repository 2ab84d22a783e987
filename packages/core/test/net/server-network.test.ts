import type { LookupFunction } from "node:net";
import { WireError, type WireErrorCode } from "@fairlead/wire";
import { expect, test } from "vitest";
import { type ErrorCode, HostError } from "../../src/errors.ts";
import { isWireError, toFetchError } from "../../src/net/fetch-failure.ts";
import { createServerNetwork, hostOf, isLoopbackHost } from "../../src/net/server-network.ts";

/** A lookup that counts, and gives what the test says. */
function counted(found: string | readonly string[] | Error) {
  const asked: unknown[] = [];
  const resolve: LookupFunction = (host, options, callback) => {
    asked.push([host, options]);
    if (found instanceof Error) callback(found, "");
    else if (typeof found === "string") callback(null, found, 4);
    else
      callback(
        null,
        found.map((address) => ({ address, family: 4 })),
      );
  };
  return { asked, resolve };
}

const addressesOf = (url: string, options: Parameters<typeof createServerNetwork>[1]) =>
  createServerNetwork(url, options)?.addresses();

test("the addresses of a server are looked up once, all of them", async () => {
  const { asked, resolve } = counted(["1.1.1.1", "10.0.0.1"]);
  const network = createServerNetwork("https://mcp.example/mcp", { resolve });
  expect(network?.url.href).toBe("https://mcp.example/mcp");
  expect(asked).toEqual([]);
  expect(await network?.addresses()).toEqual(["1.1.1.1", "10.0.0.1"]);
  expect(await network?.addresses()).toEqual(["1.1.1.1", "10.0.0.1"]);
  expect(asked).toEqual([["mcp.example", { all: true }]]);
});

test("one address counts as a list, and a name without an address as an empty one", async () => {
  expect(await addressesOf("https://mcp.example/", counted("1.1.1.1"))).toEqual(["1.1.1.1"]);
  expect(await addressesOf("https://mcp.example/", counted(new Error("ENOTFOUND")))).toEqual([]);
});

test("an address in the URL, and addresses from before, are not looked up", async () => {
  const { asked, resolve } = counted("9.9.9.9");
  const addresses = ["1.1.1.1"];
  expect(await addressesOf("https://mcp.example/", { resolve, addresses })).toEqual(["1.1.1.1"]);
  expect(await addressesOf("http://10.0.0.1:8080/", { resolve, addresses })).toEqual(["10.0.0.1"]);
  expect(await addressesOf("http://[::1]/", { resolve })).toEqual(["::1"]);
  expect(asked).toEqual([]);
});

test("a text that is not a URL has no network", () => {
  expect(createServerNetwork("mcp.example")).toBeUndefined();
});

test("an IPv6 host has no brackets", () => {
  const hosts = ["http://[fd00::1]:80/", "http://a.example/"].map((url) => hostOf(new URL(url)));
  expect(hosts).toEqual(["fd00::1", "a.example"]);
});

test.each([
  ["localhost", true],
  ["a.b.localhost", true],
  ["127.0.0.1", true],
  ["127.9.9.9", true],
  ["[::1]", true],
  ["localhost.example", false],
  ["notlocalhost", false],
  ["128.0.0.1", false],
  ["127.0.0.1.example", false],
  ["[::2]", false],
])("%s is a loopback host: %s", (host, isLoopback) => {
  expect(isLoopbackHost(host)).toBe(isLoopback);
});

test.each<[WireErrorCode, ErrorCode]>([
  ["tls", "tls"],
  ["proxy", "proxy"],
  ["too_large", "too_large"],
  ["bad_message", "protocol"],
  ["unreachable", "unreachable"],
  ["timeout", "unreachable"],
])("a request that fails with %s fails with %s", (wire, code) => {
  const error = new WireError(wire, "why");
  const shown = toFetchError(error, "https://a.example");
  expect(shown).toBeInstanceOf(HostError);
  expect(shown).toMatchObject({ code, message: "why", cause: error });
});

test("a refusal stays as it is, also within a failed connection; other errors broke the response off", () => {
  const refusal = new HostError("denied", "no");
  expect(toFetchError(refusal, "o")).toBe(refusal);
  expect(toFetchError(new WireError("unreachable", "x", {}, { cause: refusal }), "o")).toBe(refusal);
  const reset = new Error("ECONNRESET");
  expect(toFetchError(reset, "https://a.example")).toMatchObject({
    code: "unreachable",
    message: "the response of https://a.example broke off: ECONNRESET",
    cause: reset,
  });
  expect([new WireError("rpc", ""), reset, { name: "WireError" }].map(isWireError)).toEqual([true, false, false]);
});
