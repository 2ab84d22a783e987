/*
 * Its tool `pay` writes the key of each call to the file in its first argument: what is there twice has run twice. The call
 * says when the program dies: `before` it pays, `after` it, `in` its response, or `none`. The second argument is the era.
 */
import { appendFileSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";

const [file, era] = process.argv.slice(2);
const about = { capabilities: { tools: {} }, serverInfo: { name: "pays", version: "1" } };
/** @type {Record<string, object>} */
const results = {
  [era === "modern" ? "server/discover" : "initialize"]: {
    ...(era === "modern" ? { supportedVersions: ["2026-07-28"] } : { protocolVersion: "2025-11-25" }),
    ...about,
  },
  "tools/list": { tools: [{ name: "pay", inputSchema: { type: "object" } }] },
  ping: {},
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined || method === undefined) return;
  const { key, dies } = params?.arguments ?? {};
  if (method === "tools/call") {
    if (dies === "before") process.exit(1);
    appendFileSync(file, `${key}\n`);
    if (dies === "after") process.exit(1);
  }
  const result =
    method === "tools/call"
      ? { content: [{ type: "text", text: key }] }
      : Object.hasOwn(results, method) && results[method];
  const body = result ? { result: { resultType: "complete", ...result } } : { error: { code: -32601, message: "no" } };
  const text = `${JSON.stringify({ jsonrpc: "2.0", id, ...body })}\n`;
  if (dies === "in") {
    writeSync(1, text.slice(0, text.length / 2));
    process.exit(1);
  }
  writeSync(1, text);
});
