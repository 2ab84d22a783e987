// Each tool returns the result that the given file has for it.
import { readFileSync } from "node:fs";
import { runIfMain } from "../program.mjs";
import { serve } from "../serve.mjs";

/** @param {import("../program.mjs").Io} io */
export function results(io) {
  const [file] = io.args;
  let parsed;
  // Read when it is asked for: an error ends this server, and not the process that others share with it.
  const all = () => (parsed ??= JSON.parse(readFileSync(String(file), "utf8")));
  const tools = () => Object.keys(all()).map((name) => ({ name, inputSchema: { type: "object" } }));
  serve({ "tools/list": () => ({ tools: tools() }), "tools/call": ({ name }) => all()[name] }, undefined, io);
}

runIfMain(import.meta.url, results);
