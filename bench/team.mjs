// The bars of the team gateway, with a real PostgreSQL and four replicas that share only it and the key file. The lab is
// that of the tests (packages/team/test/lab); here the bars run whole. `--cell kill` runs one group of them.
import { mkdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { simulate } from "./team/simulate.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = join(root, "node_modules/.cache/fairlead-bench");

/**
 * Runs the benchmark.
 * @param cell the groups of bars, separated by commas. Default: all
 * @param calls how many calls the memory is watched for. Default: 100,000
 */
export async function bench({ cell, calls } = {}) {
  mkdirSync(folder, { recursive: true });
  // Certificates of this machine cost every process of the lab more than its start.
  delete process.env.NODE_EXTRA_CA_CERTS;
  const names = ["lab/run", "programs/replica", "programs/refresher"];
  const [lab, replica, refresher] = await Promise.all(names.map(bundle));
  const { run } = await import(pathToFileURL(lab).href);
  const print = (line) => process.stdout.write(`${line}\n`);
  return run({ cell, print, calls: calls && Number(calls), programs: { replica, refresher }, simulate });
}

/** Bundles a program of the tests, which are in TypeScript. Returns its file. */
async function bundle(name) {
  const outfile = join(folder, `${basename(name)}.mjs`);
  await build({
    entryPoints: [join(root, "packages/team/test", `${name}.ts`)],
    outfile,
    bundle: true,
    platform: "node",
    target: "node20.19",
    format: "esm",
    conditions: ["fairlead-source"],
    logLevel: "error",
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
    plugins: [{ name: "sources", setup: takeSources }],
  });
  return outfile;
}

/** Packages of npm stay where they are, and our files find what is beside them. */
function takeSources({ onResolve, onLoad }) {
  onResolve({ filter: /^[^./]/ }, ({ path }) => (path.startsWith("@fairlead/") ? undefined : { path, external: true }));
  onLoad({ filter: /packages\/.*\.ts$/ }, ({ path }) => ({
    contents: readFileSync(path, "utf8").replaceAll("import.meta.url", JSON.stringify(pathToFileURL(path).href)),
    loader: "ts",
  }));
}
