// The tasks of the conformance server (extension `io.modelcontextprotocol/tasks`). All connections share them.
import { randomUUID } from "node:crypto";
import { text } from "./content.mjs";
import { codes, errorBody, isObject, RpcError, ToolFailure } from "./rpc-error.mjs";

export const tasksExtension = "io.modelcontextprotocol/tasks";

/** How long clients may ask for a task, and how often they should ask, in milliseconds. */
const ttlMs = 600_000;
const pollIntervalMs = 100;

export function createTasks() {
  const tasks = new Map();

  function find(taskId) {
    const task = tasks.get(taskId);
    if (task === undefined) throw new RpcError(codes.invalidParams, "unknown task");
    return task;
  }

  /** Changes the state of a task, unless it has ended. */
  function move(task, state) {
    if (task.controller.signal.aborted || task.isDone) return;
    task.state = state;
    task.isDone = state.status !== "working" && state.status !== "input_required";
    task.lastUpdatedAt = new Date().toISOString();
  }

  /** Asks the client: the questions are in the results of `tasks/get`, and the answers come with `tasks/update`. */
  function ask(task, requests) {
    const answers = {};
    return new Promise((resolve) => {
      task.take = (responses) => {
        for (const key of Object.keys(requests)) if (isObject(responses[key])) answers[key] ??= responses[key];
        const open = Object.entries(requests).filter(([key]) => answers[key] === undefined);
        if (open.length > 0) return move(task, { status: "input_required", inputRequests: Object.fromEntries(open) });
        task.take = undefined;
        move(task, { status: "working" });
        resolve(answers);
      };
      task.take({});
    });
  }

  async function work(task, run) {
    try {
      const { signal } = task.controller;
      const content = await run({ isTask: true, signal, ask: (requests) => ask(task, requests) });
      move(task, { status: "completed", result: { content } });
    } catch (error) {
      if (!(error instanceof ToolFailure)) return move(task, { status: "failed", error: errorBody(error) });
      move(task, { status: "completed", result: { content: [text(error.message)], isError: true } });
    }
  }

  function show({ taskId, createdAt, lastUpdatedAt, state }) {
    return { taskId, createdAt, lastUpdatedAt, ttlMs, pollIntervalMs, ...state };
  }

  return {
    /**
     * Starts a task.
     * @param run Does the work. Gets `isTask`, `signal` and `ask`, and returns the content of the tool's result.
     * @returns the result of the tool call
     */
    start(run) {
      const now = new Date().toISOString();
      const task = { taskId: randomUUID(), createdAt: now, lastUpdatedAt: now, controller: new AbortController() };
      task.state = { status: "working" };
      const created = show(task);
      tasks.set(task.taskId, task);
      void work(task, run);
      return { resultType: "task", ...created };
    },
    /** Answers `tasks/get`, `tasks/update` and `tasks/cancel`. */
    respond(method, { taskId, inputResponses }) {
      const task = find(taskId);
      if (method === "tasks/get") return show(task);
      if (method === "tasks/update" && isObject(inputResponses)) task.take?.(inputResponses);
      if (method === "tasks/cancel") {
        move(task, { status: "cancelled" });
        task.controller.abort();
      }
      return {};
    },
  };
}
