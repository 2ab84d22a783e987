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
  quick: { own: 5, cheapPeers: 5, peers: 1, command: 11, growth: 3 },
  full: { own: 9, cheapPeers: 9, peers: 5, command: 25, growth: 5 },
};

/**
 * Runs the benchmark.
 * @param options `full`: more runs; `rounds`: that many runs, for a quick result; `cell`: one job of the library,
 * `command` or `growth`; `write`: writes the results into `bench/results/`
 */
export async function bench({ full = false, write = false, rounds: given, cell } = {}) {
  const form = forms[full ? "full" : "quick"];
  const rounds = given === undefined ? form : { own: +given, cheapPeers: 1, peers: 1, command: +given, growth: 1 };
  const home = mkdtempSync(join(tmpdir(), "fairlead-bench-"));
  const env = sampleEnvironment(home);
  const begin = performance.now();
  const [load] = loadavg();
  try {
    const peers = installPeers(print);
    const labels = peers.map(({ label }) => label);
    const rows = await measureLibrary({ peers, rounds, env, cell, print });
    if (isAsked("command", cell)) rows.push(...(await measureCommands({ home, env, rounds: rounds.command, print })));
    const save = (growth) => {
      const minutes = (performance.now() - begin) / 60_000;
      if (write) saveResults({ rows, peers: labels, growth, rounds, load, minutes });
      return minutes;
    };
    print(`\n${circumstances({ rounds, load })}\n`);
    print(`${toText(rows, labels)}\n`);
    // If the run is interrupted after this, the table exists already.
    save([]);
    const growth = isAsked("growth", cell) ? await measureGrowth({ home, env, rounds: rounds.growth, print }) : [];
    print(`${save(growth).toFixed(1)} minutes`);
    return rows.every(isMet) && growth.every((line) => line.isMet);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

function saveResults(found) {
  writeFileSync(join(results, "README.md"), toMarkdown(found));
  writeFileSync(join(results, "results.svg"), toSvg(found));
}

function isAsked(name, cell) {
  return cell === undefined || cell === name;
}

function print(line) {
  process.stdout.write(`${line}\n`);
}
