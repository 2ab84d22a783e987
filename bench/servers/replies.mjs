// The answers of the measured servers. Results are written as JSON once, so that a server costs as little as possible.
const results = new Map();

function tool(_, index) {
  return {
    name: `tool_${index}`,
    title: `Tool ${index}`,
    description: "Searches the records of the server and returns those that match the query, best match first.",
    inputSchema: {
      type: "object",
      properties: {
        query: { type: "string", description: "Text to search for" },
        limit: { type: "integer", minimum: 1, maximum: 100 },
        exact: { type: "boolean", default: false },
        bytes: { type: "integer", minimum: 0, description: "Size of the result" },
      },
      required: ["query"],
    },
    annotations: { readOnlyHint: true },
  };
}

function write(key, create) {
  if (!results.has(key)) results.set(key, JSON.stringify(create()));
  return results.get(key);
}

/** Returns a function from a request to the JSON text of its response; undefined for a notification. */
export function createReplies(tools) {
  const capabilities = { tools: {}, prompts: {}, resources: {} };
  const serverInfo = { name: "bench", version: "1.0.0" };
  const methods = {
    initialize: ({ protocolVersion }) => write(protocolVersion, () => ({ protocolVersion, capabilities, serverInfo })),
    "tools/list": () => write("tools", () => ({ tools: Array.from({ length: tools }, tool) })),
    "prompts/list": () => write("prompts", () => ({ prompts: [{ name: "prompt_0", description: "A prompt" }] })),
    "resources/list": () => write("resources", () => ({ resources: [{ uri: "bench://0", name: "resource_0" }] })),
    "resources/templates/list": () => write("templates", () => ({ resourceTemplates: [] })),
    "tools/call": ({ arguments: { bytes } }) =>
      write(bytes, () => ({ content: [{ type: "text", text: "x".repeat(bytes) }] })),
    ping: () => "{}",
  };
  return ({ id, method, params = {} }) => {
    if (id === undefined) return undefined;
    const result = Object.hasOwn(methods, method) ? methods[method](params) : undefined;
    const outcome = result ? `"result":${result}` : '"error":{"code":-32601,"message":"Method not found"}';
    return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},${outcome}}`;
  };
}
