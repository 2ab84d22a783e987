/**
 * Tests calls with questions between a client of one protocol era and a server of the other. The suite has no scenario
 * for these calls.
 */

const answers = {
  "elicitation/create": ({ requestedSchema: { properties } }) => ({
    action: "accept",
    content: Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, valueFor(property)])),
  }),
  "sampling/createMessage": () => ({
    role: "assistant",
    model: "none",
    content: { type: "text", text: "a sampled text" },
  }),
  "roots/list": () => ({ roots: [{ uri: "file:///a/root", name: "root" }] }),
};

function valueFor({ type, default: usual, enum: choices }) {
  return usual ?? choices?.[0] ?? (type === "string" ? "Ada" : true);
}

const calls = {
  "legacy client, modern server": {
    era: "legacy",
    server: "modern",
    tools: {
      test_input_required_result_elicitation: "Hello, Ada!",
      test_input_required_result_sampling: "a sampled text",
      test_input_required_result_list_roots: "file:///a/root",
      test_input_required_result_multi_round: "Ada likes Ada.",
    },
  },
  "modern client, legacy server": {
    era: "modern",
    server: "legacy",
    tools: {
      test_input_required_result_elicitation: "Hello, Ada!",
      test_input_required_result_sampling: "a sampled text",
      test_elicitation_sep1034_defaults: "John Doe",
      test_input_required_result_multi_round: "Ada likes Ada.",
    },
  },
};

/**
 * Runs the calls.
 * @returns `of` calls, how many `passed`, and a line about each of the others
 */
export async function runBridgedCalls(urlOf) {
  // `prepare` makes this file.
  const { connect } = await import("../bundle/index.js");
  const problems = [];
  let of = 0;
  for (const [name, { era, server, tools }] of Object.entries(calls)) {
    const session = await connect(
      { kind: "http", url: urlOf(server), headers: {} },
      {
        era,
        clientInfo: { name: "conformance", version: "1.0.0" },
        capabilities: { elicitation: {}, sampling: {}, roots: {} },
        onRequest: async (method, params) => answers[method](params),
      },
    );
    for (const [tool, expected] of Object.entries(tools)) {
      of += 1;
      const told = await textOf(session, tool);
      if (!told.includes(expected)) problems.push(`${name}, ${tool}: ${told}`);
    }
    await session.close();
  }
  return { of, passed: of - problems.length, problems };
}

async function textOf(session, tool) {
  try {
    const { content = [] } = await session.request("tools/call", { name: tool, arguments: {} }, { timeout: 20_000 });
    return content.map(({ text }) => text).join();
  } catch (error) {
    return String(error);
  }
}
