/**
 * The server that every engine is measured against: made with the official SDK, the same features in both eras.
 * `contract-server.mjs stdio legacy|modern`, or `contract-server.mjs web`: prints its origin, serves /legacy, /modern and /sse.
 */

import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { createContractServer } from "./contract-features.mjs";
import { serveWeb } from "./contract-web.mjs";

const [transport, era] = process.argv.slice(2);

if (transport === "web") {
  const origin = await serveWeb();
  process.stdout.write(`${origin}\n`);
  // The pipe is the parent's hand: when it goes, so does the server.
  process.stdin.resume().once("end", () => process.exit());
} else if (era === "legacy") {
  await createContractServer().connect(new StdioServerTransport());
} else {
  serveStdio(() => createContractServer(), { legacy: "reject" });
}
