// The floor: JSON-RPC over a pipe or node:http, written by hand, with no feature at all. Nothing useful can be cheaper by much.
const lists = ["tools", "prompts", "resources"];
const clientInfo = { name: "bench", version: "1.0.0" };

export async function open(target) {
  const wire = target.url === undefined ? await overPipe(target) : await overHttp(target);
  await wire.request("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
  wire.notify("notifications/initialized");
  return {
    async list() {
      const [tools] = await Promise.all(lists.map(async (name) => (await wire.request(`${name}/list`))[name]));
      return tools;
    },
    call: async (name, args) => (await wire.request("tools/call", { name, arguments: args })).content[0].text.length,
    close: () => wire.close(),
  };
}

async function overPipe({ command, args, env }) {
  // Not at the top: every driver pays for what Node brings when it first needs it.
  const { spawn } = await import("node:child_process");
  const child = spawn(command, args, { env, stdio: ["pipe", "pipe", "inherit"] });
  const pending = new Map();
  let lastId = 0;
  let pieces = [];

  function answered(line) {
    const { id, result } = JSON.parse(line);
    pending.get(id)(result);
    pending.delete(id);
  }

  child.stdout.on("data", (chunk) => {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      const rest = chunk.subarray(start, end);
      answered((pieces.length === 0 ? rest : Buffer.concat([...pieces, rest])).toString());
      pieces = [];
      start = end + 1;
    }
    if (start < chunk.length) pieces.push(chunk.subarray(start));
  });
  const write = (message) => child.stdin.write(`${JSON.stringify(message)}\n`);
  return {
    request(method, params) {
      lastId += 1;
      const id = lastId;
      return new Promise((resolve) => {
        pending.set(id, resolve);
        write({ jsonrpc: "2.0", id, method, params });
      });
    },
    notify: (method) => void write({ jsonrpc: "2.0", method }),
    close: () => child.kill("SIGKILL"),
  };
}

async function overHttp({ url }) {
  const { Agent, request: send } = await import("node:http");
  const agent = new Agent({ keepAlive: true });
  const { hostname, port, pathname: path } = new URL(url);
  let lastId = 0;

  function post(message) {
    const body = JSON.stringify(message);
    const headers = {
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
    };
    return new Promise((resolve, reject) => {
      const outgoing = send({ agent, hostname, port, path, method: "POST", headers }, (response) => {
        const chunks = [];
        response.on("data", (chunk) => chunks.push(chunk));
        response.on("end", () => resolve(Buffer.concat(chunks).toString()));
      });
      outgoing.on("error", reject);
      outgoing.end(body);
    });
  }

  return {
    async request(method, params) {
      lastId += 1;
      return JSON.parse(await post({ jsonrpc: "2.0", id: lastId, method, params })).result;
    },
    notify: (method) => void post({ jsonrpc: "2.0", method }),
    close: () => agent.destroy(),
  };
}
