// A small, fast server that answers what it is asked: the same one for everybody who is measured.
"use strict";
const answers = {
  initialize: () => ({
    protocolVersion: "2025-11-25",
    capabilities: { tools: {}, prompts: {}, resources: {} },
    serverInfo: { name: "bench", version: "1" },
  }),
  "tools/list": () => ({
    tools: Array.from({ length: 10 }, (_, at) => ({ name: `tool-${at}`, inputSchema: { type: "object" } })),
  }),
  "prompts/list": () => ({ prompts: [{ name: "prompt" }] }),
  "resources/list": () => ({ resources: [{ name: "resource", uri: "bench://resource" }] }),
  "resources/templates/list": () => ({ resourceTemplates: [] }),
};

function answer(line) {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  const result = answers[method]?.();
  const outcome = result ? { result } : { error: { code: -32601, message: "Method not found" } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...outcome })}\n`);
}

let rest = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (text) => {
  const lines = (rest + text).split("\n");
  rest = lines.pop();
  for (const line of lines) answer(line);
});
