/** What the client says to the server's own questions: always yes, with the defaults that the server proposes. */

const skills = "io.modelcontextprotocol/skills";

export function capabilitiesFor(scenario) {
  const extensions = scenario.startsWith("sep-2640-") ? { extensions: { [skills]: {} } } : {};
  return { elicitation: { form: {} }, sampling: {}, roots: {}, ...extensions };
}

/** Handles requests of the server; an error goes back as an error reply. */
export async function answerRequest(method, params) {
  switch (method) {
    case "elicitation/create":
      return { action: "accept", content: fill(params.requestedSchema) };
    case "sampling/createMessage":
      return { role: "assistant", model: "none", content: { type: "text", text: "text" } };
    case "roots/list":
      return { roots: [] };
    default:
      throw new Error(`${method} is not supported`);
  }
}

/** A value for every property of an object schema: its default, or something of its type. */
export function fill(schema) {
  const properties = Object.entries(schema?.properties ?? {});
  return Object.fromEntries(properties.map(([name, property]) => [name, property.default ?? sample(property)]));
}

function sample({ type, enum: choices }) {
  if (Array.isArray(choices)) return choices[0];
  const samples = { string: "text", number: 1.5, integer: 2, boolean: true, array: [], object: {} };
  return samples[type] ?? "text";
}
