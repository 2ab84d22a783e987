/*
 * Builds the single executable: node scripts/package/executable.mjs FOLDER. It is a copy of the Node that runs this script, with
 * the command's bundle, V8's code cache and the keychain's native code inside. The bundle must be built. The folder gets
 * an archive with the executable, its man page, its completion scripts and the licenses, and these files unpacked.
 */
import { execFile, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { buildSync } from "esbuild";
import { outputOf } from "../command-help.mjs";
import { manPage } from "./man-page.mjs";

const cli = fileURLToPath(new URL("../../packages/cli", import.meta.url));
const require = createRequire(join(cli, "package.json"));
const { cacheContent, readCache } = require("./bin/load.cjs");
const run = promisify(execFile);

/** Node looks for this text in itself; postject changes its last character if it has put something in. */
const fuse = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";

/** Commands that are typed most often. What they run is in the code cache; other code is compiled when it is used. */
const usual = [
  ["mcp", "list"],
  ["call", "demo.greet", "name=Ada"],
  ["tools", "--search", "greet"],
  ["doctor"],
  ["policy", "explain", "demo.greet"],
  ["-p", "demo.greet name=Ada", "--model", "manual", "--allow", "demo.greet"],
  ["serve", "--alone"],
];

/** Returns the path of the folder with the files of the archive. */
export async function packExecutable(folder) {
  const { version } = require("./package.json");
  const name = `fairlead-${version}-${process.platform}-${process.arch}`;
  const unpacked = join(folder, name);
  rmSync(unpacked, { recursive: true, force: true });
  mkdirSync(join(unpacked, "completions"), { recursive: true });
  await buildExecutable(join(unpacked, "fairlead"));
  writeFileSync(join(unpacked, "fairlead.1"), await manPage());
  for (const [shell, file] of Object.entries(completionFiles))
    writeFileSync(join(unpacked, "completions", file), await outputOf("completion", shell));
  copyFileSync(join(cli, "LICENSE"), join(unpacked, "LICENSE"));
  copyFileSync(nodeLicense(), join(unpacked, "LICENSE.node"));
  const owner = ["--owner=0", "--group=0", "--numeric-owner"];
  await run("tar", ["-czf", `${name}.tar.gz`, ...owner, name], { cwd: folder });
  return unpacked;
}

/** The names that the shells look for. */
const completionFiles = { bash: "fairlead", zsh: "_fairlead", fish: "fairlead.fish" };

/** Who passes Node on must pass on its license. It is beside the program, or where Debian's package has it. */
function nodeLicense() {
  const prefix = dirname(dirname(realpathSync(process.execPath)));
  const found = ["LICENSE", "share/doc/nodejs/LICENSE", "share/doc/node/LICENSE"].map((path) => join(prefix, path));
  const file = found.find((path) => existsSync(path));
  if (file === undefined) throw new Error(`Node's LICENSE was not found: ${found.join(", ")}`);
  return file;
}

async function buildExecutable(file) {
  if (process.platform !== "linux") throw new Error("the single executable is built on Linux only");
  const staging = mkdtempSync(join(tmpdir(), "executable-"));
  try {
    const main = join(staging, "main.cjs");
    buildSync({ entryPoints: [join(cli, "bin/executable.cjs")], outfile: main, bundle: true, platform: "node" });
    const blob = join(staging, "blob");
    const config = {
      main,
      output: blob,
      disableExperimentalSEAWarning: true,
      assets: {
        ...bundleAssets(),
        answers: writeAnswers(staging),
        cache: await writeCodeCache(staging),
        "keyring.node": keyringFile(),
      },
    };
    writeFileSync(join(staging, "config.json"), JSON.stringify(config));
    await run(process.execPath, ["--experimental-sea-config", join(staging, "config.json")]);
    copyFileSync(process.execPath, file);
    // Without the program `strip`, the executable has Node's debugging symbols: it is larger, and works the same.
    spawnSync("strip", [file]);
    await injectQuietly(file, blob);
    chmodSync(file, 0o755);
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

/** postject prints a warning about each of Node's sections whose name was stripped. */
async function injectQuietly(file, blob) {
  const script = `const { inject } = require("postject");
const [, file, blob, sentinelFuse] = process.argv;
inject(file, "NODE_SEA_BLOB", require("node:fs").readFileSync(blob), { sentinelFuse });`;
  await run(process.execPath, ["-e", script, file, blob, fuse], { cwd: cli });
}

function bundleAssets() {
  const bundle = join(cli, "bundle");
  const page = readdirSync(join(bundle, "console")).map((name) => `console/${name}`);
  const names = readdirSync(bundle).filter((name) => /[.]c?js$/.test(name) && name !== "answers.cjs");
  return Object.fromEntries([...names, ...page].map((name) => [name, join(bundle, name)]));
}

function writeAnswers(folder) {
  const file = join(folder, "answers.json");
  writeFileSync(file, JSON.stringify(require("./bundle/answers.cjs")));
  return file;
}

/** Runs the usual commands in an empty home with a copy of the bundle, and merges the caches that they write. */
async function writeCodeCache(folder) {
  const copy = join(folder, "cli");
  mkdirSync(join(folder, "home"));
  for (const name of ["bin", "bundle"])
    cpSync(join(cli, name), join(copy, name), { recursive: true, filter: (path) => !path.endsWith("/cache") });
  const env = { PATH: process.env.PATH, HOME: join(folder, "home"), NO_COLOR: "1" };
  for (const words of usual) {
    const child = run(process.execPath, [join(copy, "bin/fairlead.cjs"), ...words], { cwd: folder, env });
    child.child.stdin.end();
    await child;
  }
  const caches = new Map();
  for (const name of readdirSync(join(copy, "bundle/cache")))
    for (const [file, data] of readCache(() => readFileSync(join(copy, "bundle/cache", name))))
      if (data.length > (caches.get(file)?.length ?? 0)) caches.set(file, data);
  const file = join(folder, "cache");
  writeFileSync(file, cacheContent(caches));
  return file;
}

/** The keychain's native code for this platform. npm installs it with the command. */
function keyringFile() {
  const libc = process.report.getReport().header.glibcVersionRuntime === undefined ? "musl" : "gnu";
  const name = `linux-${process.arch}-${libc}`;
  return createRequire(require.resolve("@napi-rs/keyring")).resolve(`@napi-rs/keyring-${name}/keyring.${name}.node`);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href)
  await packExecutable(resolve(process.argv[2] ?? "release"));
