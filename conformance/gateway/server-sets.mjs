/** Runs one set of the official suites for servers, and reads the outcome of every scenario. */

import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runSuite, suites } from "../suite.mjs";

const [alpha, stable] = suites;
/** Time limit for a set. On an idle machine, a set takes seconds. */
const patience = 600_000;

/** The scenarios that the suites require of servers. */
export const sets = [
  { name: "0.1.16", era: "legacy", suite: stable, args: [] },
  { name: "2025-11-25", era: "legacy", suite: alpha, args: ["--requirements", "2025-11-25"] },
  { name: "2026-07-28", era: "modern", suite: alpha, args: ["--requirements", "2026-07-28"] },
];

/**
 * Runs a set against the server at an address.
 * @returns its scenarios by name, each with `ok`, `isScored` and `checks`; and the suite's output
 */
export async function runSet({ suite, args }, url) {
  const results = await mkdtemp(join(tmpdir(), "conformance-"));
  try {
    const { output } = await runSuite(suite, ["server", "--url", url, ...args, "-o", results], patience);
    return { scenarios: await scenariosIn(output, results), output };
  } finally {
    await rm(results, { recursive: true, force: true });
  }
}

/**
 * Reads the summary at the end of the output: a line for each scenario, then a list of scenarios that are not scored.
 */
async function scenariosIn(output, results) {
  const [summary = "", unscored = ""] = (output.split("=== SUMMARY ===")[1] ?? "").split("\nNot scored for ");
  const notScored = new Set([...unscored.matchAll(/^\s+[✓✗] (\S+)/gm)].map(([, name]) => name));
  const folders = await readdir(results);
  const scenarios = {};
  for (const [, mark, name] of summary.matchAll(/^([✓✗]) (\S+):/gm)) {
    const folder = folders.find(
      (each) => each.startsWith(`server-${name}-`) && /^\d/.test(each.slice(name.length + 8)),
    );
    const checks = folder ? JSON.parse(await readFile(join(results, folder, "checks.json"), "utf8")) : [];
    scenarios[name] = { ok: mark === "✓", isScored: !notScored.has(name), checks };
  }
  return scenarios;
}
