// How well tool search finds the right tools, and what it costs: `npm run bench -- search --data FOLDER`.
// FOLDER has catalogs (tools.json, metatool-tools.json: a list of tools, each with its server) and queries with the
// tools that answer them (dev.json, metatool-dev.json).
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { findTools } from "../packages/core/build/search/find-tools.js";
import { createToolIndex } from "../packages/core/build/search/tool-index.js";

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
    for (const kind of new Set(asked.queries.map((query) => query.kind))) report(kind, asked, index);
  }
  return true;
}

function read(folder, file) {
  return JSON.parse(readFileSync(join(folder, file), "utf8"));
}

async function indexOf(tools) {
  const servers = new Map();
  for (const tool of tools) servers.set(tool.server, [...(servers.get(tool.server) ?? []), tool]);
  const index = createToolIndex();
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
function report(kind, { queries, tasks }, index) {
  const own = queries.filter((query) => query.kind === kind);
  const single = own.filter(({ gold }) => gold.length > 0);
  const row = [kind];
  for (const cut of single.length === 0 ? [] : cuts)
    row.push(`recall@${cut} ${mean(single.map(({ gold, text }) => recall(gold, search([text], cut)))).toFixed(3)}`);
  const groups = (tasks ?? []).map(({ task, gold }) => ({ gold, own: own.filter((query) => query.task === task) }));
  const asked = groups.filter(({ own: some }) => some.length > 1);
  for (const cut of asked.length === 0 ? [] : [5, 10]) {
    const found = asked.map(({ gold, own: some }) =>
      recall(
        gold,
        some.flatMap(({ text }) => search([text], cut)),
      ),
    );
    const fused = asked.map(({ gold, own: some }) =>
      recall(
        gold,
        search(
          some.map(({ text }) => text),
          2 * cut,
        ),
      ),
    );
    row.push(`union@${cut} ${mean(found).toFixed(3)}`, `together@${2 * cut} ${mean(fused).toFixed(3)}`);
  }
  process.stdout.write(`  ${row.join("  ")}\n`);

  function search(texts, limit) {
    return findTools(texts, { index, named: () => [], limit });
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
