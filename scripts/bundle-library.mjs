// Bundles the libraries: one file for each public entry and chunks for what is loaded when it is used. To read some four hundred small
// files cost more than everything else that an import does. Types stay as the compiler writes them, in dist/.
import { chmodSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
/** Beside the public entries of a package: programs and threads that it starts by their file. */
const started = { core: { "validation-worker": "src/execute/validation/validation-worker.ts" } };

await Promise.all(["wire", "core"].map(bundle));

async function bundle(name) {
  const folder = join(root, "packages", name);
  const { exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const isPublic = ([, { default: file }]) => file !== undefined;
  const entries = Object.entries(exports)
    .filter(isPublic)
    .map(([, entry]) => [entry.default.replace(/^[.][/]lib[/]|[.]js$/g, ""), entry["fairlead-source"]]);
  const output = join(folder, "lib");
  // Built aside and put in place at the end: a program that starts meanwhile finds the old files or the new ones.
  const outdir = mkdtempSync(`${output}-`);
  try {
    await build({
      absWorkingDir: folder,
      entryPoints: { ...Object.fromEntries(entries), ...started[name] },
      outdir,
      bundle: true,
      splitting: true,
      format: "esm",
      platform: "node",
      target: "node20.19",
      // Dependencies stay what the package declares; the other library keeps its own classes.
      packages: "external",
      chunkNames: "chunk-[hash]",
    });
    chmodSync(outdir, 0o755);
    rmSync(`${outdir}-old`, { recursive: true, force: true });
    try {
      renameSync(output, `${outdir}-old`);
    } catch (error) {
      if (error.code !== "ENOENT") throw error;
    }
    renameSync(outdir, output);
  } finally {
    for (const path of [outdir, `${outdir}-old`]) rmSync(path, { recursive: true, force: true });
  }
}
