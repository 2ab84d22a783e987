/**
 * Prepares the folder: installs the suites at the first use, and bundles host and engine from their sources every time.
 */

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = fileURLToPath(new URL(".", import.meta.url));
const wire = fileURLToPath(new URL("../packages/wire/src", import.meta.url));
const core = fileURLToPath(new URL("../packages/core/src", import.meta.url));

/** @param more Further files to bundle, as paths in `packages`. */
export async function prepare(more = []) {
  if (!existsSync(`${here}/node_modules/conformance-alpha`)) {
    const { status } = spawnSync("npm", ["ci"], { cwd: here, stdio: "inherit" });
    if (status !== 0) throw new Error("the suites could not be installed");
  }
  await rm(`${here}/bundle`, { recursive: true, force: true });
  await build({
    entryPoints: [`${wire}/index.ts`, `${core}/host.ts`, ...more.map((file) => `${here}/../packages/${file}`)].map(
      (file) => ({
        in: file,
        out: basename(file, ".ts"),
      }),
    ),
    outdir: `${here}/bundle`,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    conditions: ["fairlead-source"],
    plugins: [onlyOurs],
  });
}

/** Bundles the command, because it contains the gateway. */
export function buildCommand() {
  const { status } = spawnSync(process.execPath, ["scripts/bundle.mjs"], { cwd: `${here}/..`, stdio: "inherit" });
  if (status !== 0) throw new Error("the command could not be bundled");
}

/** Packages of others are not bundled, but loaded from where they are installed. */
const onlyOurs = {
  name: "only-ours",
  setup: ({ onResolve }) =>
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === "entry-point" || path.startsWith("@fairlead/") ? undefined : { path, external: true },
    ),
};
