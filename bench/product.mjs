// The benchmark of the product: the library, the command, and how their costs grow.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { measureCommands } from "./commands.mjs";
import { measureGrowth } from "./growth.mjs";
import { measureLibrary } from "./library.mjs";
import { installPeers } from "./peers.mjs";
import { circumstances, isMet, toMarkdown, toSvg, toText } from "./report.mjs";
import { sampleEnvironment } from "./samples.mjs";

const results = fileURLToPath(new URL("results/", import.meta.url));
/** How often each sample is taken. Samples of the command are short and noisy, so there are more of them. */
const forms = {
  quick: { own: 5, peers: 1, command: 11, growth: 3 },
  full: { own: 9, peers: 5, command: 25, growth: 5 },
};

/**
 * @param options `full`: more runs; `rounds`: that many runs, for a first look; `cell`: one job of the library, `command` or `growth`;
 *   `write`: writes the results into `bench/results/`
 */
export async function bench({ full = false, write = false, rounds: given, cell } = {}) {
  const form = forms[full ? "full" : "quick"];
  const rounds = given === undefined ? form : { own: +given, peers: 1, command: +given, growth: 1 };
  const home = mkdtempSync(join(tmpdir(), "fairlead-bench-"));
  const env = sampleEnvironment(home);
  const begin = performance.now();
  try {
    const peers = installPeers(print);
    const labels = peers.map(({ label }) => label);
    const rows = await measureLibrary({ peers, rounds, env, cell, print });
    if (isAsked("command", cell)) rows.push(...(await measureCommands({ home, env, rounds: rounds.command, print })));
    print(`\n${circumstances({ rounds })}; load average ${loadavg()[0].toFixed(1)}\n`);
    print(`${toText(rows, labels)}\n`);
    const growth = isAsked("growth", cell) ? await measureGrowth({ home, env, rounds: rounds.growth, print }) : [];
    print(growth.map(({ text, isMet: met }) => `${text}: ${met ? "met" : "not met"}`).join("\n"));
    print(`${((performance.now() - begin) / 60_000).toFixed(1)} minutes`);
    if (write) {
      writeFileSync(join(results, "README.md"), toMarkdown({ rows, peers: labels, growth, rounds }));
      writeFileSync(join(results, "results.svg"), toSvg({ rows, peers: labels }));
    }
    return rows.every(isMet) && growth.every((line) => line.isMet);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

function isAsked(name, cell) {
  return cell === undefined || cell === name;
}

function print(line) {
  process.stdout.write(`${line}\n`);
}
