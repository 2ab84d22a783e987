// What starting the command costs, in multiples of a bare Node process.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { interleaved } from "./cpu.mjs";

const command = join(dirname(fileURLToPath(import.meta.url)), "../packages/cli/bin/fairlead.cjs");
const rounds = 20;
const targets = [
  { label: "node -e 0", words: undefined, most: 1 },
  { label: "fairlead --version", words: ["--version"], most: 1.5 },
  { label: "fairlead --help", words: ["--help"], most: 1.5 },
  { label: "fairlead mcp list (no servers)", words: ["mcp", "list"], most: 2.5 },
  { label: "a Tab key (commands)", words: ["__complete", "fish", ""], most: 2 },
];

export function bench() {
  const home = mkdtempSync(join(tmpdir(), "fairlead-bench-"));
  // An extra certificate file costs every Node process more than the commands do.
  const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env;
  const env = { ...inherited, HOME: home, PWD: home, NO_COLOR: "1" };
  const commands = targets.map(({ label, words }) => ({
    label,
    argv:
      words === undefined
        ? [process.execPath, "-e", "0"]
        : [process.execPath, command, ...words, ...(words[0] === "mcp" ? ["-C", home] : [])],
  }));
  try {
    const medians = interleaved(commands, { rounds, env });
    const bare = medians.get("node -e 0");
    process.stdout.write(`CPU, medians of ${rounds} interleaved runs\n`);
    return targets
      .map(({ label, most }) => {
        const ratio = medians.get(label) / bare;
        const verdict = ratio <= most ? "ok" : "TOO SLOW";
        process.stdout.write(
          `${label.padEnd(32)} ${medians.get(label).toFixed(1).padStart(7)} ms  ${ratio.toFixed(2)} x  (at most ${most})  ${verdict}\n`,
        );
        return ratio <= most;
      })
      .every(Boolean);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}
