/** Tasks of the legacy era (2025-11-25): the caller asks for one, and its result is asked for when it is over. */

import type { ExchangeOptions, OpenRequest } from "../rpc/exchange.ts";
import type { Rpc } from "../rpc/rpc.ts";
import type { JsonObject, McpRequestOptions } from "../session.ts";
import { isObject } from "../shapes/json.ts";
import { followTask, taskCancelledError } from "./task.ts";

/** Sends a call that is to become a task; resolves with what the task comes to. */
export function requestAsTask(
  rpc: Rpc,
  method: string,
  params: JsonObject | undefined,
  options: McpRequestOptions,
): Promise<JsonObject> {
  const { total } = options;
  // It need not be kept for longer than anybody waits for it.
  const task = total !== undefined && Number.isFinite(total) ? { ttl: Math.ceil(total) } : {};
  const follow: ExchangeOptions["follow"] = ({ task: begun }, open) =>
    isObject(begun) && typeof begun["taskId"] === "string"
      ? followLegacyTask(rpc, begun["taskId"], begun, { open, step: method })
      : undefined;
  return rpc.request(method, { ...params, task }, { ...options, token: true, follow });
}

interface LegacyTask {
  readonly open: OpenRequest;
  /** The call's own method, for errors. */
  readonly step: string;
}

function followLegacyTask(
  rpc: Rpc,
  taskId: string,
  begun: JsonObject,
  { open, step }: LegacyTask,
): Promise<JsonObject> {
  const resultOf = (): Promise<JsonObject> =>
    rpc.request(
      "tasks/result",
      { taskId },
      { signal: open.signal, timeout: Number.POSITIVE_INFINITY, onProgress: open.progress },
    );
  return followTask(taskId, begun, {
    open,
    ask: rpc.request,
    onNotification: rpc.onNotification,
    after: rpc.clock.after,
    news: "notifications/tasks/status",
    async conclude(task) {
      const { status } = task;
      // Whatever its result looks like: it was not done.
      if (status === "cancelled") throw taskCancelledError(task, step);
      if (status === "failed") return { ...(await resultOf()), isError: true };
      // One that wants input asks for it on the way to its result, which waits until there is one.
      return status === "completed" || status === "input_required" ? resultOf() : undefined;
    },
  });
}
