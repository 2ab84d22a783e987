/*
 * Builds after `npm install`. Does nothing if the build tools are missing, because a production install has nothing to
 * build.
 */
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";

const { resolve } = createRequire(import.meta.url);
const present = ["typescript/package.json", "esbuild"].every((name) => {
  try {
    return Boolean(resolve(name));
  } catch {
    return false;
  }
});
if (present) {
  const { status } = spawnSync("npm", ["run", "--silent", "build"], {
    stdio: "inherit",
    shell: process.platform === "win32",
  });
  process.exitCode = status ?? 1;
}
