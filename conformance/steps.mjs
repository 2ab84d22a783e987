/** What the host does in each scenario. In most scenarios it calls every tool once. */

import { fill } from "./fill.mjs";
import { server } from "./settings.mjs";

const special = {
  initialize: connect,
  "json-schema-ref-no-deref": connect,
  "json-schema-2020-12-preservation": echoSchema,
  "http-standard-headers": useEverything,
  "http-custom-headers": callAsTold,
  "sep-2640-client-no-prefetch": connect,
  "sep-2640-client-verify-digest": loadSkills,
  "sep-2640-client-verify-size": loadSkills,
  "sep-2640-client-verify-frontmatter": loadSkills,
};

/** Returns the steps of a scenario: a function of the host and of the suite's description of the scenario. */
export function stepsFor(scenario) {
  return special[scenario] ?? callTools;
}

/** Connects, and returns the catalog. Some of the suite's servers offer nothing, and a host closes their connection. */
async function connect(host) {
  await host.start({ servers: [server] });
  const { status, reason, message } = host.states().find(({ name }) => name === server);
  if (reason === "no_capabilities") return { tools: [], resources: [], prompts: [] };
  if (status !== "connected") throw new Error(`${status}: ${message}`);
  return host.catalog(server);
}

async function callTools(host) {
  const { tools } = await connect(host);
  for (const { name, inputSchema } of tools) await host.call(server, name, fill(inputSchema));
}

async function useEverything(host) {
  const { resources, prompts } = await connect(host);
  await callTools(host);
  for (const { uri } of resources) await host.readResource(server, uri);
  for (const { name } of prompts) await host.getPrompt(server, name);
}

async function callAsTold(host, { toolCalls }) {
  await connect(host);
  for (const { name, arguments: given } of toolCalls) await host.call(server, name, given);
}

async function echoSchema(host) {
  const { tools } = await connect(host);
  const { inputSchema } = tools.find(({ name }) => name === "json_schema_2020_12_tool");
  await host.call(server, "json_schema_echo", { schema: inputSchema });
}

/** Loads each skill. One that differs from its entry is refused as changed. */
async function loadSkills(host) {
  await connect(host);
  for (const { uri } of host.skills(server))
    await host.readSkill(server, uri).catch((error) => {
      if (error.code !== "changed") throw error;
      process.stderr.write(`${error.message}\n`);
    });
}
