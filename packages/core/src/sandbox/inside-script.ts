/**
 * The script that connects a sandbox to the host's proxy. Inside, there is no network but this socket. Node loads the
 * script before a server's own code; beside servers in other languages it runs as a process of its own.
 */

/** Where the sandbox shows the script, and the socket of the host's proxy. */
export const insideFolder = "/run/fairlead";
export const insideScriptPath: string = `${insideFolder}/net.cjs`;
export const insideSocketPath: string = `${insideFolder}/net.sock`;
/** The port inside on which the script accepts what programs send to an HTTP proxy. */
export const insideProxyPort = 3128;
/** The variable with the addresses inside that stand for `tcp` of the profile: a list of `[address, port, target]`. */
export const insideTcpVariable = "FAIRLEAD_SANDBOX_TCP";
/** The variable with the ports of this machine's loopback addresses that the profile lists, separated by spaces. */
export const insideLoopbackVariable = "FAIRLEAD_SANDBOX_LOOPBACK";

/**
 * In Node, connections to other hosts are led to the proxy, whatever library opens them: `connect` of a socket asks the
 * proxy for the host first, inside the lookup that Node does anyway, so a refusal is an error with the name of the host.
 * Names that a program looks up by itself get an address that stands for the name. It looks like a public one (11.0.0.0/8),
 * because many servers refuse private and reserved ones themselves.
 */
export const insideScript: string = String.raw`"use strict";
const net = require("node:net");
const threads = require("node:worker_threads");
// Node loads the script before a server's own code. A thread of the server, or a process of its own, serves other programs.
const isServer = threads.isMainThread && require.main !== module;
const socketPath = "${insideSocketPath}";
const connect = net.Socket.prototype.connect;
const open = () => connect.call(new net.Socket({ allowHalfOpen: true }), { path: socketPath });

function join(one, other) {
  one.on("error", () => other.destroy());
  other.on("error", () => one.destroy());
  one.on("close", () => other.destroy());
  other.on("close", () => one.destroy());
  one.pipe(other);
  other.pipe(one);
}

function listen(port, address, accept) {
  const server = net.createServer({ allowHalfOpen: true }, accept);
  server.listen(port, address);
  return server;
}

/** Asks the proxy for a connection. */
function dial(name, port) {
  return new Promise((resolve, reject) => {
    const upstream = open();
    const host = name.includes(":") ? "[" + name + "]" : name;
    let head = Buffer.alloc(0);
    const fail = (code, message) => {
      upstream.destroy();
      const error = new Error("connect " + code + " " + host + ":" + port + (message ? " - " + message : ""));
      reject(Object.assign(error, { code, syscall: "connect", hostname: name, port }));
    };
    const lost = () => fail("ECONNRESET", "the sandbox's proxy does not answer");
    upstream.on("error", lost);
    upstream.on("end", lost);
    const read = (chunk) => {
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf("\r\n\r\n");
      if (end < 0) return head.length > 16384 ? lost() : undefined;
      upstream.pause();
      upstream.off("data", read);
      upstream.off("error", lost);
      upstream.off("end", lost);
      const text = head.toString("latin1", 0, end);
      const [, status] = /^HTTP\/1\.[01] (\d+)/.exec(text) || [];
      if (status !== "200") {
        const [, encoded = ""] = /\r\nx-fairlead-reason: (.*)/i.exec(text) || [];
        return fail(status === "403" ? "EACCES" : "ECONNREFUSED", decodeURIComponent(encoded));
      }
      const rest = head.subarray(end + 4);
      if (rest.length > 0) upstream.unshift(rest);
      resolve(upstream);
    };
    upstream.on("data", read);
    upstream.write("CONNECT " + host + ":" + port + " HTTP/1.1\r\nHost: " + host + ":" + port + "\r\n\r\n");
  });
}

/** Accepts what programs send to an HTTP proxy, and connections to the addresses that stand for the names of the profile's tcp. */
function serve(ready) {
  const servers = [listen(${insideProxyPort}, "127.0.0.1", (client) => join(client, open()))];
  for (const [address, port, target] of JSON.parse(process.env.${insideTcpVariable} || "[]")) {
    const [, name, number] = /^\[?(.*?)\]?:(\d+)$/.exec(target);
    const accept = (client) => dial(name, Number(number)).then((upstream) => join(client, upstream), () => client.destroy());
    servers.push(listen(port, address, accept));
  }
  let left = servers.length;
  const settle = () => (left -= 1) || ready();
  // Another process of the same server may have the port already.
  for (const server of servers) server.once("listening", settle).once("error", settle);
}

if (!threads.isMainThread)
  serve(() => {
    Atomics.store(threads.workerData, 0, 1);
    Atomics.notify(threads.workerData, 0);
  });
else if (!isServer)
  // The shell that starts the server waits until this process has closed its output.
  serve(() => require("node:fs").closeSync(1));
else {
  const dns = require("node:dns");
  const isLocal = (host) => /^(?:localhost|127\.[\d.]+|::1|::|0\.0\.0\.0|::ffff:127\.[\d.]+)$/i.test(host);
  // Ports of this machine's loopback addresses that the profile lists. Other ports of loopback are those of the sandbox.
  const hostPorts = new Set((process.env.${insideLoopbackVariable} || "").split(" ").map(Number));

  const namesOf = new Map();
  const addressOf = new Map();
  function standIn(name) {
    let address = addressOf.get(name);
    if (address === undefined) {
      const index = addressOf.size + 1;
      if (index > 131000) return undefined;
      address = "11." + (index >> 16) + "." + ((index >> 8) & 255) + "." + (index & 255);
      addressOf.set(name, address);
      namesOf.set(address, name);
    }
    return address;
  }

  const lookup = dns.lookup;
  const isOurs = (name) => typeof name === "string" && name !== "" && net.isIP(name) === 0 && !isLocal(name);
  dns.lookup = function (hostname, options, callback) {
    const done = typeof options === "function" ? options : callback;
    const { family, all } = typeof options === "object" && options !== null ? options : { family: options };
    if (!isOurs(hostname) || typeof done !== "function") return lookup.apply(this, arguments);
    const address = family === 6 || family === "IPv6" ? undefined : standIn(hostname.toLowerCase());
    process.nextTick(() => {
      if (address === undefined)
        return done(Object.assign(new Error("getaddrinfo ENOTFOUND " + hostname), { code: "ENOTFOUND", syscall: "getaddrinfo", hostname }));
      if (all) done(null, [{ address, family: 4 }]);
      else done(null, address, 4);
    });
    return {};
  };
  dns.promises.lookup = (hostname, options) =>
    new Promise((resolve, reject) => {
      const { all } = typeof options === "object" && options !== null ? options : {};
      dns.lookup(hostname, options || {}, (error, address, family) => {
        if (error) reject(error);
        else resolve(all ? address : { address, family });
      });
    });

  // A connection that the proxy has opened waits here for the program's socket, which finds it by its own address inside.
  const waiting = new Map();
  let inner;
  let count = 0;
  function innerPort() {
    inner ??= listen(0, undefined, (client) => {
      const key = client.localAddress.replace(/^::ffff:/, "");
      const upstream = waiting.get(key);
      waiting.delete(key);
      if (upstream === undefined) client.destroy();
      else join(client, upstream);
    }).unref();
    return inner.address().port;
  }

  net.Socket.prototype.connect = function (...args) {
    const [options, callback] = Array.isArray(args[0]) ? args[0] : net._normalizeArgs(args);
    const { host = "localhost", port, path } = options;
    // Libraries that follow the proxy's variables by themselves, such as npm's and axios.
    if (!path && isLocal(host) && Number(port) === ${insideProxyPort}) serveChildren();
    if (path || (isLocal(host) && !hostPorts.has(Number(port)))) return connect.apply(this, args);
    const name = (namesOf.get(host) || host).toLowerCase();
    const led = {
      ...options,
      host: net.isIP(host) === 0 ? host : "address.invalid",
      port: innerPort(),
      localAddress: undefined,
      autoSelectFamily: false,
      lookup: (_, wish, done) => {
        dial(name, Number(port)).then((upstream) => {
          count = (count + 1) % 0x3fffff;
          const address = "127." + (64 + (count >> 16)) + "." + ((count >> 8) & 255) + "." + (count & 255);
          waiting.set(address, upstream);
          // If the program gives up meanwhile, nothing takes the connection.
          upstream.once("close", () => waiting.delete(address));
          this.once("close", () => waiting.get(address) === upstream && upstream.destroy());
          if (wish && wish.all) done(null, [{ address, family: 4 }]);
          else done(null, address, 4);
        }, done);
      },
    };
    return connect.call(this, led, callback);
  };
  // Programs that the server starts may need the proxy, also while the server waits for them and does nothing else. So it is
  // served by a thread of its own.
  const processes = require("node:child_process");
  let isServing = false;
  function serveChildren() {
    if (isServing) return;
    isServing = true;
    const ready = new Int32Array(new SharedArrayBuffer(4));
    const env = { ${insideTcpVariable}: process.env.${insideTcpVariable} || "" };
    new threads.Worker(__filename, { execArgv: [], env, workerData: ready, stdout: true, stderr: true }).unref();
    Atomics.wait(ready, 0, 0, 2000);
  }
  for (const [owner, name] of [
    [processes.ChildProcess.prototype, "spawn"],
    [processes, "spawnSync"],
    [processes, "execSync"],
    [processes, "execFileSync"],
  ]) {
    const start = owner[name];
    owner[name] = function (...args) {
      serveChildren();
      return start.apply(this, args);
    };
  }
  require("node:module").syncBuiltinESMExports();
}
`;
