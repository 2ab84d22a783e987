/** No server can send Fairlead to addresses that are not its own: however they are written, and whatever a name turns out to mean. */

import type { LookupAddress } from "node:dns";
import { once } from "node:events";
import { type AddressInfo, createServer, isIP, type LookupFunction } from "node:net";
import { certificate, webServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { createBoundedFetch, type FetchOptions } from "../../src/net/bounded-fetch.ts";
import { createServerNetwork } from "../../src/net/server-network.ts";
import { hostEncodings, specialAddresses, specialAddresses6 } from "./host-encodings.ts";

const addressed = (address: string): LookupAddress => ({ address, family: isIP(address) });

/** Answers with one list after the other, and again with the last. */
function resolver(...answers: readonly string[][]): LookupFunction & { readonly asked: string[] } {
  const asked: string[] = [];
  const resolve: LookupFunction = (host, _options, callback) => {
    asked.push(host);
    callback(null, (answers[asked.length - 1] ?? answers.at(-1) ?? []).map(addressed));
  };
  return Object.assign(resolve, { asked });
}

/** Counts who knocks, on every address of this machine. */
async function canary(): Promise<AsyncDisposable & { readonly port: number; readonly knocks: () => number }> {
  let knocks = 0;
  const server = createServer((socket) => {
    knocks += 1;
    socket.destroy();
  });
  server.listen(0, "0.0.0.0");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    knocks: () => knocks,
    async [Symbol.asyncDispose]() {
      server.close();
      await once(server, "close");
    },
  };
}

async function outcome(url: string, options: Partial<FetchOptions> = {}): Promise<string> {
  const fetch = createBoundedFetch({ env: {}, ...options });
  return fetch(url).then(
    ({ status }) => `answered ${status}`,
    (error: { readonly code?: string }) => error.code ?? "no code",
  );
}

test("no way to write a special address leads anywhere", async () => {
  await using trap = await canary();
  const urls = hostEncodings()
    .flatMap((host) => [`https://${host}:${trap.port}/`, `http://${host}:${trap.port}/`])
    .filter((url) => URL.canParse(url));
  expect(urls.length).toBeGreaterThan(600);
  const open: string[] = [];
  for (const url of urls) if ((await outcome(url)) !== "denied") open.push(url);
  expect(open).toEqual([]);
  expect(trap.knocks()).toBe(0);
});

test("the same addresses do lead there when the server is on this machine: the trap works", async () => {
  await using trap = await canary();
  const near = "http://localhost/mcp";
  for (const host of ["127.0.0.1", "0x7f.1", "2130706433", "[::ffff:127.0.0.1]", "１２７.0.0.1"])
    expect(await outcome(`https://${host}:${trap.port}/`, { near })).not.toBe("denied");
  expect(trap.knocks()).toBe(5);
});

test("without a resolver of its own, a name is what the system says", async () => {
  await using server = await webServer((_request, response) => void response.end("here"));
  const url = server.origin.replace("127.0.0.1", "localhost");
  expect(await outcome(url, { near: url })).toBe("answered 200");
  expect(await outcome(url)).toBe("denied");
});

test("no name leads to a special address, nor one that has it among others", async () => {
  const open: string[] = [];
  for (const address of [...specialAddresses, ...specialAddresses6, "fe80::1%lo", "::ffff:10.0.0.1", "nonsense"])
    for (const answer of [[address], ["93.184.216.34", address], [address, "2606:2800:220:1::1"]]) {
      const found = await outcome("https://metadata.example/", { resolve: resolver(answer) });
      if (found !== "denied") open.push(answer.join(", "));
    }
  expect(open).toEqual([]);
});

test("a name that means something else the next time has been asked about once", async () => {
  await using server = await webServer((_request, response) => void response.end(), { secure: true });
  const resolve = resolver(["127.0.0.1"], ["10.0.0.1"]);
  const url = server.origin.replace("127.0.0.1", "localhost");
  expect(await outcome(url, { resolve, ca: certificate, near: "https://127.0.0.1/mcp" })).toBe("answered 200");
  expect(resolve.asked).toEqual(["localhost"]);
});

test("a name that means something else after a redirect is refused there", async () => {
  await using server = await webServer((_request, response) => void response.writeHead(307, { location: "/" }).end());
  const url = server.origin.replace("127.0.0.1", "rebinding.example");
  const resolve = resolver(["127.0.0.1"], ["127.0.0.1"], ["169.254.169.254"]);
  expect(await outcome(url, { resolve, near: url })).toBe("denied");
  expect(server.seen.length).toBe(1);
  expect(resolve.asked.length).toBe(3);
});

test("a name of this machine that leads elsewhere is refused", async () => {
  const resolve = resolver(["93.184.216.34"]);
  for (const host of ["localhost", "app.localhost"])
    expect(await outcome(`http://${host}/`, { resolve, near: "http://localhost/" })).toBe("denied");
});

test("a server whose own name means nothing is near no address", async () => {
  const resolve: LookupFunction = (host, _options, callback) => {
    if (host === "mcp.example") return callback(Object.assign(new Error("no"), { code: "ENOTFOUND" }), "");
    callback(null, [addressed("10.0.0.1")]);
  };
  expect(await outcome("https://login.example/", { resolve, near: "https://mcp.example/" })).toBe("denied");
});

/** Answers for one name with one list after the other, and for all others with this machine. */
function rebinding(host: string, ...answers: readonly string[][]): LookupFunction {
  const own = resolver(...answers);
  const here = resolver(["127.0.0.1"]);
  return (name, options, callback) => (name === host ? own : here)(name, options, callback);
}

test("a server whose name comes to mean this machine is not near it for that", async () => {
  await using trap = await canary();
  const resolve = rebinding("mcp.example", ["93.184.216.34"], ["127.0.0.1"]);
  const fetch = createBoundedFetch({ env: {}, near: "https://mcp.example/mcp", resolve });
  for (const host of ["localhost", "127.0.0.1", "mcp.example"])
    await expect(fetch(`http://${host}:${trap.port}/admin`)).rejects.toMatchObject({ code: "denied" });
  expect(trap.knocks()).toBe(0);
});

test("a server that was near when it was first looked for cannot speak from elsewhere", async () => {
  const resolve = rebinding("mcp.example", ["127.0.0.1"], ["93.184.216.34"]);
  await expect(
    createBoundedFetch({ env: {}, near: "https://mcp.example/mcp", resolve })("https://mcp.example/metadata"),
  ).rejects.toMatchObject({
    message: "Fairlead refused the request to mcp.example: its address was 127.0.0.1 and is now 93.184.216.34",
  });
});

test("where it was reached counts, whatever its name means to others", async () => {
  await using trap = await canary();
  const resolve = rebinding("mcp.example", ["127.0.0.1"]);
  const near = createServerNetwork("https://mcp.example/mcp", { addresses: ["93.184.216.34"], resolve });
  expect(await outcome(`http://localhost:${trap.port}/`, { near, resolve })).toBe("denied");
  expect(trap.knocks()).toBe(0);
});

test("a name that cannot be looked up in time is no reason to wait for ever", async () => {
  const never: LookupFunction = () => {};
  expect(await outcome("https://login.example/", { near: "https://mcp.example/", resolve: never, timeout: 10 })).toBe(
    "connect_timeout",
  );
});
