// Runs the tests. `--long` runs all repetitions, `--changed` only tests of changed files. Other options go to vitest.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { cpuOfChildren } from "./cpu.mjs";
import { endLeftProcesses } from "./left-processes.mjs";
import { memoryFolder } from "./memory-folder.mjs";

/** Budget of a whole run on two idle cores, in seconds. A run that exceeds it does not fail. */
const budget = { wall: 240, cpu: 300 };

const args = process.argv.slice(2);
const long = args.includes("--long");
const handed = args.filter((arg) => arg !== "--long");
const manifest = createRequire(import.meta.url).resolve("vitest/package.json");
// PATH is extended as npx does it, so that the tests find the same programs however they are started.
const programs = fileURLToPath(new URL("../node_modules/.bin", import.meta.url));
const PATH = [programs, process.env.PATH].join(delimiter);
// The folder holds the tests' temporary files only if it is in memory; otherwise the tests use the system's folder.
const inMemory = memoryFolder();
const folder = mkdtempSync(join(inMemory ?? tmpdir(), "test-"));
// A test that runs as root starts a program of its folder as another user.
chmodSync(folder, 0o711);
const counts = join(folder, "counts");
const notes = join(folder, "notes");
// Node reads these certificates at every start, which takes longer than the start itself. No test needs them.
const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env;
const env = {
  ...inherited,
  PATH,
  TEST_COUNTS_FILE: counts,
  FAIRLEAD_TEST_NOTES: notes,
  ...(inMemory === undefined ? {} : { TMPDIR: folder }),
  ...(long ? { FAIRLEAD_LONG: "1" } : {}),
};

const begin = performance.now();
const vitest = [join(dirname(manifest), "vitest.mjs"), "run", ...handed];
const child = spawn(process.execPath, vitest, { stdio: "inherit", env });
// A terminal sends Ctrl-C to vitest too, so only the other signals are passed on. This process stays to remove the folder.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
const [status] = await once(child, "exit");
process.stdout.write(programLines());
const left = await endLeftProcesses(folder);
for (const line of left) process.stdout.write(`left behind by a test, ended now: process ${line}\n`);
process.stdout.write(`${timeLine((performance.now() - begin) / 1000, cpuOfChildren())}\n${countLine()}\n`);
rmSync(folder, { recursive: true, force: true });
process.exitCode = left.length > 0 ? 1 : (status ?? 1);

function timeLine(wall, cpu) {
  const times = [`${wall.toFixed(0)} s`, ...(cpu === undefined ? [] : [`${cpu.toFixed(0)} s of CPU`])];
  const isWhole = handed.every((arg) => arg.startsWith("--sequence") || arg.startsWith("--reporter"));
  if (long || !isWhole) return `took ${times.join(", ")}`;
  const isWithin = wall <= budget.wall && (cpu ?? 0) <= budget.cpu;
  const limits = `${budget.wall} s, ${budget.cpu} s of CPU on two idle cores`;
  return `took ${times.join(", ")}: ${isWithin ? "within" : "over"} the budget of ${limits}`;
}

/** Returns the counts of the run. A run that ended before it could count its tests has failed. */
function countLine() {
  try {
    return readFileSync(counts, "utf8");
  } catch {
    return "0 passed, 1 failed";
  }
}

/** Says what ran with the programs that not every machine has, and what did not run because one is absent. */
function programLines() {
  const noted = existsSync(notes)
    ? readFileSync(notes, "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line))
    : [];
  return ["Chromium", "PostgreSQL", "bubblewrap", "haproxy", "kustomize"]
    .map((program) => {
      const own = noted.filter((note) => note.program === program);
      const subjects = (notes) => [...new Set(notes.map(({ subject }) => subject))].join("; ");
      const tested = own.filter(({ version }) => version !== undefined);
      const absent = own.filter(({ version }) => version === undefined);
      if (absent.length > 0) return `${program} is absent, not tested: ${subjects(absent)}\n`;
      return tested.length > 0
        ? `with ${program} ${tested[0].version}: ${subjects(tested)}\n`
        : `no test used ${program}\n`;
    })
    .join("");
}
