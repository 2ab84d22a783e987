// Bundles the libraries: code that an import loads at once is one file; code that is loaded later is in chunks.
// Finding and reading about four hundred small files took three times as long. The types stay in build/.
//   dist/*.js      the modules that Node imports; they take the names from the CommonJS files
//   dist/*.cjs     the code as CommonJS; library.cjs loads it with V8's code cache, which Node does not use for modules
//   dist/cache/    the code cache; the first program that uses the library writes it
//   dist/esm/      the code as modules, for bundlers (condition "module") and for threads
import { createHash } from "node:crypto";
import { chmodSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { importGraph } from "./reachable.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
/** Files that every host loads with its first server. They are one chunk, because loading each file costs a millisecond. */
const started = {
  core: [
    "connect/open-session.ts",
    "connect/server-log.ts",
    "server/accepted-definitions.ts",
    "server/catalog-store.ts",
    "host/lock.ts",
    "policy/approvals.ts",
    "policy/decide.ts",
    "policy/lock/lock-drift.ts",
    "policy/lock/lock-file.ts",
    "policy/rules/load-policies.ts",
    "settings/define/define.ts",
    "settings/define/expand.ts",
    "trust/approved-programs.ts",
  ],
};
/** Small dependencies that every import loads. Loading jsonc-parser as CommonJS takes a quarter of the whole import. */
const included = ["jsonc-parser", "eventsource-parser"];
/** Dependencies inside the CommonJS files: they are modules, or finding and compiling their files takes up to 80 ms. */
const cached = [
  "oauth4webapi",
  "stemmer",
  "ajv",
  "ajv/dist/2020.js",
  "fast-deep-equal",
  "fast-uri",
  "json-schema-traverse",
  "require-from-string",
  "proper-lockfile",
  "graceful-fs",
  "retry",
  "signal-exit",
];
/** Files that a package starts as threads. They are bundled like its public entries. */
const threads = {
  core: {
    "validation-worker": "src/execute/validation/validation-worker.ts",
    "result-worker": "src/results/result-worker.ts",
  },
};

const esm = { format: "esm", chunkFileNames: "chunk-[hash].js" };
const commonJs = {
  format: "cjs",
  entryFileNames: "[name].cjs",
  chunkFileNames: "chunk-[hash].cjs",
  plugins: [{ name: "require-later", renderChunk: requireLater }],
};

await Promise.all(["wire", "core"].map(bundle));

async function bundle(name) {
  const folder = join(root, "packages", name);
  const { exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const named = Object.values(exports)
    .filter((entry) => entry.default !== undefined)
    .map((entry) => [entry.default.replace(/^[.][/]dist[/]|[.]js$/g, ""), entry["fairlead-source"]]);
  const entries = Object.fromEntries(named);
  const output = join(folder, "dist");
  // The files are built in another folder and moved at the end: a program that starts meanwhile finds old or new files.
  const outdir = mkdtempSync(`${output}-`);
  const groups = { eager: [entries.index], start: (started[name] ?? []).map((file) => join("src", file)) };
  const ownThreads = threads[name] ?? {};
  try {
    await write(
      folder,
      { input: { ...entries, ...ownThreads }, groups, included },
      { ...esm, dir: join(outdir, "esm") },
    );
    const files = await write(
      folder,
      { input: entries, groups, included: [...included, ...cached] },
      { ...commonJs, dir: outdir },
    );
    for (const thread of Object.keys(ownThreads))
      writeFileSync(join(outdir, `${thread}.js`), `import "./esm/${thread}.js";\n`);
    for (const { name: entry, exports: names } of files.filter(({ isEntry }) => isEntry))
      writeFileSync(join(outdir, `${entry}.js`), importedByNode(entry, names));
    writeFileSync(join(outdir, "library.cjs"), loaderOf(files));
    chmodSync(outdir, 0o755);
    moveAway(output, `${outdir}-old`);
    renameSync(outdir, output);
  } finally {
    for (const path of [outdir, `${outdir}-old`]) rmSync(path, { recursive: true, force: true });
  }
}

/** Bundles into a folder and returns the files. */
async function write(folder, { input, groups, included: inside }, output) {
  const graph = importGraph();
  const build = await rolldown({
    cwd: folder,
    input,
    platform: "node",
    // Declared dependencies are not bundled, and neither is the other library, so that its classes exist only once.
    external: (id) => !id.startsWith(".") && !id.startsWith("/") && !/^[A-Za-z]:\\/.test(id) && !inside.includes(id),
    // With the field `main`, a dependency would be CommonJS.
    resolve: { mainFields: ["module", "main"] },
    plugins: [graph.plugin],
    onLog(level, log, handle) {
      // scripts/checks/late-loading.mjs finds these imports and names the ones that are right.
      if (log.code !== "INEFFECTIVE_DYNAMIC_IMPORT") handle(level, log);
    },
  });
  const names = Object.keys(groups);
  const isIn = names.map((name) =>
    reaches(
      graph,
      groups[name].map((file) => join(folder, file)),
    ),
  );
  const { output: files } = await build.write({
    // Comments are removed: the types have them, and one character beyond Latin-1 doubles a file's memory in V8.
    comments: { jsdoc: false },
    minify: { compress: false, mangle: false, codegen: { removeWhitespace: false, asciiOnly: true } },
    codeSplitting: { groups: names.map((name, at) => ({ name, test: isIn[at], priority: names.length - at })) },
    ...output,
  });
  await build.close();
  return files;
}

/** Replaces import(), which code with a cache cannot use: by the loader's, or by require(), which is a millisecond faster. */
function requireLater(code) {
  return code.replace(/\bimport\("([^"]+)"\)/g, (_, id) =>
    /^(?:node:|@fairlead[/])/.test(id) ? `Promise.resolve().then(() => require("${id}"))` : `importModule("${id}")`,
  );
}

/** Returns a module that takes its names from the CommonJS file. */
function importedByNode(entry, names) {
  return `const { createRequire } = process.getBuiltinModule("node:module");
export const { ${names.join(", ")} } = createRequire(import.meta.url)("./library.cjs")("${entry}.cjs");
`;
}

/** Returns the command's loader for these files. A process that imports both libraries loads each only once. */
function loaderOf(files) {
  const build = createHash("sha256")
    .update(files.map(({ code }) => code).join("\0"))
    .digest("hex")
    .slice(0, 16);
  return `${readFileSync(join(root, "packages/cli/bin/load.cjs"), "utf8")}
const siblings = new Map();
module.exports = exports.createLoader(__dirname, "${build}", "library", {
  ownsProcess: false,
  sibling(id) {
    const [, name, entry = "index"] = /^(@fairlead[/][a-z-]+)(?:[/](.+))?$/.exec(id) ?? [];
    if (name === undefined) return undefined;
    if (!siblings.has(name)) siblings.set(name, require(path.join(path.dirname(require.resolve(name)), "library.cjs")));
    return siblings.get(name)(\`\${entry}.cjs\`);
  },
});
`;
}

/** Whether a file is one of these or is imported by them at once. Called after every file is parsed. */
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
