// The client of the official SDK.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

export async function open(servers) {
  const opened = new Map(await Promise.all(servers.map(async (server) => [server.name, await connect(server)])));
  return {
    count: () => [...opened.values()].reduce((sum, { tools }) => sum + tools.length, 0),
    async call(server, tool, given) {
      const { content } = await opened.get(server).client.callTool({ name: tool, arguments: given });
      return content[0].text.length;
    },
    close: () => Promise.all([...opened.values()].map(({ client }) => client.close())),
  };
}

async function connect({ command, args, url }) {
  const client = new Client({ name: "bench", version: "1.0.0" });
  await client.connect(
    url === undefined ? new StdioClientTransport({ command, args }) : new StreamableHTTPClientTransport(new URL(url)),
  );
  const [{ tools }] = await Promise.all([client.listTools(), client.listPrompts(), client.listResources()]);
  return { client, tools };
}
