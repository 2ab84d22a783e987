import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { scaled, stdioServer, type WebReply, webServer } from "@fairlead/test-servers";
import { expect, it } from "vitest";
import { type GatewayMachine, gatewayMachine } from "../support/gateway-client.ts";
import { program } from "../support/process.ts";

const megabyte = 1_000_000;

/** The memory that a process uses, or the most that it has used, in megabytes. 0 where the system does not tell. */
function memoryOf(pid: number, which: "VmRSS" | "VmHWM"): number {
  const file = `/proc/${pid}/status`;
  const status = existsSync(file) ? readFileSync(file, "utf8") : "";
  const [, kilobytes = "0"] = new RegExp(`^${which}:\\s+(\\d+)`, "m").exec(status) ?? [];
  return Number(kilobytes) / 1024;
}

const greeting = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "silent", version: "1" } };

/** A client that sends requests and reads nothing. */
function silentClient({ project, env }: GatewayMachine) {
  const child = spawn(process.execPath, [program, "serve", "--client", "silent"], {
    cwd: project,
    env,
    stdio: ["pipe", "pipe", "ignore"],
  });
  let id = 0;
  child.stdin.on("error", () => {});
  return {
    send(method: string, params: object): void {
      id += 1;
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    },
    async kill(): Promise<void> {
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    },
  };
}

const size = 4;
const count = scaled(250, 80);

it("a client that reads none of its results of 4 MB costs the host at most 256 MB, and other clients go on", async () => {
  const own = { ...stdioServer("large-result"), share: "all" };
  await using here = await gatewayMachine({ big: own, small: own });
  const other = await here.client();
  const call = (name: string, bytes: number) => other.call(name, { size: bytes });
  expect(await call("write", 10)).toHaveProperty("result.content");
  expect(await call("small__write", 10)).toHaveProperty("result.content");
  const pid = (await here.hostPid()) ?? 0;
  const start = memoryOf(pid, "VmRSS");

  const silent = silentClient(here);
  silent.send("initialize", greeting);
  for (let sent = 0; sent < count; sent += 1)
    silent.send("tools/call", { name: "write", arguments: { size: size * megabyte } });
  // The server answers in order, so each of these calls waits for those of the silent client that it already has.
  for (let round = 0; round < scaled(20, 6); round += 1) {
    expect(await call("write", 10)).toHaveProperty("result.content");
    expect(await call("small__write", 10)).toHaveProperty("result.content");
  }
  expect(memoryOf(pid, "VmHWM") - start).toBeLessThan(256);

  await silent.kill();
  // The server still sends the results of the client that is gone.
  expect(await call("write", 20 * megabyte)).toHaveProperty("result.content");
});

/** The tool `write` over HTTP. At an address with "events", the response is an event stream. */
const writes: WebReply = (request, response) => {
  if (request.method !== "POST") return void response.writeHead(405).end();
  const { id, method, params } = JSON.parse(request.body);
  if (id === undefined) return void response.writeHead(202).end();
  const results: Readonly<Record<string, () => object>> = {
    initialize: () => ({ ...greeting, capabilities: { tools: {} }, serverInfo: { name: "web", version: "1" } }),
    "tools/list": () => ({ tools: [{ name: "write", inputSchema: { type: "object" } }] }),
    "tools/call": () => ({ content: [{ type: "text", text: "x".repeat(params.arguments.size) }] }),
  };
  const result = results[method];
  const body = result ? { result: result() } : { error: { code: -32601, message: `no ${method} here` } };
  const text = JSON.stringify({ jsonrpc: "2.0", id, ...body });
  const isStream = request.path.includes("events");
  response.writeHead(200, { "content-type": isStream ? "text/event-stream" : "application/json" });
  response.end(isStream ? `data: ${text}\n\n` : text);
};

const modernMeta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

it.each([
  { servers: "stdio", era: "legacy" },
  { servers: "HTTP", era: "modern" },
])(
  "eight $servers servers that send results of 20 MB at once to a $era client that reads nothing cost the host at most 256 MB",
  async ({ servers, era }) => {
    const names = Array.from({ length: 8 }, (_, index) => `s${index}`);
    await using web = await webServer(writes);
    const entryOf = (index: number): object =>
      servers === "stdio"
        ? { ...stdioServer("large-result"), share: "all" }
        : { httpUrl: `${web.origin}/${index % 2 === 0 ? "events" : "json"}` };
    await using here = await gatewayMachine(Object.fromEntries(names.map((name, index) => [name, entryOf(index)])));
    const other = await here.client();
    const tools = ["write", ...names.slice(1).map((name) => `${name}__write`)];
    const callAll = async () => {
      const results = await Promise.all(tools.map((tool) => other.call(tool, { size: 10 })));
      for (const result of results) expect(result).toHaveProperty("result.content");
    };
    await callAll();
    const pid = (await here.hostPid()) ?? 0;
    const start = memoryOf(pid, "VmRSS");

    const silent = silentClient(here);
    if (era === "legacy") silent.send("initialize", greeting);
    const extra = era === "modern" ? { _meta: modernMeta } : {};
    const large = Array.from({ length: scaled(5, 1) }, () => tools).flat();
    for (const tool of large) silent.send("tools/call", { name: tool, arguments: { size: 20 * megabyte }, ...extra });
    // Until all large results have arrived. Other clients get their small results in the meantime.
    for (let arrived = 0; arrived < large.length; ) {
      await callAll();
      const { stdout } = await here.run("history", "--json", "--client", "silent", "--limit", "1000");
      arrived = (JSON.parse(stdout) as { readonly entries: readonly unknown[] }).entries.length;
    }
    expect(memoryOf(pid, "VmHWM") - start).toBeLessThan(256);
    await silent.kill();
  },
  scaled(300_000, 60_000),
);
