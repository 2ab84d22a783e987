// What has to be there before anything is measured: our engine bundled, a server compiled, the other clients installed.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const compiled = path("bundle/server");

/** As the command ships it: minified, and split so that a transport is loaded when it is used. */
export async function bundleEngine() {
  const outdir = path("bundle");
  rmSync(outdir, { recursive: true, force: true });
  await build({
    entryPoints: [path("../../packages/wire/src/index.ts")],
    outdir,
    bundle: true,
    splitting: true,
    minify: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    packages: "external",
  });
}

/** The command line of the stdio server: compiled, or for Node where nothing can be compiled. */
export function stdioServer() {
  const { status } = spawnSync("cc", ["-O2", "-o", compiled, path("servers/server.c")], { stdio: "inherit" });
  return status === 0
    ? { language: "C", command: compiled, args: [] }
    : { language: "JavaScript", command: process.execPath, args: [path("servers/stdio.mjs")] };
}

/** In a process of its own, so that its cost is not the client's. */
export async function startHttpServer(sizes, env) {
  const child = spawn(process.execPath, [path("servers/http.mjs"), ...sizes], {
    env,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [address] = await once(child.stdout, "data");
  return { url: String(address).trim(), stop: () => child.stdin.end() };
}

export function installPeers() {
  const folder = path("../peers/");
  if (existsSync(`${folder}node_modules/.package-lock.json`)) return;
  const { status } = spawnSync("npm", ["ci", "--ignore-scripts", "--loglevel=error"], {
    cwd: folder,
    stdio: "inherit",
  });
  if (status !== 0) throw new Error("the other clients could not be installed");
}
