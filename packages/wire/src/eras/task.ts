/** A call that its server answers with a task: looks after it until it is over, and calls it off when nobody waits any more. */

import { WireError } from "../errors.ts";
import { onAbort } from "../rpc/abort.ts";
import type { ExchangeOptions, OpenRequest } from "../rpc/exchange.ts";
import { cancelledError } from "../rpc/rpc-errors.ts";
import type { TimeSource } from "../rpc/time-source.ts";
import type { JsonObject, NotificationListener } from "../session.ts";
import { stringOf } from "../shapes/json.ts";
import { clip } from "../shapes/text.ts";

/** Milliseconds between two looks at a task: what a server wishes, within reason. */
const usualPause = 1_000;
const shortestPause = 100;
const longestPause = 60_000;

/** So many looks in a row may fail on the way to a server that has not said that it is gone. */
const mostMisses = 3;

export interface TaskPorts {
  readonly open: OpenRequest;
  readonly ask: (method: string, params: JsonObject, options: ExchangeOptions) => Promise<JsonObject>;
  readonly onNotification: (listener: NotificationListener) => () => void;
  readonly after: TimeSource["after"];
  /** The notification in which the server tells, unasked, how the task is. */
  readonly news: string;
  /** What the task came to, once it is over; does, before that, what it waits for. */
  readonly conclude: (task: JsonObject) => Promise<JsonObject | undefined>;
}

/** @param first The task as the server gave it in place of a result. */
export async function followTask(taskId: string, first: JsonObject, ports: TaskPorts): Promise<JsonObject> {
  const { open, ask, conclude } = ports;
  const { signal } = open;
  let seen = "";
  const letter = letterbox(taskId, ports, notice);
  /** Whether it works or not, there is nothing more to be done. */
  const callOff = (): void => {
    ask("tasks/cancel", { taskId }, { awaitedOnClose: true, quiet: true }).catch(() => undefined);
  };
  const stopListening = onAbort(signal, callOff);

  /** Answers alone are no sign of life: a server that says "working" for ever, and nothing else, is silent. So is what makes no sense. */
  function notice(task: JsonObject): void {
    if (!isOpen(task) && !isOver(task)) return;
    const words = stringOf(task["statusMessage"]);
    const now = JSON.stringify([stringOf(task["status"]), words, stringOf(task["lastUpdatedAt"])]);
    if (now === seen) return;
    seen = now;
    if (words === undefined) open.restartTimeout();
    else open.reportMessage(clip(words));
  }

  async function look(): Promise<JsonObject> {
    for (let misses = 0; ; misses += 1) {
      try {
        const answer = await ask("tasks/get", { taskId }, { signal, timeout: Number.POSITIVE_INFINITY, quiet: true });
        return ofTask(taskId, answer);
      } catch (error) {
        if (!(error instanceof WireError) || signal.aborted) throw error;
        const mayPass = isPassing(error) && misses + 1 < mostMisses;
        if (!mayPass) throw error.code === "rpc" || isPassing(error) ? forgotten(error) : error;
        const told = await letter.wait(usualPause);
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
      task = (await letter.wait(pauseOf(task))) ?? (await look());
      // It may have been overtaken on its way.
      task = letter.take() ?? task;
    }
  } catch (error) {
    // We are the ones who give up: whatever it is doing, it does it for nobody.
    if (!signal.aborted && !isOver(task)) callOff();
    throw error;
  } finally {
    stopListening();
    letter.close();
  }
}

function ofTask(taskId: string, answer: JsonObject): JsonObject {
  const { taskId: told = taskId } = answer;
  if (told === taskId) return answer;
  throw new WireError("bad_message", "asked about one task, the server told of another", { step: "tasks/get" });
}

function isOpen({ status }: JsonObject): boolean {
  return status === "working" || status === "input_required";
}

function isOver({ status }: JsonObject): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}

interface Letterbox {
  /** The last that the server told unasked; nothing when the time is over without any. Rejects when the request has ended. */
  readonly wait: (milliseconds: number) => Promise<JsonObject | undefined>;
  readonly take: () => JsonObject | undefined;
  readonly close: () => void;
}

function letterbox(
  taskId: string,
  { open: { signal }, onNotification, after, news }: TaskPorts,
  notice: (task: JsonObject) => void,
): Letterbox {
  let latest: JsonObject | undefined;
  let wake: () => void = () => {};
  const close = onNotification((method, params) => {
    if (method !== news || params["taskId"] !== taskId) return;
    latest = params;
    // At once: nobody may be waiting for it.
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
    async wait(milliseconds) {
      await new Promise<void>((resolve) => {
        if (latest !== undefined) return resolve();
        const callOff = after(milliseconds, resolve);
        const stopListening = onAbort(signal, resolve);
        wake = () => {
          callOff();
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

/** Trouble on the way, not with the task. */
function isPassing({ code, evidence: { httpStatus = 0 } }: WireError): boolean {
  if (code === "http_status") return httpStatus >= 500 || httpStatus === 429;
  return code === "unreachable" || code === "stream_lost";
}

/** @param step The call's own method. */
export function taskCancelledError({ statusMessage }: JsonObject, step: string): WireError {
  const why = stringOf(statusMessage);
  return new WireError("rpc", `the server cancelled the task${why === undefined ? "" : `: ${clip(why)}`}`, { step });
}

function forgotten(cause: WireError): WireError {
  return new WireError("task_lost", `the task can no longer be followed: ${cause.message}`, cause.evidence, { cause });
}
