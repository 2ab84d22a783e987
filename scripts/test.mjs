// Runs the tests. `--long` runs the large repeat counts whole; everything else is handed to vitest.
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const args = process.argv.slice(2);
const long = args.includes("--long");
const manifest = createRequire(import.meta.url).resolve("vitest/package.json");
// As npx does: the tests find the same programs however they are started.
const programs = fileURLToPath(new URL("../node_modules/.bin", import.meta.url));
const PATH = [programs, process.env.PATH].join(delimiter);
const env = { ...process.env, PATH, ...(long ? { FAIRLEAD_LONG: "1" } : {}) };
const { status } = spawnSync(
  process.execPath,
  [join(dirname(manifest), "vitest.mjs"), "run", ...args.filter((arg) => arg !== "--long")],
  { stdio: "inherit", env },
);
process.exitCode = status ?? 1;
