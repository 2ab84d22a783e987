/** Starts worker threads whose memory limit applies even if Node was started with `--max-old-space-size`. */

import { setFlagsFromString } from "node:v8";
import { Worker } from "node:worker_threads";

/** Node's option for the heap size, in `NODE_OPTIONS` or on the command line. */
const heapOption = /--max[-_]old[-_]space[-_]size\b/;

/**
 * Starts a thread without the environment variables and options of the process. With `--max-old-space-size`, V8 would
 * ignore the thread's memory limit. So this function first clears the option for all threads that start later.
 *
 * @param youngMegabytes For new objects (V8's young generation). Default: Node's own.
 * @param data The value that the thread reads as `workerData`.
 */
export function startLimitedThread(
  file: URL,
  memoryMegabytes: number,
  youngMegabytes?: number,
  data?: unknown,
): Worker {
  if (heapOption.test(`${process.env["NODE_OPTIONS"] ?? ""} ${process.execArgv.join(" ")}`))
    setFlagsFromString("--max-old-space-size=0");
  return new Worker(file, {
    env: {},
    execArgv: [],
    workerData: data,
    resourceLimits: {
      maxOldGenerationSizeMb: memoryMegabytes,
      maxYoungGenerationSizeMb: youngMegabytes,
      stackSizeMb: 4,
    },
  });
}
