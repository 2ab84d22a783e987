/*
 * A server with one of many hostile or broken behaviours, and nothing else wrong: `hostile.mjs BEHAVIOUR ERA SEED` on stdio.
 * `hostile.mjs http` serves all of them over HTTP, at /BEHAVIOUR/ERA/SEED, and writes its address to stdout. `hostile.mjs list`
 * writes the names of all behaviours.
 */
import { spawn } from "node:child_process";
import { writeSync } from "node:fs";
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { gzipSync } from "node:zlib";

/** The connection breaks: a program exits, a response is reset. */
const cut = Symbol("cut");
/** No more of this answer comes. */
const hold = Symbol("hold");

const megabyte = 1024 * 1024;
const schema = { type: "object", properties: { text: { type: "string" } } };
const echo = { name: "echo", description: "Says what it is told.", inputSchema: schema };
const about = {
  capabilities: { tools: { listChanged: true }, logging: {} },
  serverInfo: { name: "odd", version: "1" },
};
const greetings = { legacy: "initialize", modern: "server/discover" };
const versions = { legacy: { protocolVersion: "2025-11-25" }, modern: { supportedVersions: ["2026-07-28"] } };
const hidden = "\u001b[2J\u001b]52;c;aGk=\u0007\u202egnp.exe\u200b\u{e0041}\u009b31m";

function usual({ id, method, params }, era) {
  const results = {
    [greetings[era]]: { ...versions[era], ...about },
    ping: {},
    "tools/list": { tools: [echo] },
    "tools/call": { content: [{ type: "text", text: String(params?.arguments?.text) }] },
  };
  if (!Object.hasOwn(results, method)) return message({ id, error: { code: -32601, message: `no ${method} here` } });
  return message({ id, result: era === "modern" ? { resultType: "complete", ...results[method] } : results[method] });
}

const message = (members) => ({ jsonrpc: "2.0", ...members });
const textOf = (reply) => JSON.stringify(reply);
const notification = (method, params = {}) => message({ method, params });
const many = (count, make) => Array.from({ length: count }, (_, at) => make(at));
const deep = (depth) => `${"[".repeat(depth)}${"]".repeat(depth)}`;

/** A behaviour that changes the answer to one method. `make` returns what is sent instead, in order. */
const on = (method, make) => (at) => {
  const wanted = method === "greeting" ? greetings[at.era] : method;
  return at.request.method === wanted ? make(at) : undefined;
};
const result = (method, make) =>
  on(method, ({ reply, random, request }) => [{ ...reply, result: { ...reply.result, ...make(random, request) } }]);
const members = (method, make) => on(method, ({ reply }) => [make(reply)]);
const tools = (make) => result("tools/list", (random) => ({ tools: make(random) }));
const oneTool = (extra) =>
  tools(() => [
    { ...echo, ...extra },
    { ...echo, name: "other" },
  ]);
const before = (method, make) => on(method, (at) => [...make(at), at.reply]);

/** Behaviours on both transports, by name. */
const common = {
  "no-greeting": on("greeting", () => [hold]),
  "no-list": on("tools/list", () => [hold]),
  "no-answer": on("tools/call", () => [hold]),
  "cut-before-greeting": on("greeting", () => [cut]),
  "cut-in-greeting": on("greeting", ({ reply, random }) => [textOf(reply).slice(0, random(80)), cut]),
  "cut-in-list": on("tools/list", ({ reply, random }) => [textOf(reply).slice(0, random(80)), cut]),
  "cut-before-answer": on("tools/call", () => [cut]),
  "cut-in-answer": on("tools/call", ({ reply, random }) => [textOf(reply).slice(0, random(60)), cut]),
  "cut-after-answer": on("tools/call", ({ reply }) => [reply, cut]),
  "answers-twice": ({ reply }) => [reply, reply],
  "answers-others-first": ({ reply }) => [{ ...reply, id: 4711 }, { ...reply, id: "x" }, reply],
  "id-as-text": ({ reply }) => [{ ...reply, id: String(reply.id) }],
  "id-null": ({ reply }) => [{ ...reply, id: null }],
  "id-object": ({ reply }) => [{ ...reply, id: { toString: "x" } }],
  "result-and-error": ({ reply }) => [{ ...reply, error: { code: 1, message: "both" } }],
  "neither-result-nor-error": on("tools/call", ({ reply }) => [{ jsonrpc: "2.0", id: reply.id }]),
  "result-text": members("tools/call", (reply) => ({ ...reply, result: "done" })),
  "result-list": members("tools/list", (reply) => ({ ...reply, result: [1, 2, 3] })),
  "result-null": members("greeting", (reply) => ({ ...reply, result: null })),
  "error-text": members("tools/call", ({ id }) => message({ id, error: "no" })),
  "error-hostile": members("tools/call", ({ id }) =>
    message({ id, error: { code: 1e300, message: hidden.repeat(5000), data: { toJSON: 1 } } }),
  ),
  "wrong-jsonrpc": ({ reply }) => [{ ...reply, jsonrpc: "1.0" }],
  "half-json": on("tools/call", () => ['{"jsonrpc":"2.0","id":\n', hold]),
  binary: before("tools/list", ({ random }) => [Buffer.from(many(2000, () => random(256)))]),
  "lone-surrogates": on("tools/call", ({ reply }) => [
    `${textOf(reply).replace('"text":"', '"text":"\\ud800\\udfff\\u0000')}\n`,
  ]),
  "bad-utf-8": on("tools/call", ({ reply }) => [
    Buffer.concat([Buffer.from(textOf(reply).slice(0, -3)), Buffer.from([0xff, 0xc3, 0x28]), Buffer.from("\n")]),
  ]),
  "byte-order-mark": ({ reply }) => [`\ufeff${textOf(reply)}\r\n`],
  "deep-json": on("tools/call", ({ reply }) => [
    `${textOf({ ...reply, result: { content: [], structuredContent: "@" } }).replace('"@"', deep(200_000))}\n`,
  ]),
  "deep-schema": on("tools/list", ({ reply }) => [
    `${textOf({ ...reply, result: { ...reply.result, tools: [{ ...echo, inputSchema: { allOf: "@" } }] } }).replace('"@"', deep(50_000))}\n`,
  ]),
  "large-message": result("tools/call", () => ({ content: [{ type: "text", text: "x".repeat(65 * megabyte) }] })),
  "dense-message": on("tools/call", ({ reply }) => [
    `${textOf({ ...reply, result: { content: [], more: "@" } }).replace('"@"', `[${"{},".repeat(1_000_000)}{}]`)}\n`,
  ]),
  "prototype-keys": on("tools/list", ({ reply }) => [
    `${textOf(reply).replace('"properties":{', '"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"properties":{"__proto__":{"polluted":1},')}\n`,
  ]),
  batch: ({ reply }) => [
    `[${textOf(notification("notifications/message", { level: "info", data: "x" }))},${textOf(reply)}]\n`,
  ],
  "empty-batch": before("tools/call", () => ["[]\n", "[[]]\n", "null\n", "1\n"]),
  "version-number": result("greeting", () => ({ protocolVersion: 7, supportedVersions: 7 })),
  "version-unknown": result("greeting", () => ({ protocolVersion: "2099-01-01", supportedVersions: ["2099-01-01"] })),
  "capabilities-list": result("greeting", () => ({ capabilities: ["tools"] })),
  "no-server-info": result("greeting", () => ({ serverInfo: undefined })),
  "hostile-server-info": result("greeting", () => ({
    serverInfo: { name: hidden.repeat(10_000), version: { major: 1 }, title: hidden },
    instructions: hidden.repeat(50_000),
  })),
  "tools-object": tools(() => ({ echo })),
  "tools-odd": tools(() => [null, 7, "echo", [], {}, { name: 7 }, { name: "" }, { name: "  " }, echo]),
  "tools-hostile-names": tools(() => [
    ...["__proto__", "constructor", "toString", hidden, "a\nb", "../../etc/passwd", "x".repeat(megabyte)].map(
      (name) => ({
        ...echo,
        name,
      }),
    ),
    echo,
  ]),
  "tools-same-name": tools(() => many(50, () => echo)),
  "tools-too-many": tools(() => many(10_001, (at) => ({ name: `t${at}`, inputSchema: { type: "object" } }))),
  "endless-pages": result("tools/list", (random) => ({ nextCursor: `${random(1e9)}` })),
  "same-page": result("tools/list", () => ({ nextCursor: "again" })),
  "cursor-number": result("tools/list", () => ({ nextCursor: 7 })),
  "cursor-large": result("tools/list", () => ({ nextCursor: "x".repeat(megabyte) })),
  "schema-text": oneTool({ inputSchema: "object" }),
  "schema-true": oneTool({ inputSchema: true }),
  "schema-cyclic": oneTool({
    inputSchema: { type: "object", properties: { text: { $ref: "#/properties/text" } }, $ref: "#" },
  }),
  "schema-remote": oneTool({ inputSchema: { type: "object", properties: { text: { $ref: "http://127.0.0.1:9/s" } } } }),
  "schema-pattern": oneTool({ inputSchema: { type: "object", properties: { text: { pattern: "^(a+)+$" } } } }),
  "schema-bomb": oneTool({
    inputSchema: {
      type: "object",
      allOf: [{ $ref: "#/$defs/d0" }],
      $defs: Object.fromEntries(
        many(30, (at) => [
          `d${at}`,
          { allOf: at === 29 ? [] : [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }] },
        ]),
      ),
    },
  }),
  "output-pattern": ({ request, reply }) => {
    const outputSchema = { type: "object", properties: { a: { type: "string", pattern: "^(a+)+$" } } };
    if (request.method === "tools/list")
      return [{ ...reply, result: { ...reply.result, tools: [{ ...echo, outputSchema }] } }];
    if (request.method !== "tools/call") return undefined;
    return [{ ...reply, result: { ...reply.result, structuredContent: { a: `${"a".repeat(40)}!` } } }];
  },
  "output-wrong": ({ request, reply }) => {
    const outputSchema = { type: "object", required: ["a"], properties: { a: { type: "number" } } };
    if (request.method === "tools/list")
      return [{ ...reply, result: { ...reply.result, tools: [{ ...echo, outputSchema }] } }];
    return request.method === "tools/call"
      ? [{ ...reply, result: { ...reply.result, structuredContent: [] } }]
      : undefined;
  },
  "description-odd": oneTool({ description: { en: "x" }, title: 7, annotations: "read-only", icons: 1, _meta: [] }),
  "description-large": oneTool({ description: hidden.repeat(100_000), annotations: { title: hidden.repeat(1000) } }),
  "content-text": result("tools/call", () => ({ content: "done" })),
  "content-odd": result("tools/call", () => ({
    content: [
      null,
      7,
      { type: "text", text: 7 },
      { type: "image", data: "!!", mimeType: 7 },
      { type: "resource" },
      { type: hidden },
    ],
  })),
  "content-many": result("tools/call", () => ({ content: many(100_000, () => ({ type: "text", text: "" })) })),
  "content-hostile": result("tools/call", () => ({
    content: [
      { type: "text", text: hidden.repeat(10_000) },
      { type: "resource_link", uri: "file:///etc/passwd", name: hidden },
      { type: "resource", resource: { uri: "javascript:alert(1)", text: hidden, mimeType: hidden } },
    ],
  })),
  "is-error-text": result("tools/call", () => ({ isError: "yes" })),
  "progress-odd": before("tools/call", ({ request }) =>
    [null, -1, 1e308, "x", {}].map((progress) =>
      notification("notifications/progress", {
        progressToken: request.params?._meta?.progressToken,
        progress,
        message: hidden,
      }),
    ),
  ),
  "progress-unknown": before("tools/call", () =>
    many(20_000, (progress) => notification("notifications/progress", { progressToken: "other", progress })),
  ),
  "log-flood": before("tools/call", () =>
    many(20_000, () => notification("notifications/message", { level: "error", data: hidden })),
  ),
  "changed-flood": before("tools/call", () => many(20_000, () => notification("notifications/tools/list_changed"))),
  "unknown-notifications": before("tools/call", () =>
    many(2000, (at) => notification(`notifications/${hidden}${at}`, { x: deep(3) })),
  ),
  "sampling-flood": before("tools/call", () =>
    many(2000, (at) =>
      message({ id: `s${at}`, method: "sampling/createMessage", params: { messages: [], maxTokens: 1e9 } }),
    ),
  ),
  "question-flood": before("tools/call", () =>
    many(2000, (at) =>
      message({
        id: `e${at}`,
        method: "elicitation/create",
        params: { message: hidden, requestedSchema: { type: "object", properties: { password: { type: "string" } } } },
      }),
    ),
  ),
  "same-request-id": before("tools/call", () => many(2000, () => message({ id: 1, method: "roots/list" }))),
  "unknown-requests": before("tools/call", () =>
    many(2000, (at) => message({ id: `u${at}`, method: hidden, params: 7 })),
  ),
  "cancels-us": before("tools/call", ({ request }) => [
    notification("notifications/cancelled", { requestId: request.id, reason: hidden }),
  ]),
  "asks-again": result("tools/call", () => ({
    resultType: "input_required",
    inputRequests: { a: { method: "roots/list", params: {} } },
    requestState: "x".repeat(100),
  })),
  "asks-with-large-state": result("tools/call", () => ({
    resultType: "input_required",
    inputRequests: {
      a: { method: "elicitation/create", params: { mode: "url", url: "javascript:alert(1)", message: hidden } },
    },
    requestState: "x".repeat(2 * megabyte),
  })),
  "result-type-unknown": result("tools/call", () => ({ resultType: hidden })),
  "result-is-a-task": result("tools/call", () => ({
    resultType: "task",
    task: { taskId: hidden, status: 7 },
    taskId: 7,
  })),
  "lists-change": result("tools/list", (random) => ({ tools: [{ ...echo, description: `${random(1e9)}` }] })),
};

/** Behaviours of a program on stdio. They act before it serves as usual. */
const programs = {
  "stderr-flood": () => writeAll(2, "all work and no play\n".repeat(200_000)),
  "stderr-one-line": () => writeAll(2, "x".repeat(4 * megabyte)),
  "stderr-hostile": () => writeAll(2, `${hidden}\n`.repeat(100)),
  "stdout-banner": () => writeAll(1, `${hidden}\nListening…\n[1, 2\n`),
  "stdout-garbage-only": () => {
    writeAll(1, "compiling\n".repeat(5000));
    process.stdin.pause();
  },
  "exits-at-once": () => process.exit(0),
  "exits-with-code": () => process.exit(127),
  "kills-itself": () => process.kill(process.pid, "SIGSEGV"),
  "ignores-signals": () => {
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => {});
    setInterval(() => {}, 60_000);
  },
  "leaves-a-child": () => {
    spawn("sleep", ["600"], { stdio: ["ignore", "inherit", "inherit"], detached: true }).unref();
  },
  "closes-stdout": () => {
    process.stdout.destroy();
    setInterval(() => {}, 60_000);
  },
};

let bomb;
/** 256 MB of blanks, made when they are first asked for. */
function compressedBomb() {
  bomb ??= gzipSync(Buffer.alloc(256 * megabyte, " "));
  return bomb;
}

/** Behaviours of an HTTP response, for every request. */
const responses = {
  "status-204": (_, response) => response.writeHead(204).end(),
  "status-500": (_, response) => response.writeHead(500, { "content-type": "text/html" }).end(hidden),
  "status-404": (_, response) => response.writeHead(404).end(),
  "status-401-hostile": (_, response) =>
    response
      .writeHead(401, { "www-authenticate": 'Bearer resource_metadata="http://169.254.169.254/latest", realm="x' })
      .end(),
  "status-429-for-ever": (_, response) => response.writeHead(429, { "retry-after": "315360000" }).end(),
  "redirects-for-ever": (request, response) => response.writeHead(307, { location: request.url }).end(),
  "redirects-elsewhere": (_, response) => response.writeHead(307, { location: "http://169.254.169.254/" }).end(),
  "login-page": (_, response) => response.writeHead(200, { "content-type": "text/html" }).end(`<title>${hidden}`),
  "gzip-garbage": (_, response) =>
    response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" }).end("garbage"),
  "gzip-bomb": (_, response) =>
    response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" }).end(compressedBomb()),
  "comments-for-ever": (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const timer = setInterval(() => response.write(":\n\n"), 20);
    response.on("close", () => clearInterval(timer));
  },
  "event-without-end": (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).write("data: ");
    const more = () => {
      while (!response.destroyed && response.write("x".repeat(megabyte)));
    };
    response.on("drain", more);
    more();
  },
  "body-one-byte-at-a-time": (_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const timer = setInterval(() => response.write(" "), 20);
    response.on("close", () => clearInterval(timer));
  },
  "headers-too-large": (_, response) => response.writeHead(200, { "x-large": "x".repeat(200_000) }).end("{}"),
  "length-too-large": (_, response) =>
    response
      .writeHead(200, { "content-type": "application/json", "content-length": "1000000" })
      .write("{}", () => response.destroy()),
  "not-http": (request) => request.socket.end("SSH-2.0-OpenSSH_9.2\r\n"),
  "reset-at-once": (request) => request.socket.resetAndDestroy(),
};

const behaviours = {
  stdio: [...Object.keys(common), ...Object.keys(programs)],
  http: [...Object.keys(common), ...Object.keys(responses)],
};

function randomFrom(seed) {
  let state = Number(seed) >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function partsOf(behaviour, era, random, request) {
  const reply = usual(request, era);
  const act = common[behaviour];
  if (act === undefined || reply.error !== undefined) return [reply];
  return act({ request, reply, random, era }) ?? [reply];
}

function writeAll(descriptor, given) {
  const bytes = Buffer.from(given);
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(descriptor, bytes, at);
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
    }
  }
}

function serveStdio(behaviour, era, seed) {
  const random = randomFrom(seed);
  programs[behaviour]?.();
  createInterface({ input: process.stdin }).on("line", (line) => {
    const request = JSON.parse(line);
    if (request.id === undefined || request.method === undefined) return;
    for (const part of partsOf(behaviour, era, random, request)) {
      if (part === hold) return;
      if (part === cut) process.exit(9);
      writeAll(1, typeof part === "string" || Buffer.isBuffer(part) ? part : `${textOf(part)}\n`);
    }
  });
}

function answerHttp(behaviour, era, random, request, response) {
  const parts = partsOf(behaviour, era, random, request);
  const isJson = parts.length === 1 && typeof parts[0] === "object" && !Buffer.isBuffer(parts[0]) && random(2) === 0;
  response.writeHead(200, { "content-type": isJson ? "application/json" : "text/event-stream" });
  if (isJson) return response.end(textOf(parts[0]));
  for (const part of parts) {
    if (part === hold) return;
    // What was written before is sent first.
    if (part === cut) return response.write("", () => response.socket?.destroySoon());
    const text = typeof part === "string" || Buffer.isBuffer(part) ? part : textOf(part);
    response.write("data: ");
    response.write(text);
    response.write("\n\n");
  }
  response.end();
}

function serveHttp() {
  createServer((incoming, response) => {
    const [, behaviour, era, seed] = incoming.url.split("/");
    const random = randomFrom(seed);
    if (Object.hasOwn(responses, behaviour)) return responses[behaviour](incoming, response);
    if (incoming.method !== "POST") return response.writeHead(405).end();
    const chunks = [];
    incoming.on("data", (chunk) => chunks.push(chunk));
    incoming.on("end", () => {
      const request = JSON.parse(Buffer.concat(chunks).toString());
      if (request.id === undefined || request.method === undefined) return response.writeHead(202).end();
      answerHttp(behaviour, era, random, request, response);
    });
  }).listen(0, "127.0.0.1", function () {
    process.stdout.write(`http://127.0.0.1:${this.address().port}\n`);
  });
  // It ends with the test that started it.
  process.stdin.resume().on("end", () => process.exit());
}

const [, , behaviour, era, seed] = process.argv;
if (behaviour === "list") process.stdout.write(JSON.stringify(behaviours));
else if (behaviour === "http") serveHttp();
else serveStdio(behaviour, era, seed);
