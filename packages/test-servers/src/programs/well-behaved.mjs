// Does what one expects of it.
import { runIfMain } from "./program.mjs";
import { serve } from "./serve.mjs";

/** @param {import("./program.mjs").Io} io */
export function wellBehaved({ input, output }) {
  serve({}, { input, output });
}

runIfMain(import.meta.url, wellBehaved);
