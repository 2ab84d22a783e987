/*
 * Writes a line to the file in its first argument when it starts, is called, or asks a question. If the file in its
 * second argument exists, that file has its list of tools or its whole answer. Its tool `ask` sends the host the
 * request in its arguments, and returns the host's answer. With the argument `late`, it sends the request only after it
 * was cancelled, and writes the answer to the file. With `beforeNext`, it sends the request when the next call has
 * arrived, right before that call's result.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { onLine, runIfMain } from "../program.mjs";

/** @param {import("../program.mjs").Io} io */
export function counted({ args, input, output }) {
  const [notes, list, name = "counted"] = args;
  const note = (line) => notes && appendFileSync(notes, `${line}\n`);
  const usual = [
    { name: "echo", description: "Says what it is told.", inputSchema: { type: "object" } },
    { name: "ask", inputSchema: { type: "object", properties: { method: { type: "string" }, params: {} } } },
  ];
  const waiting = new Map();
  const late = new Map();
  const beforeNext = [];
  let questions = 0;

  note(`start ${name}`);

  function say(message) {
    output.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  function text(words) {
    return { content: [{ type: "text", text: words }] };
  }

  function ask(call, { method, params = {} }) {
    questions += 1;
    waiting.set(`q${questions}`, call);
    say({ id: `q${questions}`, method, params });
  }

  const answers = {
    initialize: (id, { capabilities }) => {
      note(`declared ${JSON.stringify(capabilities)}`);
      const serverInfo = { name, version: "1.0.0" };
      say({ id, result: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo } });
    },
    "tools/list": (id) => {
      const given = list && existsSync(list) ? JSON.parse(readFileSync(list, "utf8")) : usual;
      say({ id, result: Array.isArray(given) ? { tools: given } : given });
    },
    "tools/call": (id, params) => {
      note(`call ${params.name} ${JSON.stringify(params.arguments)}`);
      for (const askNow of beforeNext.splice(0)) askNow();
      if (params.name !== "ask") return say({ id, result: text(String(params.arguments.text ?? "")) });
      if (params.arguments.late === true) late.set(id, params.arguments);
      else if (params.arguments.beforeNext === true) beforeNext.push(() => ask(id, params.arguments));
      else ask(id, params.arguments);
    },
  };

  onLine({ input, output }, (line) => {
    const { id, method, params = {}, result, error } = JSON.parse(line);
    if (method === "notifications/cancelled" && late.has(params.requestId)) ask(undefined, late.get(params.requestId));
    else if (method === undefined && waiting.get(id) === undefined) note(`late ${JSON.stringify(result ?? error)}`);
    else if (method === undefined) {
      say({ id: waiting.get(id), result: text(JSON.stringify(result ?? error)) });
      waiting.delete(id);
    } else if (id !== undefined) {
      const answer = answers[method];
      if (answer) answer(id, params);
      else say({ id, error: { code: -32601, message: `no ${method} here` } });
    }
  });
}

runIfMain(import.meta.url, counted);
