/*
 * The balancer in front of the replicas: haproxy with the file of deploy/compose, or a small one in Node where haproxy is
 * absent. Round robin without stickiness; a request that a replica may have read is never sent again.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { Agent, createServer, request as send } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const file = fileURLToPath(new URL("../../deploy/compose/haproxy.cfg", import.meta.url));

/** The version of haproxy on this machine; undefined if it is absent. */
export function haproxyVersion() {
  return /version (\S+)/i.exec(String(spawnSync("haproxy", ["-v"]).stdout))?.[1];
}

/**
 * Starts haproxy with the configuration of deploy/compose, for these addresses.
 * @param replicas the addresses of the replicas, such as `127.0.0.1:8081`
 */
export async function startHaproxy({ port, replicas, folder }) {
  let at = 0;
  const text = readFileSync(file, "utf8")
    .replace(/^ {2}bind .*$/m, `  bind 127.0.0.1:${port}`)
    .replace(/^( {2}server \S+) \S+$/gm, (line, start) => (replicas[at] ? `${start} ${replicas[at++]}` : line));
  const own = join(folder, "haproxy.cfg");
  writeFileSync(own, text);
  const child = spawn("haproxy", ["-db", "-q", "-f", own], { stdio: ["ignore", "ignore", "pipe"] });
  let words = "";
  child.stderr.on("data", (chunk) => (words += chunk));
  const ended = once(child, "exit").then(() => {
    throw new Error(`haproxy ended: ${words}`);
  });
  ended.catch(() => undefined);
  return {
    ended,
    async close() {
      const gone = once(child, "exit");
      if (child.kill("SIGTERM")) await gone.catch(() => undefined);
    },
  };
}

/** Milliseconds between two checks of a replica. */
const interval = 500;

export async function startNodeBalancer({ port, replicas }) {
  const targets = replicas.map((replica) => {
    const [host, own] = replica.split(":");
    return { host, port: Number(own), isUp: true };
  });
  const agent = new Agent({ keepAlive: true });
  let turn = 0;
  const next = () => {
    const up = targets.filter(({ isUp }) => isUp);
    turn += 1;
    return up[turn % up.length];
  };
  function forward(request, response) {
    const target = next();
    if (target === undefined) return response.writeHead(503).end();
    const { host, port: own } = target;
    const { url: path, method, headers } = request;
    const forwarded = { ...headers, "x-forwarded-for": request.socket.remoteAddress };
    const sent = send({ agent, host, port: own, path, method, headers: forwarded }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
      answer.on("error", () => response.destroy());
    });
    sent.on("error", ({ code }) => {
      target.isUp = code !== "ECONNREFUSED" && target.isUp;
      // A refused connection has read nothing of the request, so another replica takes it.
      if (code === "ECONNREFUSED" && request.readableFlowing === null) return forward(request, response);
      return response.headersSent ? response.destroy() : response.writeHead(502).end();
    });
    sent.on("socket", (socket) => {
      const begin = () => request.pipe(sent);
      if (socket.connecting) socket.once("connect", begin);
      else begin();
    });
    response.on("close", () => sent.destroy());
    return undefined;
  }
  const timer = setInterval(() => {
    for (const target of targets)
      fetch(`http://${target.host}:${target.port}/readyz`, { signal: AbortSignal.timeout(2000) }).then(
        ({ ok }) => (target.isUp = ok),
        () => (target.isUp = false),
      );
  }, interval);
  const server = createServer(forward);
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    ended: new Promise(() => {}),
    close() {
      clearInterval(timer);
      agent.destroy();
      server.close();
      server.closeAllConnections();
    },
  };
}
