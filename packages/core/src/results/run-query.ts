/**
 * Runs a query on a stored result in a worker thread. Terminates the thread when it reaches its time or memory limit.
 */

import { errorMessage } from "@fairlead/wire/text";
import type { Clock } from "../clock.ts";
import { HostError } from "../errors.ts";
import { startLimitedThread } from "../execute/limited-thread.ts";
import type { QueryOutcome } from "./result-query.ts";
import type { ResultJob } from "./result-worker.ts";
import type { SelectedLines } from "./select-lines.ts";

/** The clock for the time limit, and the signal that cancels the query. */
export interface QueryOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** The time limit in milliseconds for starting the thread, reading the file and selecting lines. */
const plainLimit = 30_000;
/** The time limit in milliseconds for a JMESPath expression or a text search. */
const queryLimit = 5_000;
const memoryMegabytes = 512;

/** The file that the worker thread runs. A worker thread cannot run TypeScript, so this is always a compiled file. */
const workerFile: URL = new URL(
  import.meta.url.endsWith(".ts") ? "../../build/results/result-worker.js" : "./result-worker.js",
  import.meta.url,
);

/**
 * Runs the query.
 *
 * @throws HostError `arguments_invalid` or `too_large`; if the signal is aborted, the signal's reason
 */
export async function runQuery(job: ResultJob, { clock, signal }: QueryOptions): Promise<SelectedLines> {
  signal.throwIfAborted();
  const worker = startLimitedThread(workerFile, { memoryMegabytes, data: job });
  const isPlain = job.query.grep === undefined && job.query.jmespath === undefined;
  let stopTimer = (): void => undefined;
  let leave = (): void => undefined;
  try {
    return await new Promise<SelectedLines>((resolve, reject) => {
      const limit = (milliseconds: number): void => {
        stopTimer();
        stopTimer = clock.after(milliseconds, () => reject(notRead(`the query took longer than ${milliseconds} ms`)));
      };
      leave = () => reject(signal.reason);
      signal.addEventListener("abort", leave, { once: true });
      limit(plainLimit);
      worker.on("message", (message: "ready" | QueryOutcome) => {
        if (message === "ready") return limit(isPlain ? plainLimit : queryLimit);
        if (message.kind === "selected") return resolve(message);
        reject(new HostError(message.code, message.message));
      });
      worker.on("error", (error) => reject(notRead(reasonOf(error))));
      worker.on("exit", () => reject(notRead("the worker thread ended without a result")));
    });
  } finally {
    stopTimer();
    signal.removeEventListener("abort", leave);
    await worker.terminate();
  }
}

function notRead(reason: string): HostError {
  return new HostError("too_large", `the result was not read: ${reason}`);
}

function reasonOf(error: unknown): string {
  const isMemory = error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
  return isMemory ? "the query needed too much memory" : errorMessage(error).slice(0, 200);
}
