// Bundles the command as CommonJS files that bin/load.cjs loads with V8's code cache:
//   answers.cjs  the texts of --version and --help, and the names of the commands
//   start.cjs    the code that every command loads: options, settings, trust
//   host.cjs     the code that connects to servers; loaded if there is a server to connect to
//   app.cjs      the code that the app needs for its first frame
//   relay.cjs    the code of `fairlead serve`: a relay to the background host
//   other files  code that only some commands load
//   validation-worker.js, result-worker.js  the code of two threads
//   console/     the page of the console
import { createHash } from "node:crypto";
import { chmodSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { writePage } from "./console-page.mjs";
import { leanDependencies } from "./lean-dependencies.mjs";
import { commandParts, importGraph } from "./reachable.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const cli = join(root, "packages/cli");
const bundle = join(cli, "bundle");
const { version } = JSON.parse(readFileSync(join(cli, "package.json"), "utf8"));
/** Files that the app shares with commands stay separate, because otherwise these commands would load the whole app. */
const onlyApp = /^\0|[/\\](?:tui|node_modules)[/\\]/;

async function write(input, { dir, define = {}, ...output }) {
  const graph = importGraph();
  const build = await rolldown({
    cwd: root,
    input,
    platform: "node",
    // The command exports spans itself. pg asks for the last two only when a program chooses them; the command does not.
    external: ["@napi-rs/keyring", "@opentelemetry/api", "pg-native", "pg-cloudflare"],
    // Rolldown prints a warning unless it may add exports to the entry.
    preserveEntrySignatures: "allow-extension",
    resolve: { conditionNames: ["fairlead-source"], mainFields: ["module", "main"] },
    transform: {
      target: "node20.19",
      jsx: { runtime: "automatic" },
      define: { "process.env.NODE_ENV": '"production"', FAIRLEAD_VERSION: JSON.stringify(version), ...define },
    },
    plugins: [leanDependencies, graph.plugin],
    onLog(level, log, handle) {
      // scripts/checks/late-loading.mjs finds these imports and names the ones that are right.
      if (log.code !== "INEFFECTIVE_DYNAMIC_IMPORT") handle(level, log);
    },
  });
  const sets = new Map();
  const isIn = (name, id) => {
    if (!sets.has(name)) sets.set(name, graph.reachable(...commandParts[name].map((file) => join(cli, "src", file))));
    return sets.get(name).has(id) && (name !== "app" || onlyApp.test(id));
  };
  const names = Object.keys(commandParts);
  const { output: files } = await build.write({
    dir,
    // Line breaks are kept, because an uncaught error prints a line of the source.
    minify: { compress: true, mangle: true, codegen: { removeWhitespace: false, asciiOnly: true } },
    comments: { legal: true, annotation: false, jsdoc: false },
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: names.map((name, at) => ({ name, test: (id) => isIn(name, id), priority: names.length - at })),
    },
    ...output,
  });
  await build.close();
  return files;
}

/*
 * The files are built in another folder and moved at the end, so that a command that runs meanwhile finds the old files
 * or the new ones, never a mix.
 */
const outdir = mkdtempSync(`${bundle}-`);
// If the build fails, its folder is removed.
process.once("exit", () => rmSync(outdir, { recursive: true, force: true }));

const commonJs = {
  format: "cjs",
  dynamicImportInCjs: false,
  entryFileNames: "[name].cjs",
  chunkFileNames: "[name]-[hash].cjs",
};
const main = { main: join(cli, "src/shell/main.ts") };
const describing = join(outdir, "describing");
await write(main, { dir: describing, ...commonJs });
const { rootHelp, describeCommands } = createRequire(import.meta.url)(join(describing, "main.cjs"));
const described = await describeCommands();
const define = { FAIRLEAD_COMMANDS: JSON.stringify(described) };
rmSync(describing, { recursive: true });
const files = [
  ...(await write(main, { dir: outdir, define, ...commonJs })),
  ...(await write(
    { relay: join(cli, "src/gateway/relay-entry.ts") },
    { dir: outdir, ...commonJs, codeSplitting: true },
  )),
];
for (const thread of ["execute/validation/validation-worker", "results/result-worker"])
  await write(
    { [basename(thread)]: join(root, `packages/core/src/${thread}.ts`) },
    { dir: outdir, format: "esm", codeSplitting: false },
  );
const page = await writePage(join(outdir, "console"));
const build = createHash("sha256")
  .update([...files.map(({ code }) => code), ...page.keys(), page.get("index.html.gz")].join("\0"))
  .digest("hex")
  .slice(0, 16);
const answers = {
  build,
  version: `${version}\n`,
  help: rootHelp(),
  commands: ["__complete", "__host", ...Object.keys(described)],
};
// A relay reads this file to find the host of the installed version.
writeFileSync(join(outdir, "installation"), `${version} ${build}\n`);
writeFileSync(join(outdir, "answers.cjs"), `module.exports = ${JSON.stringify(answers)};\n`);

// Only its owner can read a temporary folder, but every user must be able to run the command.
chmodSync(outdir, 0o755);
const old = `${outdir}-old`;
try {
  renameSync(bundle, old);
} catch (error) {
  if (error.code !== "ENOENT") throw error;
}
renameSync(outdir, bundle);
rmSync(old, { recursive: true, force: true });
