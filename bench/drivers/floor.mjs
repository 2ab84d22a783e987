/*
 * The floor: JSON-RPC over a pipe or node:http, written by hand without checks and features. No host can cost much
 * less.
 */
import { spawn } from "node:child_process";

const lists = ["tools", "prompts", "resources"];
const clientInfo = { name: "floor", version: "1.0.0" };

/** Connects to all servers at once and reads their lists. */
export async function open(servers) {
  const opened = new Map(await Promise.all(servers.map(async (server) => [server.name, await connect(server)])));
  return {
    count: () => [...opened.values()].reduce((sum, { tools }) => sum + tools.length, 0),
    async call(server, tool, given) {
      const { content } = await opened.get(server).request("tools/call", { name: tool, arguments: given });
      return content[0].text.length;
    },
    close: () => Promise.all([...opened.values()].map(({ close }) => close())),
  };
}

async function connect(server) {
  const { request, notify, close } = await (server.url === undefined ? overPipe(server) : overHttp(server));
  await request("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
  notify("notifications/initialized");
  const [{ tools }] = await Promise.all(lists.map((name) => request(`${name}/list`)));
  return { tools, request, close };
}

function overPipe({ command, args }) {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const pending = new Map();
  let pieces = [];
  let lastId = 0;

  function onLine(line) {
    const { id, result } = JSON.parse(line);
    pending.get(id)(result);
    pending.delete(id);
  }

  child.stdout.on("data", (chunk) => {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      const last = chunk.subarray(start, end);
      onLine((pieces.length === 0 ? last : Buffer.concat([...pieces, last])).toString());
      pieces = [];
      start = end + 1;
    }
    if (start < chunk.length) pieces.push(chunk.subarray(start));
  });
  const write = (message) => child.stdin.write(`${JSON.stringify(message)}\n`);
  return {
    request: (method, params) => {
      lastId += 1;
      const id = lastId;
      return new Promise((resolve) => {
        pending.set(id, resolve);
        write({ jsonrpc: "2.0", id, method, params });
      });
    },
    notify: (method) => void write({ jsonrpc: "2.0", method }),
    close: () => new Promise((resolve) => child.once("close", resolve).stdin.end()),
  };
}

async function overHttp({ url }) {
  const { Agent, request: send } = await import("node:http");
  const agent = new Agent({ keepAlive: true });
  let lastId = 0;

  function post(message) {
    const body = JSON.stringify(message);
    const headers = {
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
    };
    return new Promise((resolve, reject) => {
      const outgoing = send(url, { agent, method: "POST", headers }, (response) => {
        const chunks = [];
        response.on("data", (chunk) => chunks.push(chunk));
        response.on("end", () => resolve(Buffer.concat(chunks).toString()));
      });
      outgoing.on("error", reject);
      outgoing.end(body);
    });
  }

  return {
    request: async (method, params) => {
      lastId += 1;
      return JSON.parse(await post({ jsonrpc: "2.0", id: lastId, method, params })).result;
    },
    notify: (method) => void post({ jsonrpc: "2.0", method }),
    close: async () => agent.destroy(),
  };
}
