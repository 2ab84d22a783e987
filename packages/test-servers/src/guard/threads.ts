/** Watches worker threads, including threads that do not keep the process alive. */

import { syncBuiltinESMExports } from "node:module";
import threads, { Worker } from "node:worker_threads";
import { watch } from "./scope.ts";
import { seeInstances } from "./wrap.ts";

/** The number that Node gives a thread after its end. */
const ended = -1;

export function watchThreads(): void {
  seeInstances(threads, "Worker", (worker) => {
    if (!(worker instanceof Worker)) return;
    const id = worker.threadId;
    watch({
      describe: () => `a worker thread: ${id}`,
      isOver: () => worker.threadId === ended,
      // A host that the whole file shares keeps its threads for the next test.
      mayBeShared: () => true,
      endsLater: true,
    });
  });
  syncBuiltinESMExports();
}
