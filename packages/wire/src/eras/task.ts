/** Polls a task until it ends, and cancels it when the caller stops waiting. */

import { WireError } from "../errors.ts";
import { onAbort } from "../rpc/abort.ts";
import type { ExchangeOptions, OpenRequest } from "../rpc/exchange.ts";
import type { Rpc } from "../rpc/rpc.ts";
import { cancelledError } from "../rpc/rpc-errors.ts";
import type { JsonObject, McpRequestOptions } from "../session.ts";
import { isObject, stringOf } from "../shapes/json.ts";
import { clip } from "../shapes/text.ts";

/** Milliseconds between two polls if the server sets no `pollInterval`, and the limits for a `pollInterval`. */
const usualPause = 1_000;
const shortestPause = 100;
const longestPause = 60_000;

/** If this many polls in a row fail on the network, the task counts as lost. */
const maxMisses = 3;

/** What `followTask` needs. Each protocol era passes its own functions. */
export interface TaskPorts {
  readonly open: OpenRequest;
  readonly ask: (method: string, params: JsonObject, options: ExchangeOptions) => Promise<JsonObject>;
  readonly rpc: Pick<Rpc, "onNotification"> & { readonly clock: Pick<Rpc["clock"], "after"> };
  /** The method of the notification that contains the task's status. */
  readonly statusMethod: string;
  /** Returns the task's result if the task has ended. Otherwise answers its input requests. */
  readonly conclude: (task: JsonObject) => Promise<JsonObject | undefined>;
}

/**
 * Follows a task until it has ended.
 *
 * @param first The task that the server sent instead of a result.
 */
export async function followTask(taskId: string, first: JsonObject, ports: TaskPorts): Promise<JsonObject> {
  const { open, ask, conclude } = ports;
  const { signal } = open;
  let seen = "";
  const updates = statusListener(taskId, ports, notice);
  /** Cancels the task. A failure is ignored, because the caller no longer waits. */
  const cancelTask = (): void => {
    ask("tasks/cancel", { taskId }, { awaitedOnClose: true, quiet: true }).catch(() => undefined);
  };
  const stopListening = onAbort(signal, cancelTask);

  /**
   * Restarts the timeout only if the task's status, message or update time has changed. Otherwise a server that always
   * answers "working" would never time out.
   */
  function notice(task: JsonObject): void {
    if (!isOpen(task) && !isOver(task)) return;
    const words = stringOf(task["statusMessage"]);
    const now = JSON.stringify([stringOf(task["status"]), words, stringOf(task["lastUpdatedAt"])]);
    if (now === seen) return;
    seen = now;
    if (words === undefined) open.restartTimeout();
    else open.reportMessage(clip(words));
  }

  async function poll(): Promise<JsonObject> {
    for (let misses = 0; ; misses += 1) {
      try {
        const answer = await ask("tasks/get", { taskId }, { signal, timeout: Number.POSITIVE_INFINITY, quiet: true });
        return ofTask(taskId, answer);
      } catch (error) {
        if (!(error instanceof WireError) || signal.aborted) throw error;
        const mayRetry = isTemporary(error) && misses + 1 < maxMisses;
        if (!mayRetry) throw error.code === "rpc" || isTemporary(error) ? taskLostError(error) : error;
        const told = await updates.wait(usualPause);
        if (told !== undefined) return told;
      }
    }
  }

  let task = first;
  try {
    for (;;) {
      notice(task);
      const result = await conclude(task);
      if (result !== undefined) return result;
      task = (await updates.wait(pauseOf(task))) ?? (await poll());
      // While the poll was open, a notification may have brought a newer status.
      task = updates.take() ?? task;
    }
  } catch (error) {
    // The caller gets the error, but the server may still run the task, so the task is cancelled.
    if (!signal.aborted && !isOver(task)) cancelTask();
    throw error;
  } finally {
    stopListening();
    updates.close();
  }
}

function ofTask(taskId: string, answer: JsonObject): JsonObject {
  const { taskId: told = taskId } = answer;
  if (told === taskId) return answer;
  throw new WireError("bad_message", "the server's response to tasks/get is about another task", { step: "tasks/get" });
}

function isOpen({ status }: JsonObject): boolean {
  return status === "working" || status === "input_required";
}

function isOver({ status }: JsonObject): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}

function statusListener(
  taskId: string,
  { open: { signal }, rpc, statusMethod }: TaskPorts,
  notice: (task: JsonObject) => void,
) {
  let latest: JsonObject | undefined;
  let wake: () => void = () => {};
  const close = rpc.onNotification((method, params) => {
    if (method !== statusMethod || params["taskId"] !== taskId) return;
    latest = params;
    notice(params);
    wake();
  });
  function take(): JsonObject | undefined {
    const told = latest;
    latest = undefined;
    return told;
  }

  return {
    close,
    take,
    /**
     * Resolves with the next status notification, or with undefined if none arrives within `milliseconds`. Rejects when
     * the request has ended.
     */
    async wait(milliseconds: number): Promise<JsonObject | undefined> {
      await new Promise<void>((resolve) => {
        if (latest !== undefined) return resolve();
        const stopTimer = rpc.clock.after(milliseconds, resolve);
        const stopListening = onAbort(signal, resolve);
        wake = () => {
          stopTimer();
          stopListening();
          resolve();
        };
      });
      wake();
      if (signal.aborted) throw cancelledError("tasks/get", signal.reason, false);
      return take();
    },
  };
}

function pauseOf({ pollInterval, pollIntervalMs = pollInterval }: JsonObject): number {
  if (typeof pollIntervalMs !== "number" || !Number.isFinite(pollIntervalMs)) return usualPause;
  return Math.min(Math.max(pollIntervalMs, shortestPause), longestPause);
}

function isTemporary({ code, evidence: { httpStatus = 0 } }: WireError): boolean {
  if (code === "http_status") return httpStatus >= 500 || httpStatus === 429;
  return code === "unreachable" || code === "stream_lost";
}

/**
 * Returns the error for a task that the server cancelled.
 *
 * @param step The method of the request that became the task.
 */
export function taskCancelledError({ statusMessage }: JsonObject, step: string): WireError {
  const why = stringOf(statusMessage);
  return new WireError("rpc", `the server cancelled the task${why === undefined ? "" : `: ${clip(why)}`}`, { step });
}

function taskLostError(cause: WireError): WireError {
  return new WireError("task_lost", `the task is lost: ${cause.message}`, cause.evidence, { cause });
}

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
      ? followLegacyTask(rpc, begun["taskId"], begun, open, method, options)
      : undefined;
  return rpc.request(method, { ...params, task }, { ...options, follow });
}

/** @param step The method of the request that became a task, for error messages. */
function followLegacyTask(
  rpc: Rpc,
  taskId: string,
  begun: JsonObject,
  open: OpenRequest,
  step: string,
  { answer, onNotification, owner }: McpRequestOptions,
): Promise<JsonObject> {
  const { signal, progress: onProgress } = open;
  // These options of the request also apply while the task runs.
  const how = { signal, timeout: Number.POSITIVE_INFINITY, onProgress, token: false, answer, onNotification, owner };
  const resultOf = (): Promise<JsonObject> => rpc.request("tasks/result", { taskId }, how);
  return followTask(taskId, begun, {
    open,
    ask: rpc.request,
    rpc,
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
