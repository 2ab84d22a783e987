// Answers `initialize` with the JSON in its argument: an error, or an invalid result.
import { createInterface } from "node:readline";

const answer = JSON.parse(process.argv[2]);
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  const body = method === "initialize" ? answer : { error: { code: -32601, message: `no ${method} here` } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...body })}\n`);
});
