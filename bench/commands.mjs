// Measures the command: CPU with its servers, and the wall time to the app's first frame on a pseudo-terminal.
import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { commandRows } from "./rows.mjs";
import { commandCpu, interleave, stdioServers, summarise } from "./samples.mjs";

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const command = path("../packages/cli/bin/fairlead.cjs");
const node = process.execPath;
/** The first text that the app draws: the mark of the prompt. */
const firstFrame = "›";

export async function measureCommands({ home, env, rounds, print }) {
  const begin = performance.now();
  const listed = stdioServers(5, 10);
  const [none, five] = [0, 5].map((count) => homeWith(join(home, `servers-${count}`), listed.slice(0, count), env));
  const cpu = (argv, { env: own } = none) => ({ cpu: commandCpu(argv, own) });
  const fairlead = (home, ...words) => [node, command, ...words, "-C", home.folder];
  const takes = {
    "node -e 0": async () => ({ ...cpu([node, "-e", "0"]), wall: await untilOutput(["-e", "0"], none) }),
    version: () => cpu([node, command, "--version"]),
    tab: () => cpu([node, command, "__complete", "fish", ""]),
    list0: () => cpu(fairlead(none, "mcp", "list")),
    floor: () => cpu([node, path("drivers/list.mjs"), JSON.stringify(listed)], five),
    // With --strict, a server that does not connect is a failed run instead of a fast one.
    list5: () => cpu(fairlead(five, "mcp", "list", "--strict"), five),
    frame: async () => ({ wall: await untilOutput([command], none, firstFrame) }),
  };
  const samples = (count) => Object.entries(takes).map(([label, take]) => ({ label, take, rounds: count }));
  // The first run of a command writes its code cache.
  await interleave(samples(1));
  const found = await interleave(samples(rounds));
  print(`measured the command in ${((performance.now() - begin) / 1000).toFixed(0)} s`);
  return commandRows.map(({ title, label, beside, figure, unit, goal }) => ({
    title,
    unit,
    goal,
    beside,
    cells: {
      floor: summarise(found, beside, figure, beside),
      Fairlead: summarise(found, label, figure, beside),
    },
  }));
}

function homeWith(folder, servers, env) {
  const entries = servers.map(({ name, command: program, args }) => [name, { command: program, args }]);
  mkdirSync(join(folder, ".gemini"), { recursive: true });
  writeFileSync(join(folder, ".gemini/settings.json"), JSON.stringify({ mcpServers: Object.fromEntries(entries) }));
  return { folder, env: { ...env, HOME: folder, PWD: folder } };
}

/** Milliseconds until a program on a pseudo-terminal has printed a text; without a text, until it has ended. */
function untilOutput(words, { folder, env }, text) {
  const { spawn } = createRequire(path("../packages/cli/package.json"))("@lydell/node-pty");
  return new Promise((resolve, reject) => {
    const before = performance.now();
    const child = spawn(node, words, { cols: 100, rows: 30, cwd: folder, env });
    let output = "";
    let taken;
    child.onData((data) => {
      output += data;
      if (taken !== undefined || text === undefined || !output.includes(text)) return;
      taken = performance.now() - before;
      child.kill("SIGTERM");
    });
    child.onExit(() => {
      if (text === undefined) resolve(performance.now() - before);
      else if (taken === undefined) reject(new Error(`${words.join(" ")} did not print "${text}": ${output}`));
      else resolve(taken);
    });
  });
}
