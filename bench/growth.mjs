// Measures how costs grow: with servers, with tools, with the size of a result, and the heap over many calls.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { commandCpu, drive, interleave, median, startHttpServers, stdioServers } from "./samples.mjs";

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const driver = new URL("drivers/fairlead.mjs", import.meta.url).href;
const mostExponent = 1.1;
const mostHeap = 0.1;
const mostToolsByName = 1;

/** Returns the lines of the report: `{ text, isMet }`. */
export async function measureGrowth({ home, env, rounds, print }) {
  const lines = [];
  const add = (line) => {
    lines.push(line);
    print(`${line.text}: ${line.isMet ? "met" : "not met"}`);
  };
  const servers = await byServers(rounds, env);
  add(fitted("CPU of discovery by servers (HTTP, 10 tools each)", servers("discovery")));
  add(byName(servers("toolsByName")));
  const tools = await series([10, 100, 1_000, 10_000], rounds, (count) =>
    drive({ driver, servers: stdioServers(1, count), tools: count }, env),
  );
  add(fitted("CPU of discovery by tools of one server", tools("discovery")));
  const results = await series([1, 10, 40], rounds, (megabytes) => callCommand(megabytes, home, env));
  add(fitted("CPU of `fairlead call --json` by MB of the result", results("cpu")));
  const heap = await series([100_000], 1, (heapCalls) =>
    drive({ driver, servers: stdioServers(1, 10), tools: 10, heapCalls }, env),
  );
  add(heapLine(heap("heap")));
  return lines;
}

/**
 * Starts one process that answers for all servers, because with a thousand processes the machine itself would be
 * measured.
 */
async function byServers(rounds, env) {
  const http = await startHttpServers(10, env);
  try {
    return await series([1, 10, 100, 1_000], rounds, (count) =>
      drive({ driver, servers: http.servers(count), tools: 10 }, env),
    );
  } finally {
    http.stop();
  }
}

/** Returns a function from the name of a figure to its points, `[count, median]`; NaN if all samples of a count failed. */
async function series(counts, rounds, take) {
  const found = await interleave(counts.map((count) => ({ label: String(count), rounds, take: () => take(count) })));
  return (figure) => counts.map((count) => [count, median(found.flatMap((round) => round[count]?.[figure] ?? []))]);
}

/** Fits a power law by least squares and returns its exponent: 1 is linear. */
export function exponent(points) {
  const logs = points.map(([count, cost]) => [Math.log(count), Math.log(cost)]);
  const mean = (at) => logs.reduce((sum, log) => sum + log[at], 0) / logs.length;
  const [x, y] = [mean(0), mean(1)];
  const covariance = logs.reduce((sum, [a, b]) => sum + (a - x) * (b - y), 0);
  return covariance / logs.reduce((sum, [a]) => sum + (a - x) ** 2, 0);
}

function fitted(title, points) {
  const all = exponent(points);
  // A fixed cost flattens the beginning of the curve, so the last step shows the growth.
  const last = exponent(points.slice(-2));
  const costs = points.map(([count, cost]) => `${count}: ${cost.toFixed(0)} ms`).join(", ");
  const text = `${title}: ${costs}; exponent ${all.toFixed(2)}, last step ${last.toFixed(2)} (goal ≤ ${mostExponent})`;
  return { text, isMet: all <= mostExponent && last <= mostExponent };
}

function byName(points) {
  const costs = points.map(([count, cost]) => `${count}: ${cost.toFixed(2)} ms`).join(", ");
  const text = `CPU of host.tools(name) in a host of N servers, mean of the first 50: ${costs} (goal ≤ ${mostToolsByName} ms)`;
  return { text, isMet: points.every(([, cost]) => cost <= mostToolsByName) };
}

function heapLine([[calls, heap]]) {
  return {
    text: `heap kept by one call, over ${calls} calls: ${heap.toFixed(3)} kB (goal ≤ ${mostHeap})`,
    isMet: heap <= mostHeap,
  };
}

function callCommand(megabytes, home, env) {
  const folder = join(home, "results");
  mkdirSync(join(folder, ".gemini"), { recursive: true });
  const [{ command, args }] = stdioServers(1, 10);
  writeFileSync(join(folder, ".gemini/settings.json"), JSON.stringify({ mcpServers: { large: { command, args } } }));
  const words = ["call", "large.tool_0", "query=text", `bytes=${megabytes * 1_000_000}`, "--json", "-C", folder];
  const program = path("../packages/cli/bin/fairlead.cjs");
  return { cpu: commandCpu([process.execPath, program, ...words], { ...env, HOME: folder, PWD: folder }) };
}
