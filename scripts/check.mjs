// Runs the static checks in parallel. Prints how long each took, and the output of the checks that fail.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { delimiter, resolve } from "node:path";

const checks = {
  types: ["tsc", "-b"],
  format: ["biome", "check", "--error-on-warnings", "."],
  lint: ["oxlint", "--deny-warnings"],
  imports: ["node", "scripts/checks/imports.mjs"],
  doors: ["node", "scripts/checks/doors.mjs"],
  "late loading": ["node", "scripts/checks/late-loading.mjs"],
  "server containers": ["node", "scripts/checks/server-containers.mjs"],
  names: ["node", "scripts/checks/names.mjs"],
  "safe text": ["node", "scripts/checks/safe-text.mjs"],
  "doc paths": ["node", "scripts/checks/doc-paths.mjs"],
  "page size": ["node", "scripts/checks/page-size.mjs"],
  dead: ["knip", "--cache"],
};
const env = { ...process.env, PATH: `${resolve("node_modules/.bin")}${delimiter}${process.env.PATH}` };

async function run([name, [command, ...args]]) {
  const begin = performance.now();
  const child = spawn(command, args, { env, shell: process.platform === "win32" });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  const [code] = await once(child, "close");
  process.stdout.write(`${code === 0 ? "ok  " : "FAIL"} ${name} ${since(begin)}\n${code === 0 ? "" : output}`);
  return code === 0;
}

const since = (begin) => `${((performance.now() - begin) / 1000).toFixed(1)} s`;
const begin = performance.now();
/** This check reads the compiler's output, so it runs after the compiler. */
const afterTypes = { api: ["node", "scripts/api-docs.mjs"] };

const all = (commands) => Promise.all(Object.entries(commands).map(run));
const { types, ...others } = checks;
const [compiled, passed] = await Promise.all([all({ types }), all(others)]);
passed.push(...compiled, ...(await all(afterTypes)));
if (!passed.every(Boolean)) process.exitCode = 1;
process.stdout.write(`took ${since(begin)}\n`);
