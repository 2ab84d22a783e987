/** Compiles core once before the tests: a thread cannot run the sources, so the one that validates is the compiled file. */

import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export default function setup(): void {
  const compiler = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");
  // Files are written in spite of type errors, and to report those is not the business of a test.
  const core = fileURLToPath(new URL("..", import.meta.url));
  const { error } = spawnSync(process.execPath, [compiler, "-b", core], { stdio: "ignore" });
  if (error !== undefined) throw error;
}
