// Our engine, from its bundle, as a host uses it: lists with all their checks, one process registry for all servers.
const bundle = new URL("../bundle/index.js", import.meta.url);
const { connect, createProcessRegistry, listAll, normaliseToolResult } = await import(bundle.href);

export function openWith(era) {
  const processes = createProcessRegistry();
  const options = { clientInfo: { name: "bench", version: "1.0.0" }, era, processes };
  return async (target) => {
    const session = await connect(targetOf(target), options);
    return {
      async list() {
        const [tools] = await Promise.all([
          listAll(session, "tools"),
          listAll(session, "prompts"),
          listAll(session, "resources"),
        ]);
        return tools.items;
      },
      async call(name, args) {
        const { content } = normaliseToolResult(await session.request("tools/call", { name, arguments: args }));
        return content[0].text.length;
      },
      close: () => session.close(),
    };
  };
}

function targetOf({ command, args, env, url }) {
  return url === undefined
    ? { kind: "stdio", command, args, env, cwd: process.cwd() }
    : { kind: "http", url, headers: {} };
}
