/** Makes the folder ready: the suites installed at the first use, our engine bundled from its sources every time. */

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = fileURLToPath(new URL(".", import.meta.url));
const sources = fileURLToPath(new URL("../packages/wire/src", import.meta.url));

export async function prepare() {
  if (!existsSync(`${here}/node_modules/conformance-alpha`)) {
    const { status } = spawnSync("npm", ["ci"], { cwd: here, stdio: "inherit" });
    if (status !== 0) throw new Error("the suites could not be installed");
  }
  await rm(`${here}/bundle`, { recursive: true, force: true });
  await build({
    entryPoints: [`${sources}/index.ts`, `${sources}/sdk-transport.ts`],
    outdir: `${here}/bundle`,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    packages: "external",
  });
}
