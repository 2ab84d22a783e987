// What a large result costs: `fairlead call --json` of 40 MB in multiples of that of 1 MB. The server is part of both.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { interleaved } from "./cpu.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const command = join(here, "../packages/cli/bin/fairlead.cjs");
const program = join(here, "../packages/test-servers/src/programs/large-result.mjs");
const sizes = [1_000_000, 40_000_000];
const rounds = 5;
const most = 50;

export function bench() {
  const home = mkdtempSync(join(tmpdir(), "fairlead-bench-"));
  mkdirSync(join(home, ".gemini"));
  const entry = { command: process.execPath, args: [program] };
  writeFileSync(join(home, ".gemini/settings.json"), JSON.stringify({ mcpServers: { large: entry } }));
  // An extra certificate file costs every Node process more than the commands do.
  const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env;
  const env = { ...inherited, HOME: home, PWD: home, NO_COLOR: "1" };
  const labelOf = (size) => `fairlead call --json (${size / 1_000_000} MB)`;
  const commands = sizes.map((size) => ({
    label: labelOf(size),
    argv: [process.execPath, command, "call", "large.write", `size=${size}`, "--json", "-C", home],
  }));
  try {
    const medians = interleaved(commands, { rounds, env });
    const [small, large] = sizes.map(labelOf);
    const ratio = medians.get(large) / medians.get(small);
    const line = (label, words) => `${label.padEnd(32)} ${medians.get(label).toFixed(1).padStart(7)} ms  ${words}\n`;
    process.stdout.write(`CPU with that of the server, medians of ${rounds} interleaved runs\n`);
    process.stdout.write(line(small, "1.00 x"));
    process.stdout.write(line(large, `${ratio.toFixed(2)} x  (at most ${most})  ${ratio <= most ? "ok" : "TOO SLOW"}`));
    return ratio <= most;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}
