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
  {
    name: "skills",
    era: "modern",
    suite: alpha,
    // No revision requires an extension, so its scenarios are named.
    only: ["sep-2640-skills-enumeration", "sep-2640-skills-manifest", "sep-2640-skills-directory"],
  },
];

/**
 * Runs a set against the server at an address.
 * @returns its scenarios by name, each with `ok`, `isScored` and `checks`; and the suite's output
 */
export async function runSet({ suite, args, only }, url) {
  const results = await mkdtemp(join(tmpdir(), "conformance-"));
  try {
    if (only !== undefined) return await runNamed(suite, only, url, results);
    const { output } = await runSuite(suite, ["server", "--url", url, ...args, "-o", results], patience);
    return { scenarios: await scenariosIn(output, results), output };
  } finally {
    await rm(results, { recursive: true, force: true });
  }
}

async function runNamed(suite, names, url, results) {
  const scenarios = {};
  let outputs = "";
  for (const name of names) {
    const args = ["server", "--url", url, "--scenario", name, "-o", results];
    const { status, output } = await runSuite(suite, args, patience);
    outputs += output;
    scenarios[name] = { ok: status === 0, isScored: true, checks: await checksOf(name, results) };
  }
  return { scenarios, output: outputs };
}

async function checksOf(name, results) {
  const folder = (await readdir(results)).find(
    (each) => each.startsWith(`server-${name}-`) && /^\d/.test(each.slice(name.length + 8)),
  );
  return folder ? JSON.parse(await readFile(join(results, folder, "checks.json"), "utf8")) : [];
}

/**
 * Reads the summary at the end of the output: a line for each scenario, then a list of scenarios that are not scored.
 */
async function scenariosIn(output, results) {
  const [summary = "", unscored = ""] = (output.split("=== SUMMARY ===")[1] ?? "").split("\nNot scored for ");
  const notScored = new Set([...unscored.matchAll(/^\s+[✓✗] (\S+)/gm)].map(([, name]) => name));
  const scenarios = {};
  for (const [, mark, name] of summary.matchAll(/^([✓✗]) (\S+):/gm))
    scenarios[name] = { ok: mark === "✓", isScored: !notScored.has(name), checks: await checksOf(name, results) };
  return scenarios;
}
