/** Scenarios in which a person signs in, through a whole host: it finds the server in its settings, and we are only the browser. */

import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fill } from "./answers.mjs";
import { createHost } from "./bundle/host.js";

const server = "conformance";
/** Machines sign in with credentials of their own, and proofs of possession are beside the host so far. */
const others = /^auth\/(client-credentials|cross-app-access|enterprise-managed|wif-|dpop)/;

export function isForHost(scenario) {
  return scenario.startsWith("auth/") && !others.test(scenario);
}

export async function runThroughHost({ url, context }) {
  const home = await mkdtemp(join(tmpdir(), "conformance-home-"));
  await writeSettings(home, url, context);
  const environment = {
    env: { FAIRLEAD_SECRET_STORE: "file", ...nowhere(home) },
    home,
    cwd: home,
    platform: process.platform,
  };
  const host = await createHost({ environment, recover: false, openBrowser: visit });
  try {
    await useTools(host);
  } finally {
    await host[Symbol.asyncDispose]();
    await rm(home, { recursive: true, force: true });
  }
}

async function useTools(host) {
  await host.start({ servers: [server] });
  const state = host.states().find(({ name }) => name === server);
  if (state.status !== "connected") throw new Error(`${state.status}: ${state.message}`);
  for (const { name, inputSchema } of host.catalog(server).tools) await host.call(server, name, fill(inputSchema));
}

async function writeSettings(home, url, { client_id: clientId, client_secret: clientSecret }) {
  const oauth = clientId === undefined ? {} : { oauth: { clientId, clientSecret } };
  const settings = {
    mcpServers: { [server]: { url, ...oauth } },
    fairlead: { clientMetadataUrl: "https://conformance-test.local/client-metadata.json" },
  };
  await mkdir(join(home, ".gemini"));
  await writeFile(join(home, ".gemini", "settings.json"), JSON.stringify(settings));
}

/** The settings of whoever runs this are not ours. */
function nowhere(home) {
  const file = join(home, "none.json");
  return { GEMINI_CLI_SYSTEM_SETTINGS_PATH: file, GEMINI_CLI_SYSTEM_DEFAULTS_PATH: file };
}

/** The authorization server asks nothing: it sends the browser back at once. */
async function visit(url) {
  const { status, headers } = await fetch(url, { redirect: "manual" });
  const location = headers.get("location");
  if (location === null) throw new Error(`the authorization server answered ${status} and sends nobody back`);
  await (await fetch(location)).text();
  return true;
}
