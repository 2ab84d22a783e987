// Its tool never answers. What it is told, calls and cancellations, it writes into the file that its argument names, a line each.
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { serve } from "./serve.mjs";

const [diary] = process.argv.slice(2);

serve({}, (text) => {
  if (!text.includes('"content"')) process.stdout.write(text);
});
createInterface({ input: process.stdin }).on("line", (line) => {
  const { method } = JSON.parse(line);
  if (method === "tools/call" || method === "notifications/cancelled") appendFileSync(diary, `${method}\n`);
});
