import { spawn } from "node:child_process";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import { buildSync } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { legacyWeb } from "../support/legacy-web.ts";
import { startEvents } from "../support/web-server.ts";

let folder: TemporaryFolder;

beforeAll(async () => {
  folder = await temporaryFolder();
  buildSync({
    entryPoints: [fileURLToPath(new URL("../../src/index.ts", import.meta.url))],
    outfile: `${folder.path}/wire.mjs`,
    bundle: true,
    platform: "node",
    format: "esm",
    external: ["cross-spawn"],
    banner: { js: 'import{createRequire as __cr}from"node:module";const require=__cr(import.meta.url);' },
  });
});
afterAll(() => folder[Symbol.asyncDispose]());

/** Runs lines of a host in a process of its own, until it ends by itself. */
async function run(code: string, env: Record<string, string> = {}): Promise<{ exit: unknown; output: string }> {
  const prelude = `import { connect, listAll } from ${JSON.stringify(`${folder.path}/wire.mjs`)}; const clientInfo = { name: "host", version: "1" };`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", prelude + code], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env["PATH"] ?? "", ...env },
  });
  let output = "";
  child.stdout.on("data", (chunk) => (output += String(chunk)));
  child.stderr.on("data", (chunk) => (output += String(chunk)));
  const [exit] = (await once(child, "close")) as unknown[];
  return { exit, output };
}

test("a host that waits for an answer lives until it comes, also while the server wants it to come back later", async () => {
  await using server = await legacyWeb({
    onPost(_, response) {
      startEvents(response);
      response.end("retry: 100\nid: 1\ndata:\n\n");
    },
    onGet(response, lastEventId) {
      if (lastEventId === undefined) return void response.writeHead(405).end();
      startEvents(response);
      response.end('data: {"jsonrpc":"2.0","id":2,"result":{"ok":1}}\n\n');
    },
  });
  const target = JSON.stringify({ kind: "http", url: server.url, headers: {} });
  const { exit, output } = await run(`
    const session = await connect(${target}, { clientInfo, era: "legacy", proxyFor: () => undefined });
    console.log(JSON.stringify(await session.request("tools/call", { name: "t" })));
    await session.close();`);
  expect({ exit, output }).toEqual({ exit: 0, output: '{"ok":1}\n' });
});

test("a proxy that never answers does not keep a host alive that has given up", async () => {
  const proxy = createServer((socket) => socket.resume()).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const { output } = await run(`
    const options = { clientInfo, proxyFor: () => "${url}", times: { connect: 300 } };
    await connect({ kind: "http", url: "https://server.invalid/", headers: {} }, options).catch(({ code }) => console.log(code));`);
  proxy.close();
  await once(proxy, "close");
  expect(output).toBe("timeout\n");
});

test("nothing is written to the host's own output, whatever a server does", async () => {
  const server = `
    const say = (text) => process.stdout.write(text + "\\n");
    process.stderr.write("talk\\n");
    say("noise"); say("{half"); say(JSON.stringify({ jsonrpc: "2.0", id: 99, result: {} }));
    require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
      const { id, method } = JSON.parse(line);
      if (method === "initialize") say(JSON.stringify({ jsonrpc: "2.0", id, result: { protocolVersion: "2099-01-01", capabilities: {} } }));
      else if (method === "tools/list") say(JSON.stringify({ jsonrpc: "2.0", id, result: { tools: [null, { name: 7 }, { name: "t" }] } }));
      else if (id !== undefined) say(JSON.stringify({ jsonrpc: "2.0", id, error: {} }));
    });`;
  const { exit, output } = await run(`
    const target = { kind: "stdio", command: process.execPath, args: ["-e", ${JSON.stringify(server)}], env: { PATH: process.env.PATH ?? "" }, cwd: "/" };
    const session = await connect(target, { clientInfo });
    await listAll(session, "tools");
    await session.request("x").catch(() => {});
    await Promise.all(Array.from({ length: 50 }, () => session.request("x").catch(() => {})));
    await session.close();`);
  expect({ exit, output }).toEqual({ exit: 0, output: "" });
});

describe("the proxy that the environment names", () => {
  const connectTo = (url: string): string => `
    const target = { kind: "http", url: ${JSON.stringify(url)}, headers: {} };
    const session = await connect(target, { clientInfo, era: "legacy", times: { connect: 20_000 } }).catch((error) => error);
    console.log(session.code ?? session.serverInfo.name);
    await session.close?.();`;

  test.each(["HTTP_PROXY", "http_proxy"])("is used for http: %s", async (variable) => {
    await using proxy = await legacyWeb({});
    const { output } = await run(connectTo("http://server.invalid/mcp"), { [variable]: proxy.url });
    expect(output).toBe("web\n");
    expect(proxy.seen[0]?.path).toBe("http://server.invalid/mcp");
  });

  test("is asked for a tunnel for https: HTTPS_PROXY", async () => {
    await using proxy = await legacyWeb({});
    const tunnels: unknown[] = [];
    proxy.server.on("connect", ({ url }, socket) => {
      tunnels.push(url);
      socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
    });
    const { output } = await run(connectTo("https://server.invalid/mcp"), { HTTPS_PROXY: proxy.url });
    expect(output).toBe("proxy\n");
    expect(tunnels).toEqual(["server.invalid:443"]);
  });

  test("is not used for what NO_PROXY names", async () => {
    await using proxy = await legacyWeb({});
    await using server = await legacyWeb({});
    const { output } = await run(connectTo(`${server.url}/mcp`), { HTTP_PROXY: proxy.url, NO_PROXY: "127.0.0.1" });
    expect(output).toBe("web\n");
    expect(proxy.seen).toEqual([]);
    expect(server.seen[0]?.path).toBe("/mcp");
  });

  test("is the one at fault when its address is none", async () => {
    const { output } = await run(connectTo("http://server.invalid/mcp"), { HTTP_PROXY: "socks5://127.0.0.1:1" });
    expect(output).toBe("proxy\n");
  });
});
