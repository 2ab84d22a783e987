// Fairlead as a program uses it: settings, createHost(), start() and call(). Each run has a new home folder.
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
    // The timeout is long, because a busy machine makes a server slow but not broken.
    settings: { mcpServers: Object.fromEntries(entries), fairlead: { connectTimeout: 600_000 } },
    workspace: false,
    environment: { env: { PATH: process.env.PATH, HOME: home }, home, cwd: home, platform: process.platform },
  });
  await host.start({ servers: servers.map(({ name }) => name) });
  return {
    // The list for a model is not used, because it has at most 512 tools of a server.
    count: () => host.states().reduce((sum, { offer }) => sum + (offer?.tools ?? 0), 0),
    tools: (server) => host.tools(server).length,
    call: async (server, tool, given) => (await host.call(server, tool, given)).content[0].text.length,
    async close() {
      await host[Symbol.asyncDispose]();
      rmSync(home, { recursive: true, force: true });
    },
  };
}
