/**
 * Tasks of the legacy protocol era (2025-11-25): the client asks for a task and reads its result with `tasks/result`.
 */

import type { ExchangeOptions, OpenRequest } from "../rpc/exchange.ts";
import type { Rpc } from "../rpc/rpc.ts";
import type { JsonObject, McpRequestOptions } from "../session.ts";
import { isObject } from "../shapes/json.ts";
import { followTask, taskCancelledError } from "./task.ts";

/** Sends a request as a task. Resolves with the task's result. */
export function requestAsTask(
  rpc: Rpc,
  method: string,
  params: JsonObject | undefined,
  options: McpRequestOptions,
): Promise<JsonObject> {
  const { total } = options;
  // The caller stops waiting after `total` milliseconds. With this `ttl`, the server may then delete the task.
  const task = total !== undefined && Number.isFinite(total) ? { ttl: Math.ceil(total) } : {};
  const follow: ExchangeOptions["follow"] = ({ task: begun }, open) =>
    isObject(begun) && typeof begun["taskId"] === "string"
      ? followLegacyTask(rpc, begun["taskId"], begun, { open, step: method, options })
      : undefined;
  return rpc.request(method, { ...params, task }, { ...options, token: true, follow });
}

interface LegacyTask {
  readonly open: OpenRequest;
  /** The method of the request that became a task, for error messages. */
  readonly step: string;
  /** The request's options that also apply while the task runs. */
  readonly options: Pick<McpRequestOptions, "answer" | "onNotification" | "owner">;
}

function followLegacyTask(
  rpc: Rpc,
  taskId: string,
  begun: JsonObject,
  { open, step, options: { answer, onNotification, owner } }: LegacyTask,
): Promise<JsonObject> {
  const resultOf = (): Promise<JsonObject> =>
    rpc.request(
      "tasks/result",
      { taskId },
      {
        signal: open.signal,
        timeout: Number.POSITIVE_INFINITY,
        onProgress: open.progress,
        answer,
        onNotification,
        owner,
      },
    );
  return followTask(taskId, begun, {
    open,
    ask: rpc.request,
    onNotification: rpc.onNotification,
    after: rpc.clock.after,
    statusMethod: "notifications/tasks/status",
    async conclude(task) {
      const { status } = task;
      // A cancelled task may have a result, but the request counts as failed.
      if (status === "cancelled") throw taskCancelledError(task, step);
      if (status === "failed") return { ...(await resultOf()), isError: true };
      // `tasks/result` stays open until the task has ended. In the meantime, the server can send the task's input
      // requests.
      return status === "completed" || status === "input_required" ? resultOf() : undefined;
    },
  });
}
