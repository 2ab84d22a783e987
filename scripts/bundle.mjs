// Bundles the command so that nothing is paid for that is not used:
//   entry.cjs   answers --version and --help by itself
//   light.cjs   the commands people wait for most, in one CommonJS file: ESM's loader alone would cost as much as they do;
//               what they need once there are servers to connect to is in light-servers.cjs: reading it costs as much again
//               what signs in is in sign-in.cjs and google.cjs: for servers that want it
//   tab.cjs     the same for a Tab key, with all that is known of the commands; what it asks of servers' catalogs is in tab-servers.cjs
//   main.js     everything, as ESM, split by use; the thread that validates lies in chunks/, beside the file that starts it
import { chmodSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const cli = join(root, "packages/cli");
const bundle = join(cli, "bundle");
const { version } = JSON.parse(readFileSync(join(cli, "package.json"), "utf8"));
const light = ["mcp list"];
const threads = {
  "chunks/validation-worker": join(root, "packages/core/src/execute/validation/validation-worker.ts"),
  "chunks/result-worker": join(root, "packages/core/src/results/result-worker.ts"),
};

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

/** Ink asks for a debugger that is not installed, and draws nothing where a variable says CI: whoever sits at a terminal wants to see it. */
const leanInk = {
  name: "lean-ink",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(?:react-devtools-core|is-in-ci)$/ }, ({ path }) => ({ path, namespace: "left-out" }));
    onLoad({ filter: /.*/, namespace: "left-out" }, () => ({ contents: "export default false" }));
  },
};

/** Leaves out what the entry never asks a file for: dynamic imports that match, but for those that are kept. */
const without = (pattern, kept = []) => ({
  name: "without",
  setup({ onResolve }) {
    onResolve({ filter: pattern }, ({ kind, path }) =>
      kind === "dynamic-import" && !kept.some((file) => path.endsWith(file))
        ? { path: "./main.js", external: true }
        : undefined,
    );
  },
});

/** A Tab key that asks for no tool does not pay for what reads them. */
const tabServers = {
  name: "tab-servers",
  setup: ({ onResolve }) =>
    onResolve({ filter: /[/]from-servers[.]ts$/ }, () => ({ path: "./tab-servers.cjs", external: true })),
};

/** Without a server to connect to, nobody pays for what connects. */
const lightServers = {
  name: "light-servers",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /[/]list-servers[.]ts$/ }, () => ({ path: "list-servers", namespace: "beside" }));
    onResolve({ filter: /^[.][/]light-servers[.]cjs$/ }, ({ path }) => ({ path, external: true }));
    onLoad({ filter: /.*/, namespace: "beside" }, () => ({
      contents: 'module.exports = require("./light-servers.cjs")',
    }));
  },
};

/** Where nobody has signed in, nobody pays for what signs in; and only Google's servers are in need of Google's library. */
const signIns = {
  name: "sign-ins",
  setup({ onResolve }) {
    const files = {
      "sign-in": /[/](?:oauth-provider|token-storage)[.]ts$/,
      google: /[/](?:google|service-account)[.]ts$/,
    };
    for (const [name, filter] of Object.entries(files))
      onResolve({ filter }, ({ kind }) =>
        kind === "dynamic-import" ? { path: `./${name}.cjs`, external: true } : undefined,
      );
  },
};
const exportsOf = (...files) => ({
  contents: files.map((file) => `export * from "./${file}.ts";`).join(""),
  resolveDir: join(root, "packages/core/src/auth"),
});

/** Both files must throw the same class of error, or what one throws is a stranger to the other. */
const sharedErrors = {
  name: "shared-errors",
  setup({ onResolve }) {
    const errors = join(root, "packages/core/src/errors.ts");
    onResolve({ filter: /[/]errors([.]ts)?$/ }, ({ path, resolveDir }) =>
      path === "@fairlead/core/errors" || join(resolveDir, path) === errors
        ? { path: "./light.cjs", external: true }
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
// A build that fails leaves nothing behind.
process.once("exit", () => rmSync(outdir, { recursive: true, force: true }));
await build({
  ...common,
  entryPoints: { main: join(cli, "src/shell/main.ts"), ...threads },
  outdir,
  splitting: true,
  format: "esm",
  chunkNames: "chunks/[name]-[hash]",
  plugins: [leanCommander, leanInk],
  jsx: "automatic",
  // CommonJS dependencies ask for these at run time; ESM has none of them.
  banner: {
    js:
      'import{createRequire as __cr}from"node:module";import{fileURLToPath as __fp}from"node:url";import{dirname as __dn}from"node:path";' +
      "const require=__cr(import.meta.url),__filename=__fp(import.meta.url),__dirname=__dn(__filename);",
  },
});

const { rootHelp, describeCommands } = await import(pathToFileURL(join(outdir, "main.js")).href);
const compact = { ...common, outdir, outExtension: { ".js": ".cjs" }, format: "cjs" };
/** Files beside are required: to import them would load the loader of ESM too. */
const required = { supported: { "dynamic-import": false } };
const validation = "(?:compile-schema|worker-pool)[.]ts$";
// To list, and to complete, nothing has to be decided.
const policy = "[.]/policy/(?:[a-z]+/)?[a-z-]+[.]ts$";
// And no model is asked.
const turn = "[.]/turn[.]ts$";
await Promise.all([
  build({
    ...compact,
    stdin: {
      contents: 'export { run } from "./main.ts"; export * from "@fairlead/core/errors";',
      resolveDir: join(cli, "src/shell"),
    },
    outfile: join(outdir, "light.cjs"),
    outdir: undefined,
    plugins: [
      leanCommander,
      lightServers,
      without(
        /[/](?:commands|completion)[/]/,
        light.map((words) => `/commands/${words.replace(" ", "/")}.ts`),
      ),
    ],
  }),
  build({
    ...compact,
    entryPoints: { "light-servers": join(cli, "src/targets/list-servers.ts") },
    ...required,
    plugins: [sharedErrors, signIns, without(new RegExp(`${validation}|${policy}|${turn}`))],
  }),
  build({
    ...compact,
    define: { ...common.define, FAIRLEAD_COMMANDS: JSON.stringify(await describeCommands()) },
    ...required,
    entryPoints: { tab: join(cli, "src/shell/main.ts") },
    plugins: [without(/[/]commands[/]|^commander$|[.]\/run-verb[.]ts$/), tabServers],
  }),
  build({
    ...compact,
    entryPoints: { "tab-servers": join(cli, "src/completion/from-servers.ts") },
    ...required,
    // Without this, no Tab key could connect to anything if it wanted to.
    plugins: [signIns, without(new RegExp(`/open-session[.]ts$|${validation}|${policy}|${turn}`))],
  }),
  ...Object.entries({
    "sign-in": exportsOf("oauth/oauth-provider", "store/token-storage"),
    google: exportsOf("google/google", "google/service-account"),
  }).map(([name, stdin]) =>
    build({ ...compact, stdin, outdir: undefined, outfile: join(outdir, `${name}.cjs`), plugins: [sharedErrors] }),
  ),
]);
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
else if (words[0] === "__complete") require("./tab.cjs").run();
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
