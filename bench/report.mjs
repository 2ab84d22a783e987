// Formats the results as a table for the terminal and for Markdown, and as a chart.
import { readFileSync } from "node:fs";
import { cpus, platform, totalmem } from "node:os";

const number = (value) => (value >= 100 ? value.toFixed(0) : value.toPrecision(3));
const scaled = (value, unit) => `${number(unit === "µs" ? value * 1000 : value)} ${unit}`;
const times = (ratio) => `${ratio < 10 ? ratio.toFixed(2) : ratio.toFixed(0)} ×`;

/** Whether the row has been measured and reaches its goal, if it has one. */
export function isMet({ cells, goal = Number.POSITIVE_INFINITY }) {
  return cells.Fairlead !== undefined && cells.Fairlead.ratio <= goal;
}

/** Where and when the results were measured, without the machine's name. */
export function circumstances({ rounds, load }) {
  const memory = Math.round(totalmem() / 2 ** 30);
  const date = new Date().toISOString().slice(0, 10);
  const machine = `${platform()} ${process.arch}, ${cpus().length} cores, ${memory} GiB, Node ${process.version}`;
  const { own, command, cheapPeers, peers } = rounds;
  const runs = `medians of ${own} interleaved runs (command: ${command}; other clients: ${cheapPeers} for one server, ${peers} for the rest)`;
  return `${date}, ${machine}; ${runs}; load average ${load.toFixed(1)} at the start`;
}

function cellsOf({ title, unit, goal, beside, cells }, labels) {
  const others = labels.map((label) => (cells[label] ? times(cells[label].ratio) : "–"));
  const { floor, Fairlead } = cells;
  const goalCell = goal === undefined ? "" : `≤ ${goal} ×`;
  if (floor === undefined || Fairlead === undefined) return [title, "–", "–", "–", goalCell, "failed", ...others];
  const verdict = goal === undefined ? "" : isMet({ cells, goal }) ? "met" : "not met";
  const floorCell = `${scaled(floor.value, unit)}${beside === "floor" ? "" : ` (${beside})`}`;
  return [title, floorCell, scaled(Fairlead.value, unit), times(Fairlead.ratio), goalCell, verdict, ...others];
}

function table(rows, peers) {
  const head = ["", "floor", "Fairlead", "ratio", "goal", "", ...peers];
  return [head, ...rows.map((row) => cellsOf(row, peers))];
}

export function toText(rows, peers) {
  const lines = table(rows, peers);
  const widths = lines[0].map((_, column) => Math.max(...lines.map((line) => line[column].length)));
  return lines
    .map((line) => line.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]) : cell.padStart(widths[at]))).join("  "))
    .join("\n");
}

export function toMarkdown({ rows, peers, growth, rounds, load, minutes }) {
  const [head, ...lines] = table(rows, peers);
  const line = (cells) => `| ${cells.join(" | ")} |`;
  return `# Benchmark

![Cost as a multiple of the floor](results.svg)

${circumstances({ rounds, load })}. The run took ${minutes.toFixed(1)} minutes.

\`npm run bench -- --write\` measures again and writes this page. The floor is a client written by hand without checks and features
(\`bench/drivers/floor.mjs\`). Rows of the library are CPU of the client's process through \`createHost()\`; rows of the command are CPU
with all children, except the first frame, which is wall time. The columns of other clients are multiples of the floor, too; mcporter lists
tools only.

${line(head)}
${line(head.map((_, at) => (at === 0 ? "---" : "--:")))}
${lines.map(line).join("\n")}

## Growth

Medians of ${rounds.growth} interleaved runs.

${growth.map(({ text, isMet: met }) => `- ${text}: ${met ? "met" : "not met"}`).join("\n")}

${readFileSync(new URL("remains.md", import.meta.url), "utf8")}`;
}

const colours = { Fairlead: "#2563eb", SDK: "#9ca3af", "Gemini CLI core": "#f59e0b", mcporter: "#10b981" };
const layout = { left: 270, right: 70, top: 50, bar: 9, gap: 12, width: 860 };

/** Returns bars on a logarithmic scale: how many times the cost of the floor each client needs. */
export function toSvg({ rows, peers }) {
  const labels = ["Fairlead", ...peers];
  const ratios = rows.flatMap(({ cells }) => labels.map((label) => cells[label]?.ratio ?? 1));
  const most = Math.log10(Math.max(10, ...ratios));
  const { left, right, top, bar, gap, width } = layout;
  const x = (ratio) => left + (Math.max(0, Math.log10(ratio)) / most) * (width - left - right);
  const parts = [];
  let y = top;
  for (const { title, cells } of rows) {
    const shown = labels.filter((label) => cells[label]);
    parts.push(`<text x="${left - 8}" y="${y + (shown.length * bar) / 2 + 4}" text-anchor="end">${title}</text>`);
    for (const label of shown) {
      const { ratio } = cells[label];
      const end = Math.max(x(ratio), left + 2);
      parts.push(
        `<rect x="${left}" y="${y}" width="${(end - left).toFixed(1)}" height="${bar - 1}" fill="${colours[label]}"/>`,
      );
      parts.push(`<text class="n" x="${(end + 4).toFixed(1)}" y="${y + bar - 2}">${times(ratio)}</text>`);
      y += bar;
    }
    y += gap;
  }
  const legend = labels.map(
    (label, at) =>
      `<rect x="${left + at * 140}" y="14" width="10" height="10" fill="${colours[label]}"/><text x="${left + at * 140 + 15}" y="23">${label}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y}" width="${width}" height="${y}">
<title>Cost of MCP clients as a multiple of the floor</title>
<style>text { font: 12px sans-serif; fill: #374151 } .n { font-size: 9px } .paper { fill: #ffffff }</style>
<rect class="paper" width="100%" height="100%"/>
<text x="${left}" y="42">cost as a multiple of the floor, logarithmic</text>
${[...legend, ...parts].join("\n")}
</svg>
`;
}
