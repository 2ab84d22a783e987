/** Bundles the command once before the tests: some of them run it as a person would, as a process of its own. */

import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

export default function setup(): void {
  execFileSync(process.execPath, [fileURLToPath(new URL("../../../../scripts/bundle.mjs", import.meta.url))], {
    stdio: ["ignore", "ignore", "inherit"],
  });
}
