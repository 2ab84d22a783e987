/*
 * Keeps state: its tool `grow` adds the tool `grown`, which counts its calls. `variable` returns an environment variable,
 * `process` the id of this process. The first argument is the number of milliseconds before it answers anything, the
 * second "legacy" or "modern".
 */
import { setTimeout as pause } from "node:timers/promises";
import { onLine, runIfMain } from "../program.mjs";

/** @param {import("../program.mjs").Io} io */
export function growing({ args, input, output }) {
  const isModern = args[1] === "modern";
  /** The ids of open subscriptions. */
  const listening = new Set();
  const text = (words) => ({ content: [{ type: "text", text: String(words) }] });
  const variable = { type: "object", properties: { name: { type: "string" } } };
  const tools = [
    { name: "grow", inputSchema: { type: "object" } },
    { name: "process", inputSchema: { type: "object" } },
    { name: "variable", inputSchema: variable },
  ];
  let calls = 0;

  function say(message) {
    output.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  function tell(news, id, params = {}) {
    const _meta = { "io.modelcontextprotocol/subscriptionId": id };
    say({ method: `notifications/${news}`, params: { ...params, _meta } });
  }

  const called = {
    grow() {
      if (tools.length === 3) tools.push({ name: "grown", inputSchema: { type: "object" } });
      if (!isModern) say({ method: "notifications/tools/list_changed" });
      for (const id of listening) tell("tools/list_changed", id);
      return text("grew");
    },
    grown() {
      calls += 1;
      return text(`grown ${calls}`);
    },
    process: () => text(process.pid),
    variable: ({ name }) => text(process.env[name]),
  };
  const about = { capabilities: { tools: { listChanged: true } }, serverInfo: { name: "growing", version: "1.0.0" } };
  const greeting = isModern
    ? { "server/discover": () => ({ supportedVersions: ["2026-07-28"], ...about }) }
    : { initialize: () => ({ protocolVersion: "2025-11-25", ...about }) };
  const answers = {
    ...greeting,
    "tools/list": () => ({ tools }),
    "tools/call": ({ name, arguments: given }) => called[name](given),
  };

  function take(line) {
    const { id, method, params } = JSON.parse(line);
    if (method === "notifications/cancelled") listening.delete(params.requestId);
    if (id === undefined || method === undefined) return;
    if (isModern && method === "subscriptions/listen") {
      listening.add(id);
      return tell("subscriptions/acknowledged", id, { notifications: params.notifications });
    }
    const answer = answers[method];
    if (answer) say({ id, result: { ...(isModern && { resultType: "complete" }), ...answer(params) } });
    else say({ id, error: { code: -32601, message: `no ${method} here` } });
  }

  const started = pause(Number(args[0] ?? 0));
  onLine({ input, output }, (line) => void started.then(() => take(line)));
}

runIfMain(import.meta.url, growing);
