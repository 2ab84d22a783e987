/** What a host does once it is connected, scenario by scenario; most want no more than tools listed and called. */

import { fill } from "./answers.mjs";
import { listAll } from "./bundle/index.js";
import { sdkTransport } from "./sdk-transport.mjs";

const special = {
  initialize: (session) => listAll(session, "tools"),
  "json-schema-ref-no-deref": (session) => listAll(session, "tools"),
  "json-schema-2020-12-preservation": echoSchema,
  "http-standard-headers": useEverything,
  "http-custom-headers": callAsTold,
  "sep-2640-client-no-prefetch": async (session) => (await openSkills(session)).list(),
  "sep-2640-client-verify-digest": readSkills,
  "sep-2640-client-verify-size": readSkills,
  "sep-2640-client-verify-frontmatter": readSkills,
};

/** The steps of a scenario: a function of the session and of what the suite says about the scenario. */
export function stepsFor(scenario) {
  return special[scenario] ?? callTools;
}

async function callTools(session) {
  const { items } = await listAll(session, "tools");
  for (const { name, inputSchema } of items) await call(session, name, fill(inputSchema));
}

async function useEverything(session) {
  await callTools(session);
  for (const { uri } of (await listAll(session, "resources")).items) await session.request("resources/read", { uri });
  for (const { name } of (await listAll(session, "prompts")).items) await session.request("prompts/get", { name });
}

async function callAsTold(session, { toolCalls }) {
  await listAll(session, "tools");
  for (const { name, arguments: given } of toolCalls) await call(session, name, given);
}

async function echoSchema(session) {
  const { items } = await listAll(session, "tools");
  const [focal, echo] = ["json_schema_2020_12_tool", "json_schema_echo"].map((name) =>
    items.find((tool) => tool.name === name),
  );
  await call(session, echo.name, { schema: focal.inputSchema });
}

function call(session, name, given) {
  return session.request("tools/call", { name, arguments: given });
}

/** The SDK's own extension, run over our session. */
async function openSkills(session) {
  const { Client } = await import("@modelcontextprotocol/client");
  const { SkillsClient } = await import("@modelcontextprotocol/client/ext/skills");
  const client = new Client(
    { name: "fairlead-conformance", version: "1.0.0" },
    { versionNegotiation: { mode: "auto" } },
  );
  await client.connect(sdkTransport(session));
  return new SkillsClient(client);
}

/** Loads every skill; one that is not what its entry says is left alone. */
async function readSkills(session) {
  const { SkillVerificationError } = await import("@modelcontextprotocol/client/ext/skills");
  const client = await openSkills(session);
  for (const skill of (await client.list()).skills) {
    try {
      await client.read(skill);
    } catch (error) {
      if (!(error instanceof SkillVerificationError)) throw error;
      process.stderr.write(`${skill.uri} was refused: ${error.message}\n`);
    }
  }
}
