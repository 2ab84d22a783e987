/**
 * A pool of worker threads for expensive validations. Each thread runs one validation at a time and is terminated at
 * its time or memory limit.
 */

import type { Worker } from "node:worker_threads";
import { clip } from "@fairlead/wire/text";
import type { Clock } from "../../clock.ts";
import { startLimitedThread } from "../limited-thread.ts";
import { notValidated, type Validation } from "./validation.ts";

/** A schema and a value. Both are JSON texts, because threads exchange texts faster than objects. */
export interface Job {
  readonly schema: string;
  readonly value: string;
}

/** Number, limits and file of the worker threads. */
export interface PoolOptions {
  /** The compiled file of the worker thread. */
  readonly worker: URL;
  readonly threads: number;
  /** Milliseconds for one validation. The start of the thread does not count. */
  readonly timeLimit: number;
  readonly memoryMegabytes: number;
  readonly clock: Clock;
}

/** Runs validations in worker threads. Further validations wait for a free thread. */
export interface WorkerPool {
  /** Validates in a worker thread. Rejects only with the reason of `signal`. */
  run(job: Job, signal?: AbortSignal): Promise<Validation>;
  close(): Promise<void>;
}

interface Waiting {
  readonly job: Job;
  settle(validation: Validation): void;
}

interface Thread {
  readonly worker: Worker;
  isReady: boolean;
  current: Waiting | undefined;
  callOff: () => void;
}

const startLimit = 30_000;

/**
 * The JavaScript file of the worker thread. If this file runs as TypeScript, the path leads to `build`, because a
 * thread cannot run TypeScript.
 */
export const workerFile: URL = new URL(
  import.meta.url.endsWith(".ts") ? "../../../build/execute/validation/validation-worker.js" : "./validation-worker.js",
  import.meta.url,
);

/** Creates a pool, at first without threads. Threads start when they are needed. */
export function createWorkerPool({
  worker,
  threads: most,
  timeLimit,
  memoryMegabytes,
  clock,
}: PoolOptions): WorkerPool {
  const threads = new Set<Thread>();
  const endings = new Set<Promise<unknown>>();
  let queue: Waiting[] = [];
  let isClosed = false;

  function start(): Thread {
    const thread: Thread = {
      worker: startLimitedThread(worker, memoryMegabytes, 32),
      isReady: false,
      current: undefined,
      callOff: () => undefined,
    };
    threads.add(thread);
    thread.worker.on("message", (message: "ready" | Validation) => {
      if (message === "ready") {
        thread.isReady = true;
        watch(thread);
      } else finish(thread, message);
    });
    thread.worker.on("error", (error) => end(thread, reasonOf(error)));
    thread.worker.on("exit", () => end(thread, "the validation thread ended"));
    return thread;
  }

  function watch(thread: Thread): void {
    thread.callOff();
    const { isReady, current } = thread;
    thread.callOff = clock.after(isReady ? timeLimit : startLimit, () => {
      const reason = isReady
        ? `the validation took longer than ${timeLimit} ms`
        : "the validation thread did not start";
      // Waiting validations with this schema would probably take too long too.
      const alike = queue.filter(({ job }) => job.schema === current?.job.schema);
      for (const waiting of alike) waiting.settle(notValidated(reason));
      end(thread, reason);
    });
  }

  function assign(idle: Thread | undefined, waiting: Waiting): void {
    let thread: Thread;
    try {
      thread = idle ?? start();
    } catch (error) {
      // `start` throws if the system cannot start another thread.
      waiting.settle(notValidated(reasonOf(error)));
      return;
    }
    thread.current = waiting;
    thread.worker.ref();
    watch(thread);
    thread.worker.postMessage(waiting.job);
  }

  function finish(thread: Thread, validation: Validation): void {
    thread.callOff();
    // An idle thread must not keep the process alive.
    thread.worker.unref();
    const done = thread.current;
    thread.current = undefined;
    done?.settle(validation);
    next();
  }

  function end(thread: Thread, reason: string): void {
    if (!threads.delete(thread)) return;
    thread.callOff();
    const ending = thread.worker.terminate().finally(() => endings.delete(ending));
    endings.add(ending);
    thread.current?.settle(notValidated(reason));
    next();
  }

  function next(): void {
    while (queue.length > 0) {
      const idle = [...threads].find(({ current }) => current === undefined);
      if (idle === undefined && threads.size >= most) return;
      const [waiting, ...rest] = queue;
      queue = rest;
      if (waiting !== undefined) assign(idle, waiting);
    }
  }

  return {
    run: (job, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted === true) return reject(signal.reason);
        if (isClosed) return resolve(notValidated("the host is closed"));
        const leave = (): void => {
          queue = queue.filter((other) => other !== waiting);
          reject(signal?.reason);
          for (const thread of threads) if (thread.current === waiting) end(thread, "the validation was cancelled");
        };
        const waiting: Waiting = {
          job,
          settle(validation) {
            queue = queue.filter((other) => other !== waiting);
            signal?.removeEventListener("abort", leave);
            resolve(validation);
          },
        };
        signal?.addEventListener("abort", leave, { once: true });
        queue.push(waiting);
        next();
      }),
    async close() {
      isClosed = true;
      for (const waiting of queue) waiting.settle(notValidated("the host is closed"));
      for (const thread of threads) end(thread, "the host is closed");
      await Promise.all(endings);
    },
  };
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "the validation thread failed";
  const isMemory = "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
  return isMemory
    ? "the validation needed too much memory"
    : `the validation thread failed (${clip(error.message, 200)})`;
}
