// Its tools return their arguments as JSON. One forbids unlisted parameters, one does not mention them, one allows any.
import { runIfMain } from "../program.mjs";
import { serve } from "../serve.mjs";

const properties = {
  id: { type: "integer" },
  tags: { type: "array", items: { $ref: "#/$defs/tag" } },
  mode: { anyOf: [{ enum: ["fast", "slow"] }, { type: "null" }] },
  limit: { type: ["number", "null"] },
  filter: { type: "object" },
  note: { type: "string" },
};
const schema = { type: "object", properties, required: ["id"], $defs: { tag: { type: "string" } } };
const tools = [
  { name: "strict", inputSchema: { ...schema, additionalProperties: false } },
  { name: "loose", inputSchema: schema },
  { name: "open", inputSchema: { type: "object", additionalProperties: { type: "integer" } } },
];

/** @param {import("../program.mjs").Io} io */
export function oddParameters(io) {
  const call = (params) => ({ content: [{ type: "text", text: JSON.stringify(params.arguments) }] });
  serve({ "tools/list": () => ({ tools }), "tools/call": call }, undefined, io);
}

runIfMain(import.meta.url, oddParameters);
