// mcporter's runtime. It lists tools only.
import { createRuntime } from "mcporter";

const silent = () => {};

export async function open(servers) {
  const runtime = await createRuntime({
    servers: servers.map(({ name, command, args, url }) => ({
      name,
      command:
        url === undefined ? { kind: "stdio", command, args, cwd: process.cwd() } : { kind: "http", url: new URL(url) },
    })),
    logger: {
      info: silent,
      warn: silent,
      debug: silent,
      error: (...words) => process.stderr.write(`${words.join(" ")}\n`),
    },
  });
  const lists = await Promise.all(servers.map(({ name }) => runtime.listTools(name, { includeSchema: true })));
  return {
    count: () => lists.flat().length,
    call: async (server, tool, args) => (await runtime.callTool(server, tool, { args })).content[0].text.length,
    close: () => runtime.close(),
  };
}
