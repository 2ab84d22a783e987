// Bundles the libraries: what an import loads at once is one file, what is loaded when it is used is in chunks. To find and read some four
// hundred small files took three times as long. Types stay as the compiler writes them, in build/.
import { chmodSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { importGraph } from "./reachable.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
/** Beside the public entries of a package: the files that it starts as threads. */
const threads = { core: { "validation-worker": "src/execute/validation/validation-worker.ts" } };

await Promise.all(["wire", "core"].map(bundle));

async function bundle(name) {
  const folder = join(root, "packages", name);
  const { exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const entries = Object.values(exports)
    .filter((entry) => entry.default !== undefined)
    .map((entry) => [entry.default.replace(/^[.][/]dist[/]|[.]js$/g, ""), entry["fairlead-source"]]);
  const output = join(folder, "dist");
  // Built aside and put in place at the end: a program that starts meanwhile finds the old files or the new ones.
  const outdir = mkdtempSync(`${output}-`);
  try {
    await write(folder, Object.fromEntries(entries), threads[name] ?? {}, outdir);
    chmodSync(outdir, 0o755);
    moveAway(output, `${outdir}-old`);
    renameSync(outdir, output);
  } finally {
    for (const path of [outdir, `${outdir}-old`]) rmSync(path, { recursive: true, force: true });
  }
}

async function write(folder, entries, started, dir) {
  const graph = importGraph();
  const build = await rolldown({
    cwd: folder,
    input: { ...entries, ...started },
    platform: "node",
    // Dependencies stay what the package declares; the other library keeps its own classes.
    external: (id) => !id.startsWith(".") && !id.startsWith("/") && !/^[A-Za-z]:\\/.test(id),
    plugins: [graph.plugin],
    onLog(level, log, handle) {
      // Such a file is in the one that is loaded at once: that is what the other import wants.
      if (log.code !== "INEFFECTIVE_DYNAMIC_IMPORT") handle(level, log);
    },
  });
  let eager;
  const isEager = (id) => {
    eager ??= graph.reachable(join(folder, entries.index));
    return eager.has(id);
  };
  await build.write({
    dir,
    format: "esm",
    chunkFileNames: "chunk-[hash].js",
    codeSplitting: { groups: [{ name: "eager", test: isEager }] },
  });
  await build.close();
}

function moveAway(path, to) {
  try {
    renameSync(path, to);
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
  }
}
