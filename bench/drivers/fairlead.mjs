// Fairlead as a program uses it: settings, createHost(), start(), call(), each run with a new home folder.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHost } from "../../packages/core/dist/index.js";

export async function open(servers) {
  const home = mkdtempSync(join(tmpdir(), "fairlead-bench-"));
  const entries = servers.map(({ name, command, args, url }) => [
    name,
    url === undefined ? { command, args } : { httpUrl: url },
  ]);
  const host = await createHost({
    // A busy machine makes a server slow, not broken.
    settings: { mcpServers: Object.fromEntries(entries), fairlead: { connectTimeout: 600_000 } },
    workspace: false,
    environment: { env: { PATH: process.env.PATH, HOME: home }, home, cwd: home, platform: process.platform },
  });
  await host.start({ servers: servers.map(({ name }) => name) });
  return {
    // Not the tools that a model is offered: these are at most 512 of a server.
    count: () => host.states().reduce((sum, { offer }) => sum + (offer?.tools ?? 0), 0),
    tools: (server) => host.tools(server).length,
    call: async (server, tool, given) => (await host.call(server, tool, given)).content[0].text.length,
    async close() {
      await host[Symbol.asyncDispose]();
      rmSync(home, { recursive: true, force: true });
    },
  };
}
