// A server without any fault.
import { runIfMain } from "./program.mjs";
import { serve } from "./serve.mjs";

/** @param {import("./program.mjs").Io} io */
export function wellBehaved(io) {
  serve({}, undefined, io);
}

runIfMain(import.meta.url, wellBehaved);
