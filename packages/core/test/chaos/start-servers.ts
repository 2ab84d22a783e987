/** A host that starts these servers, says so, and goes on until it is killed: `start-servers '[ENTRY, …]'`. */

import { createHost } from "../../src/index.ts";

const entries = JSON.parse(process.argv[2] ?? "[]") as readonly object[];
const mcpServers = Object.fromEntries(entries.map((entry, at) => [`s${at}`, entry]));
const { HOME: home = "", PATH } = process.env;
const host = await createHost({
  settings: { mcpServers },
  workspace: false,
  environment: { env: { HOME: home, PATH }, home, cwd: home, platform: process.platform },
});
await host.start();
process.stdout.write("started\n");
setInterval(() => {}, 60_000);
