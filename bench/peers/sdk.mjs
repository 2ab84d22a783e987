// What both versions of the official client have in common.
export function openWith({ Client, StdioClientTransport, StreamableHTTPClientTransport }) {
  return async ({ command, args, env, url }) => {
    const client = new Client({ name: "bench", version: "1.0.0" });
    await client.connect(
      url === undefined
        ? new StdioClientTransport({ command, args, env })
        : new StreamableHTTPClientTransport(new URL(url)),
    );
    return {
      async list() {
        const [{ tools }] = await Promise.all([client.listTools(), client.listPrompts(), client.listResources()]);
        return tools;
      },
      call: async (name, given) => (await client.callTool({ name, arguments: given })).content[0].text.length,
      close: () => client.close(),
    };
  };
}
