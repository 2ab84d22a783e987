// Bundles the command so that nothing is paid for that is not used:
//   entry.cjs   answers --version and --help by itself
//   light.cjs   the commands people wait for most, in one CommonJS file: ESM's loader alone would cost as much as they do
//   main.js     everything, as ESM, split by use
import { chmodSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const cli = join(root, "packages/cli");
const bundle = join(cli, "bundle");
const { version } = JSON.parse(readFileSync(join(cli, "package.json"), "utf8"));
const light = ["mcp list"];

/** Commander loads child_process for a feature we do not use; that alone is a tenth of a start. */
const leanCommander = {
  name: "lean-commander",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:child_process$/ }, ({ importer }) =>
      importer.includes("commander") ? { path: "nothing", namespace: "nothing" } : undefined,
    );
    onLoad({ filter: /.*/, namespace: "nothing" }, () => ({ contents: "module.exports = {}" }));
  },
};

/** Leaves the other commands out; the entry never asks this file for them. */
const onlyLight = {
  name: "only-light",
  setup({ onResolve }) {
    const kept = light.map((words) => `/commands/${words.replace(" ", "/")}.ts`);
    onResolve({ filter: /\/commands\// }, ({ kind, path }) =>
      kind === "dynamic-import" && !kept.some((file) => path.endsWith(file))
        ? { path: "./main.js", external: true }
        : undefined,
    );
  },
};

const common = {
  absWorkingDir: root,
  bundle: true,
  platform: "node",
  target: "node20.19",
  conditions: ["fairlead-source"],
  mainFields: ["module", "main"],
  define: { "process.env.NODE_ENV": '"production"', FAIRLEAD_VERSION: JSON.stringify(version) },
  external: ["@napi-rs/keyring"],
  minify: true,
  // Without it, an uncaught error prints a whole chunk.
  lineLimit: 200,
  legalComments: "linked",
};

// Built aside and put in place at the end: a command that runs meanwhile finds the old files or the new ones.
const outdir = mkdtempSync(`${bundle}-`);
await Promise.all([
  build({
    ...common,
    entryPoints: { main: join(cli, "src/main.ts") },
    outdir,
    splitting: true,
    format: "esm",
    chunkNames: "chunks/[name]-[hash]",
    plugins: [leanCommander],
    // CommonJS dependencies ask for these at run time; ESM has none of them.
    banner: {
      js:
        'import{createRequire as __cr}from"node:module";import{fileURLToPath as __fp}from"node:url";import{dirname as __dn}from"node:path";' +
        "const require=__cr(import.meta.url),__filename=__fp(import.meta.url),__dirname=__dn(__filename);",
    },
  }),
  build({
    ...common,
    entryPoints: { light: join(cli, "src/main.ts") },
    outdir,
    outExtension: { ".js": ".cjs" },
    format: "cjs",
    plugins: [leanCommander, onlyLight],
  }),
]);

const { rootHelp } = await import(pathToFileURL(join(outdir, "main.js")).href);
const [help, versionLine] = [JSON.stringify(rootHelp()), JSON.stringify(`${version}\n`)];
writeFileSync(
  join(outdir, "entry.cjs"),
  `"use strict";
const words = process.argv.slice(2);
const answer = words.length === 1 ? { "--version": ${versionLine}, "-V": ${versionLine}, "--help": ${help}, "-h": ${help} }[words[0]] : undefined;
if (answer !== undefined)
  process.stdout.on("error", ({ code, message }) => {
    if (code === "EPIPE") process.exit(0);
    process.stderr.write("fairlead: cannot write to stdout: " + message + "\\n");
    process.exit(1);
  }).write(answer);
else if (${JSON.stringify(light)}.includes(words.slice(0, 2).join(" "))) require("./light.cjs").run();
else import("./main.js").then(({ run }) => run());
`,
);

// A temporary folder is its maker's alone; the command is for everyone.
chmodSync(outdir, 0o755);
const old = `${outdir}-old`;
try {
  renameSync(bundle, old);
} catch (error) {
  if (error.code !== "ENOENT") throw error;
}
renameSync(outdir, bundle);
rmSync(old, { recursive: true, force: true });
