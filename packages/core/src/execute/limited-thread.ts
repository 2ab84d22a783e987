/** Starts worker threads whose memory limit applies even if Node was started with `--max-old-space-size`. */

import { setFlagsFromString } from "node:v8";
import { Worker, type WorkerOptions } from "node:worker_threads";

/** Memory limits and start data of one worker thread. */
export interface ThreadOptions {
  readonly memoryMegabytes: number;
  /** Megabytes for new objects (V8's young generation). Default: Node's own. */
  readonly youngMegabytes?: number;
  /** The value that the thread reads as `workerData`. */
  readonly data?: unknown;
}

/** Node's option for the heap size, in `NODE_OPTIONS` or on the command line. */
const heapOption = /--max[-_]old[-_]space[-_]size\b/;

/**
 * Starts a thread without the environment variables and options of the process. With `--max-old-space-size`, V8 would
 * ignore the thread's memory limit. So this function first clears the option for all threads that start later.
 */
export function startLimitedThread(file: URL, { memoryMegabytes, youngMegabytes, data }: ThreadOptions): Worker {
  if (heapOption.test(`${process.env["NODE_OPTIONS"] ?? ""} ${process.execArgv.join(" ")}`))
    setFlagsFromString("--max-old-space-size=0");
  const young = youngMegabytes === undefined ? {} : { maxYoungGenerationSizeMb: youngMegabytes };
  const options: WorkerOptions = {
    env: {},
    execArgv: [],
    workerData: data,
    resourceLimits: { maxOldGenerationSizeMb: memoryMegabytes, ...young, stackSizeMb: 4 },
  };
  return new Worker(file, options);
}
