// Runs the tests. `--long` runs the large repeat counts whole; everything else is handed to vitest.
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const args = process.argv.slice(2);
const long = args.includes("--long");
const manifest = createRequire(import.meta.url).resolve("vitest/package.json");
const env = { ...process.env, ...(long ? { FAIRLEAD_LONG: "1" } : {}) };
const { status } = spawnSync(
  process.execPath,
  [join(dirname(manifest), "vitest.mjs"), "run", ...args.filter((arg) => arg !== "--long")],
  { stdio: "inherit", env },
);
process.exitCode = status ?? 1;
