/*
 * How long a call takes whose server already runs in the background host, beside mcporter with keep-alive and beside
 * `--alone`: `npm run bench -- background`. The server takes a second to start.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { peerCommand } from "./peers.mjs";
import { interleave, sampleEnvironment, summarise } from "./samples.mjs";

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const command = path("../packages/cli/bin/fairlead.cjs");
const server = {
  command: process.execPath,
  args: [path("../packages/test-servers/src/programs/catalogs/growing.mjs"), "1000"],
};
/** At most this multiple of mcporter's time, and at most this part of the time with `--alone`. */
const goals = { mcporter: 1.5, alone: 1 / 4 };
const print = (line) => process.stdout.write(`${line}\n`);

export async function bench({ rounds = "20" }) {
  const home = mkdtempSync(join(tmpdir(), "fairlead-bench-background-"));
  const { CI: _, ...env } = sampleEnvironment(home);
  mkdirSync(join(home, ".gemini"));
  const settings = { mcpServers: { growing: server }, fairlead: { background: "on" } };
  writeFileSync(join(home, ".gemini/settings.json"), JSON.stringify(settings));
  const peerSettings = join(home, "mcporter.json");
  writeFileSync(peerSettings, JSON.stringify({ mcpServers: { growing: { ...server, lifecycle: "keep-alive" } } }));
  const mcporter = peerCommand("mcporter", print);
  const fairlead = [process.execPath, command];
  const takes = {
    Fairlead: [...fairlead, "call", "growing.process"],
    alone: [...fairlead, "call", "growing.process", "--alone"],
    ...(mcporter && { mcporter: [mcporter, "--config", peerSettings, "call", "growing.process"] }),
  };
  const samples = (count) =>
    Object.entries(takes).map(([label, argv]) => ({
      label,
      rounds: count,
      take: () => ({ wall: wallOf(argv, home, env) }),
    }));
  try {
    // The first call starts the server and writes the code cache.
    await interleave(samples(2));
    const found = await interleave(samples(Number(rounds)));
    return Object.entries(goals)
      .map(([beside, goal]) => report(found, beside, goal))
      .every((isWithin) => isWithin);
  } finally {
    spawnSync(process.execPath, [command, "daemon", "stop"], { cwd: home, env });
    if (mcporter) spawnSync(mcporter, ["--config", peerSettings, "daemon", "stop"], { cwd: home, env });
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

function wallOf([file, ...args], cwd, env) {
  const begin = performance.now();
  const { status, stderr } = spawnSync(file, args, { cwd, env, timeout: 60_000, encoding: "utf8" });
  if (status !== 0) throw new Error(`${file} exited with ${status}: ${stderr}`);
  return performance.now() - begin;
}

function report(found, beside, goal) {
  const own = summarise(found, "Fairlead", "wall", beside);
  if (own === undefined) {
    print(`${beside} skipped`);
    return true;
  }
  const other = summarise(found, beside, "wall", beside);
  const isWithin = own.ratio <= goal;
  print(
    `second call: ${own.value.toFixed(0)} ms; ${beside}: ${other.value.toFixed(0)} ms; ratio ${own.ratio.toFixed(2)}, goal at most ${goal.toFixed(2)}${isWithin ? "" : ": over the goal"}`,
  );
  return isWithin;
}
