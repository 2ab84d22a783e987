// Offers the tools in the JSON file that its argument names. Reads the file again for each request.
import { readFileSync } from "node:fs";
import { runIfMain } from "../program.mjs";
import { serve } from "../serve.mjs";

/** @param {import("../program.mjs").Io} io */
export function catalog(io) {
  const [file] = io.args;
  serve({ "tools/list": () => ({ tools: JSON.parse(readFileSync(String(file), "utf8")) }) }, undefined, io);
}

runIfMain(import.meta.url, catalog);
