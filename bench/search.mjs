// How well tool search finds the right tools, what it costs, and how long it blocks the event loop with 10 000 tools:
// `npm run bench -- search --data FOLDER`.
// FOLDER has catalogs (tools.json, metatool-tools.json: a list of tools, each with its server) and queries with the
// tools that answer them (dev.json, metatool-dev.json).
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ToolIndex } from "../packages/core/build/search/tool-index.js";
import { findTools } from "../packages/core/build/search/tool-search.js";

const sets = [
  { catalog: "tools.json", queries: "dev.json" },
  { catalog: "metatool-tools.json", queries: "metatool-dev.json" },
];
const cuts = [1, 5, 10];

export async function bench({ data }) {
  if (data === undefined) {
    process.stderr.write("search needs its data: npm run bench -- search --data FOLDER\n");
    return false;
  }
  for (const { catalog, queries } of sets) {
    if (!existsSync(join(data, catalog))) continue;
    const index = await measured(`index of ${catalog}`, () => indexOf(read(data, catalog)));
    const asked = read(data, queries);
    for (const kind of new Set(asked.queries.map((query) => query.kind))) await report(kind, asked, index);
  }
  const tools = read(data, sets[0].catalog);
  await measureIndex(manyOf(tools));
  reportStretches(manyOf(tools));
  return true;
}

const many = 10_000;
const manyServers = 10;
const phases = ["start", "first search", "query", "toolOffers", "first turn", "later turn", "reconnect"];

/** 10 000 tools of 10 servers: the given tools again and again, with other names and some other words. */
function manyOf(tools) {
  return Array.from({ length: many }, (_none, at) => {
    const { name, description, inputSchema } = tools[at % tools.length];
    const copy = Math.floor(at / tools.length);
    return {
      server: `server-${at % manyServers}`,
      name: copy === 0 ? name : `${name}_${copy}`,
      description: copy === 0 ? description : `${description} Variant ${copy}, word${copy}x${at % 97}.`,
      inputSchema: { ...inputSchema, type: "object" },
    };
  });
}

async function measureIndex(tools) {
  const index = await measured(`index of ${tools.length} tools`, () => indexOf(tools));
  const queries = ["create a new customer record", "delete the file at a path", "weather forecast for a city"];
  const rounds = 20;
  const begin = process.cpuUsage();
  for (let round = 0; round < rounds; round += 1) for (const query of queries) index.rank(query, 10);
  const { user, system } = process.cpuUsage(begin);
  process.stdout.write(`  query: ${((user + system) / 1000 / rounds / queries.length).toFixed(1)} ms CPU\n`);
}

/** The longest time that the event loop is blocked, for each use of the tools in a process of its own. */
function reportStretches(tools) {
  const folder = mkdtempSync(join(tmpdir(), "fairlead-bench-"));
  const program = fileURLToPath(new URL("search/stretches.mjs", import.meta.url));
  try {
    const files = Array.from({ length: manyServers }, (_none, at) => {
      const file = join(folder, `${at}.json`);
      writeFileSync(file, JSON.stringify(tools.filter(({ server }) => server === `server-${at}`)));
      return file;
    });
    process.stdout.write(`longest stretch with ${tools.length} tools of ${manyServers} servers, in CPU time:\n`);
    for (const phase of phases) {
      const written = execFileSync(process.execPath, [program, JSON.stringify({ phase, files })], { encoding: "utf8" });
      const { turns, stretch, withCollector, cpu } = JSON.parse(written);
      const words = `${stretch.toFixed(0)} ms (${withCollector.toFixed(0)} ms with garbage collection)`;
      process.stdout.write(`  ${phase}: ${words}, ${turns} turns, ${cpu.toFixed(0)} ms in all\n`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function read(folder, file) {
  return JSON.parse(readFileSync(join(folder, file), "utf8"));
}

async function indexOf(tools) {
  const servers = new Map();
  for (const tool of tools) servers.set(tool.server, [...(servers.get(tool.server) ?? []), tool]);
  const index = new ToolIndex();
  for (const [name, own] of servers)
    await index.set({ name, title: own[0].serverTitle, instructions: own[0].serverDescription }, own);
  return index;
}

/** Prints the CPU time of the work. */
async function measured(what, work) {
  const before = process.cpuUsage();
  const result = await work();
  const { user, system } = process.cpuUsage(before);
  process.stdout.write(`${what}: ${((user + system) / 1000).toFixed(0)} ms CPU\n`);
  return result;
}

/** Recall: the share of the right tools that are among the first, for single queries and for all queries of a task. */
async function report(kind, { queries, tasks }, index) {
  const own = queries.filter((query) => query.kind === kind);
  const single = own.filter(({ gold }) => gold.length > 0);
  const row = [kind];
  for (const cut of single.length === 0 ? [] : cuts) {
    const found = single.map(async ({ gold, text }) => recall(gold, await search([text], cut)));
    row.push(`recall@${cut} ${mean(await Promise.all(found)).toFixed(3)}`);
  }
  const groups = (tasks ?? []).map(({ task, gold }) => ({ gold, own: own.filter((query) => query.task === task) }));
  const asked = groups.filter(({ own: some }) => some.length > 1);
  for (const cut of asked.length === 0 ? [] : [5, 10]) {
    const found = asked.map(async ({ gold, own: some }) => {
      const lists = await Promise.all(some.map(({ text }) => search([text], cut)));
      return recall(gold, lists.flat());
    });
    const fused = asked.map(async ({ gold, own: some }) => {
      const texts = some.map(({ text }) => text);
      return recall(gold, await search(texts, 2 * cut));
    });
    const union = mean(await Promise.all(found)).toFixed(3);
    const together = mean(await Promise.all(fused)).toFixed(3);
    row.push(`union@${cut} ${union}`, `together@${2 * cut} ${together}`);
  }
  process.stdout.write(`  ${row.join("  ")}\n`);

  function search(texts, limit) {
    return findTools(texts, { index, named: () => [], limit, isWanted: () => true });
  }
}

function recall(gold, found) {
  const names = new Set(found.map(({ server, tool }) => JSON.stringify([server, tool.name])));
  const isFound = ({ server, tool }) => names.has(JSON.stringify([server, tool]));
  return gold.filter((one) => isFound(one) || (one.alt ?? []).some(isFound)).length / gold.length;
}

function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(values.length, 1);
}
