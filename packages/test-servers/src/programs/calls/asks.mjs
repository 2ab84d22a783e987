// Its tool asks the user for a size and a number, once or `times` times, or to open the address `url`, and returns the answers. Only clients that declare elicitation see it.
import { onLine, runIfMain } from "../program.mjs";

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
const titledForm = {
  type: "object",
  properties: {
    hero: {
      type: "string",
      oneOf: [
        { const: "hero-1", title: "Ada" },
        { const: "hero-2", title: "Bo" },
      ],
      default: "hero-1",
    },
    fish: {
      type: "array",
      items: {
        anyOf: [
          { const: "fish-1", title: "Tuna" },
          { const: "fish-2", title: "Cod" },
        ],
      },
      default: ["fish-1", "fish-2"],
    },
    sure: { type: "boolean", default: true },
    note: { type: "string", default: "as usual" },
  },
};
const forms = new Map([
  ["secret", secretForm],
  ["titled", titledForm],
]);
const tools = [
  {
    name: "order",
    inputSchema: {
      type: "object",
      properties: {
        how: { enum: ["form", "url", "secret", "titled"] },
        times: { type: "integer" },
        url: { type: "string" },
      },
    },
  },
];
/** @param {import("../program.mjs").Io} io */
export function asks(io) {
  const say = (/** @type {object} */ message) =>
    void io.output.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  let canAsk = false;
  /** @type {number | undefined} */
  let call;
  /** The questions that the call still asks, the open one included. */
  let left = 0;
  /** @type {object} */
  let asked = {};
  /** @type {object[]} */
  let answers = [];

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
      const { how, times = 1, url = "https://example.com/pay" } = params.arguments ?? {};
      left = times;
      answers = [];
      const requestedSchema = forms.get(how) ?? form;
      asked =
        how === "url"
          ? { mode: "url", message: "Pay here.", url, elicitationId: "1" }
          : { mode: "form", message: "Which one?", requestedSchema };
      say({ id: "question", method: "elicitation/create", params: asked });
    } else if (id === "question") {
      answers.push({ type: "text", text: JSON.stringify(result ?? error) });
      left -= 1;
      if (left > 0) say({ id, method: "elicitation/create", params: asked });
      else say({ id: call, result: { content: answers } });
    } else if (id !== undefined) say({ id, error: { code: -32601, message: "no such method" } });
  });
}

runIfMain(import.meta.url, asks);
