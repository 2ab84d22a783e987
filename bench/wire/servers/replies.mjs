// What the servers written for Node answer: the same as the one in C.
function tool(_, index) {
  return {
    name: `tool_${index}`,
    title: `Tool ${index}`,
    description: "Looks something up in a place that is known to the server, and says what it has found there.",
    inputSchema: {
      type: "object",
      properties: {
        query: { type: "string", description: "What to look for" },
        limit: { type: "integer", minimum: 1, maximum: 100 },
        exact: { type: "boolean", default: false },
      },
      required: ["query"],
    },
    annotations: { readOnlyHint: true },
  };
}

/** Results are written as JSON once. */
export function createReplies({ tools, bytes }) {
  const results = {
    initialize: {
      protocolVersion: "2025-06-18",
      capabilities: { tools: {}, prompts: {}, resources: {} },
      serverInfo: { name: "bench", version: "1.0.0" },
    },
    "tools/list": { tools: Array.from({ length: tools }, tool) },
    "prompts/list": { prompts: [{ name: "prompt_0", description: "A prompt" }] },
    "resources/list": { resources: [{ uri: "bench://0", name: "resource_0" }] },
    "tools/call": { content: [{ type: "text", text: "x".repeat(bytes) }] },
    ping: {},
  };
  const ready = new Map(Object.entries(results).map(([method, result]) => [method, JSON.stringify(result)]));
  const refusal = JSON.stringify({ code: -32601, message: "Method not found" });
  return ({ id, method }) => {
    if (id === undefined) return undefined;
    const result = ready.get(method);
    const outcome = result === undefined ? `"error":${refusal}` : `"result":${result}`;
    return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},${outcome}}`;
  };
}
