/*
 * Tools for tests of calls: they take time, report progress, violate the protocol, or become tasks. Each call and each
 * cancellation is written as a line to the file in the first argument. The second argument is "legacy" or "modern", the
 * third "stdio" or "http". With "http" it prints its address and runs until its stdin ends, always as its own process.
 */
import { appendFileSync, statSync, watch } from "node:fs";
import { createServer } from "node:http";
import { dirname } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { onLine, runIfMain } from "../program.mjs";

const text = (words) => ({ content: [{ type: "text", text: words }] });
const object = (properties = {}, required = Object.keys(properties)) => ({ type: "object", properties, required });
const number = { type: "number" };
const tools = [
  { name: "echo", inputSchema: object({ text: { type: "string" } }) },
  { name: "hang", inputSchema: object() },
  { name: "late", inputSchema: object() },
  { name: "steps", inputSchema: object({ count: number, every: number, gate: { type: "string" } }, ["count"]) },
  { name: "flood", inputSchema: object({ count: number }) },
  { name: "weather", inputSchema: object({ answer: {} }, []), outputSchema: object({ temperature: number }) },
  { name: "exit", inputSchema: object({ code: number }) },
  { name: "look", inputSchema: object(), annotations: { readOnlyHint: true } },
  { name: "dig", inputSchema: object({ looks: number }), execution: { taskSupport: "required" } },
];

function grown(file, bytes) {
  return new Promise((resolve) => {
    const watcher = watch(dirname(file), look);
    function look() {
      if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) < bytes) return;
      watcher.close();
      resolve();
    }
    look();
  });
}

/** @param {import("../program.mjs").Io} io */
export function workshop(io) {
  const [notes, era = "legacy", transport = "stdio"] = io.args;
  const note = (line) => notes && appendFileSync(notes, `${line}\n`);
  const isModern = era === "modern";

  /** Running tasks by id, each with the number of polls after which it ends. */
  const tasks = new Map();

  /** The answer of each tool. `say` sends a message during the call, `end` sends the last one. */
  const calls = {
    echo: (args, { end }) => end({ result: text(args.text) }),
    hang: () => {},
    // This tool answers only after its call was cancelled.
    late: (_args, { cancelled, end }) => void cancelled.then(() => end({ result: text("too late") })),
    // With a gate, each step and the end wait until the file that `gate` names has one byte more.
    async steps({ count, every, gate }, { progress, end }) {
      for (let step = 1; step <= count; step += 1) {
        await (gate ? grown(gate, step) : pause(every));
        progress(step, count);
      }
      await (gate ? grown(gate, count + 1) : pause(every));
      end({ result: text(`${count} steps`) });
    },
    flood({ count }, { progress, end }) {
      for (let step = 1; step <= count; step += 1) progress(step, count);
      end({ result: text(`${count} times`) });
    },
    weather: ({ answer }, { end }) => end({ result: { ...text("fine"), structuredContent: answer } }),
    exit: ({ code }) => (io.input === process.stdin ? process.exit(code) : io.output.destroy()),
    look: (_args, { end }) => end({ result: text("nothing to see") }),
    dig({ looks }, { end }) {
      const taskId = `task-${tasks.size + 1}`;
      tasks.set(taskId, looks);
      end({ result: isModern ? { resultType: "task", ...taskOf(taskId) } : { task: taskOf(taskId) } });
    },
  };

  function taskOf(taskId) {
    const status = tasks.get(taskId) > 0 ? "working" : "completed";
    const result = isModern && status === "completed" ? { result: text("gold") } : {};
    return { taskId, status, ttl: null, ttlMs: null, pollInterval: 100, pollIntervalMs: 100, ...result };
  }

  const answers = {
    initialize: () => ({
      protocolVersion: "2025-11-25",
      capabilities: { tools: {}, tasks: { cancel: {}, requests: { tools: { call: {} } } } },
      serverInfo: { name: "workshop", version: "1.0.0" },
    }),
    "server/discover": () => ({
      resultType: "complete",
      supportedVersions: ["2026-07-28"],
      capabilities: { tools: {}, extensions: { "io.modelcontextprotocol/tasks": {} } },
    }),
    "tools/list": () => ({ tools }),
    "tasks/get"({ taskId }) {
      tasks.set(taskId, tasks.get(taskId) - 1);
      return taskOf(taskId);
    },
    "tasks/result": () => text("gold"),
    "tasks/cancel"({ taskId }) {
      note("tasks/cancel");
      return taskOf(taskId);
    },
  };

  /** Open calls by id: the tool's name, and the function that tells it about a cancellation. */
  const open = new Map();

  function stopped(id, how) {
    const call = open.get(id);
    if (!call) return;
    note(`${how} ${call.name}`);
    call.cancel();
  }

  function handle({ id, method, params = {} }, say) {
    if (method === "notifications/cancelled") return stopped(params.requestId, "cancelled");
    if (id === undefined) return;
    const answer = (body) => say({ id, ...body });
    if (method !== "tools/call") {
      const hasAnswer = Object.hasOwn(answers, method) && !(isModern && method === "initialize");
      const isOther = !isModern && method === "server/discover";
      if (hasAnswer && !isOther)
        answer({ result: { ...(isModern && { resultType: "complete" }), ...answers[method](params) } });
      else answer({ error: { code: -32601, message: `no ${method} here` } });
      return;
    }
    const { name, arguments: args, _meta: { progressToken } = {} } = params;
    note(name);
    const cancelled = new Promise((cancel) => open.set(id, { name, cancel }));
    const progress = (step, total) =>
      say({ method: "notifications/progress", params: { progressToken, progress: step, total } });
    calls[name](args, { progress, cancelled, end: answer });
  }

  function serveWeb(request, response) {
    if (request.method !== "POST") return void response.writeHead(405).end();
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const message = JSON.parse(Buffer.concat(chunks));
      if (message.id === undefined) {
        handle(message, () => {});
        return void response.writeHead(202).end();
      }
      response.writeHead(200, { "content-type": "text/event-stream" });
      // In the legacy era, losing the connection does not cancel the call: the client may reconnect for the rest.
      if (isModern) response.on("close", () => response.writableFinished || stopped(message.id, "closed"));
      handle(message, (said) => {
        response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", ...said })}\n\n`);
        if (said.id !== undefined) response.end();
      });
    });
  }

  if (transport === "http") {
    const server = createServer({ keepAliveTimeout: 0 }, serveWeb).listen(0, "127.0.0.1", () => {
      io.output.write(`http://127.0.0.1:${server.address().port}\n`);
    });
    io.input.resume().once("end", () => process.exit());
    return;
  }
  const say = (message) => io.output.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  onLine(io, (line) => handle(JSON.parse(line), say));
}

runIfMain(import.meta.url, workshop);
