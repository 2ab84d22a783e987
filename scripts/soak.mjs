// Proves that the tests do not depend on the weather: N whole runs in a row on a clean clone, while every core is kept busy.
//   npm run test:soak -- --help
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, stripVTControlCharacters } from "node:util";
import { cpuOfChildren } from "./cpu.mjs";
import { memoryFolder } from "./memory-folder.mjs";
import { wholeNumber } from "./usage.mjs";

const help = `usage: npm run test:soak -- [options] [-- options of npm test]

Runs all tests again and again on a clean clone of HEAD, while every core is kept busy. Prints for each run how many tests
passed and failed, and how many unhandled errors, processes and temporary folders it left. Exits with 1 if a run failed or
left something behind.

  --runs N    how many runs (default: 10)
  --shuffle   runs the tests in random order
  -h, --help  shows this text
`;
const { runs, shuffle, positionals } = options();
const root = fileURLToPath(new URL("..", import.meta.url));
const home = openFolder(join(tmpdir(), "soak-"));
// Real paths can contain such letters.
const clone = join(home, "a clone of été");
/**
 * A folder that all processes of the runs have in their environment, command line or working folder, so that leftovers
 * can be found.
 */
const env = { ...process.env, SOAK_RUN: home };
/** Files that Node and the tools keep outside the tests' own folders. */
const ofTools = /^(?:node-compile-cache|v8-compile-cache|vitest|npm-|tsx-)/;
const columns = ["run", "passed", "failed", "unhandled", "processes", "folders", "wall s", "CPU s"];
const spinners = [];
/** Folders with the temporary files of the runs. */
const folders = new Set();

process.on("exit", cleanUp);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => process.exit(1));

must("git", ["clone", "--quiet", "--no-hardlinks", root, clone], { cwd: home });
must("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error"], { cwd: clone });
for (let core = 0; core < availableParallelism(); core += 1)
  // A spinner ends by itself if the soak test is killed.
  spinners.push(
    spawn(
      process.execPath,
      [
        "-e",
        `for (;;) { try { process.kill(${process.pid}, 0) } catch { process.exit() } for (let i = 0; i < 1e8; i++); }`,
      ],
      {
        stdio: "ignore",
      },
    ),
  );

print(columns);
let isClean = true;
for (let run = 1; run <= runs; run += 1) {
  const row = await runOnce(run);
  print(row);
  if (row.slice(2, 6).some((cell) => cell !== 0)) isClean = false;
}
// The process must be ended, because the spinners would keep it alive.
process.exit(isClean ? 0 : 1);

function options() {
  try {
    const { values, positionals: others } = parseArgs({
      allowPositionals: true,
      options: {
        runs: { type: "string", default: "10" },
        shuffle: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    });
    if (!values.help) return { ...values, runs: wholeNumber("--runs", values.runs), positionals: others };
  } catch (error) {
    process.stderr.write(`${error.message}\nnext: npm run test:soak -- --help\n`);
    process.exit(2);
  }
  process.stdout.write(help);
  process.exit(0);
}

async function runOnce(run) {
  const temporary = openFolder(join(memoryFolder() ?? home, "soak-"));
  folders.add(temporary);
  const cpu = cpuOfChildren() ?? 0;
  const begin = performance.now();
  const args = ["test", "--silent", "--", ...(shuffle ? ["--sequence.shuffle"] : []), ...positionals];
  const child = spawn("npm", args, {
    cwd: clone,
    env: { ...env, TMPDIR: temporary },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  await once(child, "close");
  const wall = (performance.now() - begin) / 1000;
  const [, passed = 0, failed = 1] = /^([0-9]+) passed, ([0-9]+) failed\s*$/m.exec(output.slice(-2000)) ?? [];
  const unhandled = Number(/Errors\D+([0-9]+) error/.exec(plain(output))?.[1] ?? 0);
  const processes = processesLeft();
  const left = readdirSync(temporary).filter((name) => !ofTools.test(name));
  if (Number(failed) + unhandled + processes.length + left.length > 0)
    process.stdout.write(`${failures(output)}${[...processes, ...left].map((each) => `left: ${each}\n`).join("")}`);
  rmSync(temporary, { recursive: true, force: true });
  folders.delete(temporary);
  const cpuSeconds = (cpuOfChildren() ?? 0) - cpu;
  return [
    run,
    Number(passed),
    Number(failed),
    unhandled,
    processes.length,
    left.length,
    Math.round(wall),
    Math.round(cpuSeconds),
  ];
}

/** Works only on Linux; elsewhere it finds nothing. */
function processesLeft() {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc")
    .filter((name) => /^[0-9]+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => ["environ", "cmdline"].some((file) => contentOf(`/proc/${pid}/${file}`).includes(home)))
    .map((pid) => `${pid} ${contentOf(`/proc/${pid}/cmdline`).replaceAll("\0", " ")}`);
}

/** Creates a folder whose content other users can run: a test that runs as root starts a program as another user. */
function openFolder(prefix) {
  const folder = mkdtempSync(prefix);
  chmodSync(folder, 0o711);
  return folder;
}

function contentOf(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/** Returns the part of the output that says which tests failed, and why. */
function failures(output) {
  const text = plain(output);
  const from = text.search(/Failed (?:Suites|Tests)|Unhandled Errors/);
  return from === -1 ? text.slice(-4000) : text.slice(from, from + 20_000);
}

function plain(text) {
  return stripVTControlCharacters(text);
}

function print(cells) {
  process.stdout.write(`${cells.map((cell, index) => String(cell).padStart(columns[index].length + 1)).join(" | ")}\n`);
}

function must(command, args, options) {
  const { status } = spawnSync(command, args, { ...options, env, stdio: ["ignore", "ignore", "inherit"] });
  if (status !== 0) throw new Error(`${command} ${args[0]} failed`);
}

function cleanUp() {
  for (const spinner of spinners) spinner.kill("SIGKILL");
  for (const each of processesLeft()) {
    try {
      process.kill(Number.parseInt(each, 10), "SIGKILL");
    } catch {
      // The process may have ended in the meantime.
    }
  }
  for (const folder of [home, ...folders]) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
