/** Compiles what runs outside the tests' own process: a thread that validates and a program that is started need compiled files. */

import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export default function setup(): void {
  const compiler = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");
  // Files are written in spite of type errors, and to report those is not the business of a test.
  const projects = ["..", "../../test-servers"].map((path) => fileURLToPath(new URL(path, import.meta.url)));
  const { error } = spawnSync(process.execPath, [compiler, "-b", ...projects], { stdio: "ignore" });
  if (error !== undefined) throw error;
}
