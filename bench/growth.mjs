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

/** Returns lines for the report: `{ text, isMet }`. */
export async function measureGrowth({ home, env, rounds, print }) {
  print("measuring growth …");
  const http = await startHttpServers(10, env);
  const lines = [];
  try {
    const servers = await series([1, 10, 100, 1_000], rounds, (count) =>
      drive({ driver, servers: http.servers(count), tools: 10 }, env),
    );
    lines.push(fitted("CPU of discovery by servers (HTTP, 10 tools each)", "ms", servers, "discovery"));
    lines.push(byName(servers));
  } finally {
    http.stop();
  }
  const tools = await series([10, 100, 1_000, 10_000], rounds, (count) =>
    drive({ driver, servers: stdioServers(1, count), tools: count }, env),
  );
  lines.push(fitted("CPU of discovery by tools of one server", "ms", tools, "discovery"));
  const results = await series([1, 10, 40], Math.min(rounds, 5), (megabytes) => callCommand(megabytes, home, env));
  lines.push(fitted("CPU of `fairlead call --json` by MB of the result", "ms", results, "cpu"));
  const calls = 100_000;
  const { heap } = drive({ driver, servers: stdioServers(1, 10), tools: 10, heapCalls: calls }, env);
  const text = `heap kept by one call, over ${calls} calls: ${heap.toFixed(3)} kB (goal ≤ ${mostHeap})`;
  lines.push({ text, isMet: heap <= mostHeap });
  return lines;
}

async function series(counts, rounds, take) {
  const found = await interleave(counts.map((count) => ({ label: String(count), rounds, take: () => take(count) })));
  return (figure) => counts.map((count) => [count, median(found.map((round) => round[count][figure]))]);
}

/** The exponent of a power law by least squares: 1 is linear. */
export function exponent(points) {
  const logs = points.map(([count, cost]) => [Math.log(count), Math.log(cost)]);
  const mean = (at) => logs.reduce((sum, log) => sum + log[at], 0) / logs.length;
  const [x, y] = [mean(0), mean(1)];
  const covariance = logs.reduce((sum, [a, b]) => sum + (a - x) * (b - y), 0);
  return covariance / logs.reduce((sum, [a]) => sum + (a - x) ** 2, 0);
}

function fitted(title, unit, measured, figure) {
  const points = measured(figure);
  const all = exponent(points);
  // A fixed cost flattens the beginning of the curve: the last step shows how it goes on.
  const last = exponent(points.slice(-2));
  const costs = points.map(([count, cost]) => `${count}: ${cost.toFixed(0)} ${unit}`).join(", ");
  const text = `${title}: ${costs}; exponent ${all.toFixed(2)}, last step ${last.toFixed(2)} (goal ≤ ${mostExponent})`;
  return { text, isMet: all <= mostExponent && last <= mostExponent };
}

function byName(measured) {
  const points = measured("toolsByName");
  const costs = points.map(([count, cost]) => `${count}: ${cost.toFixed(3)} ms`).join(", ");
  const text = `host.tools(name) in a host of N servers, each of the first 50: ${costs} (goal ≤ ${mostToolsByName} ms)`;
  return { text, isMet: points.every(([, cost]) => cost <= mostToolsByName) };
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
