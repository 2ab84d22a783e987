// Its tool never answers. It writes each call and cancellation as a line to the file that its argument names.
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { serve } from "../serve.mjs";

const [diary] = process.argv.slice(2);

serve({}, (text) => {
  if (!text.includes('"content"')) process.stdout.write(text);
});
createInterface({ input: process.stdin }).on("line", (line) => {
  const { method } = JSON.parse(line);
  if (method === "tools/call" || method === "notifications/cancelled") appendFileSync(diary, `${method}\n`);
});
