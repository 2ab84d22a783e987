/** The client under test: a host that gets the suite's server and credentials as settings, and does what the scenario needs. */

import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHost } from "./bundle/host.js";
import { fill } from "./fill.mjs";
import { settingsFor } from "./settings.mjs";
import { stepsFor } from "./steps.mjs";

const deadline = 25_000;

const url = process.argv.at(-1) ?? "";
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? "";
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");

// After a timeout the runner ends only its shell, so the client must end itself.
setTimeout(() => {
  process.stderr.write("the deadline has passed\n");
  process.exit(1);
}, deadline).unref();

try {
  await runHost();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
}

async function runHost() {
  const home = await mkdtemp(join(tmpdir(), "conformance-home-"));
  // This is the root that the host sends.
  const workspace = join(home, "workspace");
  await mkdir(workspace);
  const { settings, env } = settingsFor(scenario, url, context);
  const none = join(home, "none.json");
  const host = await createHost({
    settings,
    workspace,
    trust: true,
    environment: {
      // The run uses nothing of the user: no system settings and no keychain.
      env: {
        FAIRLEAD_SECRET_STORE: "file",
        GEMINI_CLI_SYSTEM_SETTINGS_PATH: none,
        GEMINI_CLI_SYSTEM_DEFAULTS_PATH: none,
        ...env,
      },
      home,
      cwd: workspace,
      platform: process.platform,
    },
    recover: false,
    openBrowser: visit,
    sample: async () => ({ role: "assistant", model: "none", content: { type: "text", text: "text" } }),
    elicit: async ({ requestedSchema }) => ({ action: "accept", content: fill(requestedSchema) }),
  });
  try {
    await stepsFor(scenario)(host, context);
  } finally {
    await host[Symbol.asyncDispose]();
    await rm(home, { recursive: true, force: true });
  }
}

/** Acts as the browser: the suite's authorization servers ask nothing and redirect at once. */
async function visit(address) {
  const { status, headers } = await fetch(address, { redirect: "manual" });
  const location = headers.get("location");
  if (location === null) throw new Error(`the authorization server answered ${status} without a redirect`);
  await (await fetch(location)).text();
  return true;
}
