// Bundles the libraries: what an import loads at once is one file, what is loaded when it is used is in chunks. To find and read some four
// hundred small files took three times as long. Types stay as the compiler writes them, in build/.
import { chmodSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { importGraph } from "./reachable.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
/** What every host loads when it starts its first server, in one chunk: to find and load each file of it costs a millisecond. */
const started = {
  core: [
    "connect/open-session.ts",
    "connect/server-log.ts",
    "discover/accepted-definitions.ts",
    "discover/catalog-store.ts",
    "host/catalogs/lock.ts",
    "policy/approvals.ts",
    "policy/approved-tools.ts",
    "policy/confirmations.ts",
    "policy/lock/lock-drift.ts",
    "policy/lock/lock-file.ts",
    "policy/rules/load-policies.ts",
    "settings/define/define.ts",
    "settings/define/expand.ts",
    "trust/approved-programs.ts",
  ],
};
/** Small dependencies that every import loads. To load jsonc-parser as CommonJS takes a quarter of the whole import. */
const included = ["jsonc-parser", "eventsource-parser"];
/** Beside the public entries of a package: the files that it starts as threads. */
const threads = {
  core: {
    "validation-worker": "src/execute/validation/validation-worker.ts",
    "result-worker": "src/results/result-worker.ts",
  },
};

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
    await write(
      folder,
      { entries: Object.fromEntries(entries), threads: threads[name] ?? {}, started: started[name] ?? [] },
      outdir,
    );
    chmodSync(outdir, 0o755);
    moveAway(output, `${outdir}-old`);
    renameSync(outdir, output);
  } finally {
    for (const path of [outdir, `${outdir}-old`]) rmSync(path, { recursive: true, force: true });
  }
}

async function write(folder, { entries, threads, started }, dir) {
  const graph = importGraph();
  const build = await rolldown({
    cwd: folder,
    input: { ...entries, ...threads },
    platform: "node",
    // Dependencies stay what the package declares; the other library keeps its own classes.
    external: (id) => !id.startsWith(".") && !id.startsWith("/") && !/^[A-Za-z]:\\/.test(id) && !included.includes(id),
    // A module of `main` would be CommonJS.
    resolve: { mainFields: ["module", "main"] },
    plugins: [graph.plugin],
    onLog(level, log, handle) {
      // Such a file is in the one that is loaded at once: that is what the other import wants.
      if (log.code !== "INEFFECTIVE_DYNAMIC_IMPORT") handle(level, log);
    },
  });
  const isEager = reaches(graph, [join(folder, entries.index)]);
  const isStarted = reaches(
    graph,
    started.map((file) => join(folder, "src", file)),
  );
  await build.write({
    dir,
    format: "esm",
    chunkFileNames: "chunk-[hash].js",
    // V8 keeps a file with one character beyond Latin-1 in twice the memory. Comments are in the types.
    comments: { jsdoc: false },
    minify: { compress: false, mangle: false, codegen: { removeWhitespace: false, asciiOnly: true } },
    codeSplitting: {
      groups: [
        { name: "eager", test: isEager, priority: 2 },
        { name: "start", test: isStarted, priority: 1 },
      ],
    },
  });
  await build.close();
}

/** Whether a file is one of these or imported by them, without what is loaded later. Asked when every file is parsed. */
function reaches(graph, files) {
  let found;
  return (id) => {
    found ??= graph.reachable(...files);
    return found.has(id);
  };
}

function moveAway(path, to) {
  try {
    renameSync(path, to);
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
  }
}
