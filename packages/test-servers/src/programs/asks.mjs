// Its tool asks the user for a size and a colour, and returns the answer. Only clients that declare elicitation see it.
import { onLine, runIfMain } from "./program.mjs";

const form = {
  type: "object",
  required: ["size"],
  properties: {
    size: { type: "string", enum: ["small", "medium", "large"] },
    number: { type: "integer", minimum: 1, default: 1 },
    note: { type: "string", description: "Anything else." },
  },
};
const secretForm = {
  type: "object",
  required: ["apiToken"],
  properties: {
    apiToken: { type: "string", minLength: 8 },
    secretPair: { type: ["number", "object"] },
    note: { type: "string" },
  },
};
const tools = [
  { name: "order", inputSchema: { type: "object", properties: { how: { enum: ["form", "url", "secret"] } } } },
];
/** @param {import("./program.mjs").Io} io */
export function asks(io) {
  const say = (/** @type {object} */ message) =>
    void io.output.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  let canAsk = false;
  /** @type {number | undefined} */
  let call;

  onLine(io, (line) => {
    const { id, method, params, result, error } = JSON.parse(line);
    if (method === "initialize") {
      canAsk = params.capabilities.elicitation !== undefined;
      const { protocolVersion } = params;
      const serverInfo = { name: "asks", version: "1.0.0" };
      say({ id, result: { protocolVersion, capabilities: { tools: {} }, serverInfo } });
    } else if (method === "tools/list") say({ id, result: { tools: canAsk ? tools : [] } });
    else if (method === "tools/call") {
      call = id;
      const how = params.arguments?.how;
      const requestedSchema = how === "secret" ? secretForm : form;
      const asked =
        how === "url"
          ? { mode: "url", message: "Pay here.", url: "https://example.com/pay", elicitationId: "1" }
          : { mode: "form", message: "Which one?", requestedSchema };
      say({ id: "question", method: "elicitation/create", params: asked });
    } else if (id === "question")
      say({ id: call, result: { content: [{ type: "text", text: JSON.stringify(result ?? error) }] } });
    else if (id !== undefined) say({ id, error: { code: -32601, message: "no such method" } });
  });
}

runIfMain(import.meta.url, asks);
