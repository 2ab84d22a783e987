// Neither reads nor answers until the file in its argument exists.
import { existsSync, watch } from "node:fs";
import { dirname } from "node:path";
import { serve } from "../serve.mjs";

const [gate] = process.argv.slice(2);

await new Promise((resolve) => {
  const watcher = watch(dirname(gate), look);
  function look() {
    if (!existsSync(gate)) return;
    watcher.close();
    resolve();
  }
  look();
});
serve();
