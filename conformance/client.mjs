/** The client under test: reaches the suite's server through our engine, or through a whole host, and does there what the scenario wants. */

import { answerRequest, capabilitiesFor } from "./answers.mjs";
import { connect } from "./bundle/index.js";
import { isForHost, runThroughHost } from "./host.mjs";
import { providerFor } from "./providers.mjs";
import { createSignIn } from "./sign-in.mjs";
import { stepsFor } from "./steps.mjs";

const deadline = 25_000;

const url = process.argv.at(-1) ?? "";
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? "";
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");

// The runner ends only the shell when time is up: a client that hangs has to end itself.
setTimeout(() => {
  process.stderr.write("the deadline has passed\n");
  process.exit(1);
}, deadline).unref();

try {
  await (isForHost(scenario) ? runThroughHost({ url, context }) : runThroughEngine());
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
}

async function runThroughEngine() {
  const provider = await providerFor(scenario, context);
  const session = await connect(
    { kind: "http-or-sse", url, headers: {} },
    {
      clientInfo: { name: "fairlead-conformance", version: "1.0.0" },
      capabilities: capabilitiesFor(scenario),
      onRequest: answerRequest,
      auth: createSignIn(provider, url),
      onDiagnostic: (text) => process.stderr.write(`${text}\n`),
    },
  );
  try {
    await stepsFor(scenario)(session, context);
  } finally {
    await session.close();
  }
}
