/*
 * A modern server that answers a call of its tool `work` with a task, if the client declares tasks. The task asks the
 * user for a name and returns it. With the argument `model`, all tasks ask the client's model instead. With the argument
 * `end`, the program ends. For clients without tasks, the tool answers at once.
 */
import { onLine, runIfMain } from "../program.mjs";

const extension = "io.modelcontextprotocol/tasks";
const question = {
  method: "elicitation/create",
  params: {
    mode: "form",
    message: "Who?",
    requestedSchema: { type: "object", properties: { name: { type: "string" } } },
  },
};

const modelRequest = (text) => ({
  method: "sampling/createMessage",
  params: { messages: [{ role: "user", content: { type: "text", text } }], maxTokens: 10 },
});

/** @param {import("../program.mjs").Io} io */
export function tasks(io) {
  const { output } = io;
  const running = new Map();
  const say = (message) => output.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const text = (words) => ({ content: [{ type: "text", text: words }] });

  /** Returns the task in the form of `tasks/get`. */
  const told = (taskId) => {
    const task = running.get(taskId);
    const times = {
      createdAt: "2026-07-28T00:00:00Z",
      lastUpdatedAt: "2026-07-28T00:00:00Z",
      ttlMs: null,
      pollIntervalMs: 10,
    };
    return task && { taskId, ...times, ...task };
  };

  function respond(method, params) {
    const capabilities = params._meta?.["io.modelcontextprotocol/clientCapabilities"];
    switch (method) {
      case "server/discover":
        return {
          supportedVersions: ["2026-07-28"],
          capabilities: { tools: {}, extensions: { [extension]: {} } },
          _meta: { "io.modelcontextprotocol/serverInfo": { name: "tasks", version: "1.0.0" } },
        };
      case "tools/list":
        return { tools: [{ name: "work", inputSchema: { type: "object" } }], ttlMs: 0, cacheScope: "private" };
      case "tools/call": {
        if (capabilities?.extensions?.[extension] === undefined) return text("at once");
        if (params.arguments?.end === true) throw new Error("the program ends");
        const taskId = `task.${running.size + 1}`;
        running.set(taskId, { status: "input_required", inputRequests: { who: question } });
        const { model } = params.arguments ?? {};
        if (model !== undefined)
          for (const each of running.keys())
            running.set(each, { status: "input_required", inputRequests: { who: modelRequest(model) } });
        return { resultType: "task", ...told(taskId), status: "working", inputRequests: undefined };
      }
      case "tasks/get":
        return told(params.taskId);
      case "tasks/update": {
        const result = text(`done for ${params.inputResponses.who?.content?.name}`);
        if (running.has(params.taskId)) running.set(params.taskId, { status: "completed", result });
        return {};
      }
      case "tasks/cancel":
        if (running.has(params.taskId)) running.set(params.taskId, { status: "cancelled" });
        return {};
    }
  }

  onLine(io, (line) => {
    const { id, method, params = {} } = JSON.parse(line);
    if (id === undefined) return;
    const result = params._meta?.["io.modelcontextprotocol/protocolVersion"] && respond(method, params);
    if (result) say({ id, result: { resultType: "complete", ...result } });
    else say({ id, error: { code: method === "tasks/get" ? -32602 : -32601, message: "not here" } });
  });
}

runIfMain(import.meta.url, tasks);
