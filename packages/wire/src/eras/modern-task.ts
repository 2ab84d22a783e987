/**
 * Tasks of the modern protocol era (extension `io.modelcontextprotocol/tasks`): the server decides to answer a call
 * with a task.
 */

import { WireError } from "../errors.ts";
import type { OpenRequest } from "../rpc/exchange.ts";
import { replyError } from "../rpc/rpc-errors.ts";
import type { JsonObject, RequestHandler } from "../session.ts";
import { isObject } from "../shapes/json.ts";
import type { WireLimits } from "../target.ts";
import { answersTo } from "./input-rounds.ts";
import { followTask, type TaskPorts, taskCancelledError } from "./task.ts";

/** A task of the modern protocol era, with the functions and limits for following it. */
export interface ModernTask extends Pick<TaskPorts, "ask" | "onNotification" | "after"> {
  readonly open: OpenRequest;
  /** The method of the request that became a task, for error messages. */
  readonly step: string;
  readonly limits: Pick<WireLimits, "inputRounds" | "inboundRequests">;
  readonly handler: RequestHandler | undefined;
}

/** Waits for a task's result and answers the task's input requests. */
export async function followModernTask(begun: JsonObject, how: ModernTask): Promise<JsonObject> {
  const { open, ask, onNotification, after, step, limits, handler } = how;
  const { taskId } = begun;
  if (typeof taskId !== "string") throw new WireError("bad_message", "the server's task has no id", { step });
  const answered = new Set<string>();
  let rounds = 0;

  /** Answers each input request only once. The server repeats an input request until it has processed the answer. */
  async function answer(inputRequests: unknown): Promise<void> {
    const isNew = ([key]: [string, unknown]): boolean => !answered.has(key);
    const questions = isObject(inputRequests) ? Object.entries(inputRequests).filter(isNew) : [];
    if (questions.length === 0) return;
    rounds += 1;
    if (rounds > limits.inputRounds)
      throw new WireError("bad_message", `the server asked for input more than ${limits.inputRounds} times`, { step });
    const { signal } = open;
    open.pause();
    const answers = answersTo(Object.fromEntries(questions), { step, limits, handler, signal });
    const inputResponses = await answers.finally(open.resume);
    for (const [key] of questions) answered.add(key);
    await ask("tasks/update", { taskId, inputResponses }, { signal, timeout: Number.POSITIVE_INFINITY });
  }

  return followTask(taskId, begun, {
    open,
    ask,
    onNotification,
    after,
    statusMethod: "notifications/tasks",
    async conclude(task) {
      const { status, result, error, inputRequests } = task;
      if (status === "input_required") await answer(inputRequests);
      if (status === "completed" && isObject(result)) return { ...result, resultType: "complete" };
      if (status === "completed") throw new WireError("bad_message", "the task completed without a result", { step });
      if (status === "failed") throw replyError(error, "tasks/get");
      if (status === "cancelled") throw taskCancelledError(task, step);
      return undefined;
    },
  });
}
