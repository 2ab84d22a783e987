// What listing five fast servers costs, in multiples of a script written by hand that does no more than that. The servers are part of both.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { interleaved } from "./cpu.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const command = join(here, "../packages/cli/bin/fairlead.cjs");
const names = ["one", "two", "three", "four", "five"];
const rounds = 20;
const most = 1.8;

export function bench() {
  const home = mkdtempSync(join(tmpdir(), "fairlead-bench-"));
  const entry = { command: process.execPath, args: [join(here, "list/server.cjs")] };
  mkdirSync(join(home, ".gemini"));
  writeFileSync(
    join(home, ".gemini/settings.json"),
    JSON.stringify({ mcpServers: Object.fromEntries(names.map((name) => [name, entry])) }),
  );
  // An extra certificate file costs every Node process more than the commands do.
  const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env;
  const env = { ...inherited, HOME: home, PWD: home, NO_COLOR: "1" };
  const floor = "by hand";
  const listed = "fairlead mcp list (5 servers)";
  const commands = [
    { label: floor, argv: [process.execPath, join(here, "list/floor.cjs"), ...names] },
    // With --strict a server that fails is a failed run, not a fast one.
    { label: listed, argv: [process.execPath, command, "mcp", "list", "--strict", "-C", home] },
  ];
  try {
    const medians = interleaved(commands, { rounds, env });
    const ratio = medians.get(listed) / medians.get(floor);
    const line = (label, words) => `${label.padEnd(32)} ${medians.get(label).toFixed(1).padStart(7)} ms  ${words}\n`;
    const verdict = ratio <= most ? "ok" : "TOO SLOW";
    process.stdout.write(`CPU with that of the servers, medians of ${rounds} interleaved runs\n`);
    process.stdout.write(line(floor, "1.00 x"));
    process.stdout.write(line(listed, `${ratio.toFixed(2)} x  (at most ${most})  ${verdict}`));
    return ratio <= most;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}
