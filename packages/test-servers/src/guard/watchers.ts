/**
 * Watches file watchers (`watch` and `watchFile` of `node:fs`), including watchers that do not keep the process alive.
 */

import { EventEmitter, errorMonitor } from "node:events";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { watch } from "./scope.ts";
import { seeCalls } from "./wrap.ts";

/**
 * The events after which a watcher reports nothing more, by the function that creates it. Node closes a watcher that
 * has failed.
 */
const endings = { watch: ["close", errorMonitor], watchFile: ["stop"] };

export function watchWatchers(): void {
  for (const [name, events] of Object.entries(endings))
    seeCalls(fs, name, (_, [path], watcher) => {
      if (!(watcher instanceof EventEmitter)) return;
      let isOver = false;
      for (const event of events)
        watcher.prependListener(event, () => {
          isOver = true;
        });
      watch({
        describe: () => `a file watcher: ${name} of ${String(path)}`,
        isOver: () => isOver,
        // A host that the whole file shares watches its settings files until the host is closed.
        mayBeShared: () => true,
        endsLater: true,
      });
    });
  syncBuiltinESMExports();
}
