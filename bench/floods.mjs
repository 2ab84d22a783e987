/*
 * Measures how much one hostile server disturbs a host: calls to another server, the event loop and the memory, during
 * a flood.
 */
import { spawnSync } from "node:child_process";
import { loadavg } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const measure = join(dirname(fileURLToPath(import.meta.url)), "floods/measure.mjs");
const modes = [
  "stderr-short",
  "stderr-lines",
  "stderr-endless",
  "stdout-blank",
  "stdout-garbage",
  "stdout-half-json",
  "stdout-large-garbage",
  "requests",
  "unknown-requests",
  "list-changed",
  "progress",
  "logging",
  "responses",
  "large-requests",
  "batches",
  "dense-messages",
  "http-comments",
  "http-blank",
  "http-events",
  "http-logging",
  "http-half-json",
  "http-ids",
  "catalog-pages",
  "catalog-large-pages",
  "catalog-one-page",
  "catalog-dense",
  "catalog-dense-pages",
  "catalog-small-tools",
];
const mostRatio = 3;
const mostStall = 100;
const mostMegabytes = 256;

/** Runs the benchmark. `cell`: the only flood to run. `rounds`: how many seconds each flood runs. */
export function bench({ cell, rounds = "30" } = {}) {
  if (cell !== undefined && !modes.includes(cell)) {
    process.stderr.write(`there is no cell "${cell}"; known: ${modes.join(", ")}\n`);
    return false;
  }
  const seconds = Number(rounds);
  print(`each flood runs for ${seconds} s beside a neighbour that is called all the time`);
  print(`load average ${loadavg()[0].toFixed(1)}, Node ${process.version}`);
  print("flood                   control    flood    ratio    stall   memory  ended as");
  return modes
    .filter((mode) => cell === undefined || cell === mode)
    .map((mode) => run(mode, seconds))
    .every(Boolean);
}

function run(mode, seconds) {
  const options = JSON.stringify({ mode, seconds });
  const { stdout, stderr, status } = spawnSync(process.execPath, [measure, options], {
    encoding: "utf8",
    maxBuffer: 1e9,
  });
  if (status !== 0) {
    print(`${mode.padEnd(22)} failed: ${stderr.slice(-2_000)}`);
    return false;
  }
  const { control, flooded, stall, megabytes, state, lasted } = JSON.parse(stdout);
  const ratio = flooded / control;
  const isGood = ratio < mostRatio && stall < mostStall && megabytes < mostMegabytes;
  const figures = [`${control.toFixed(2)} ms`, `${flooded.toFixed(2)} ms`, ratio.toFixed(2), `${stall.toFixed(0)} ms`];
  const shown = [...figures, `${megabytes.toFixed(0)} MB`].map((figure) => figure.padStart(9)).join("");
  const ended = state === "connected" ? state : `${state} after ${lasted.toFixed(1)} s`;
  print(`${mode.padEnd(22)}${shown}  ${ended}  ${isGood ? "ok" : "TOO MUCH"}`);
  return isGood;
}

function print(line) {
  process.stdout.write(`${line}\n`);
}
