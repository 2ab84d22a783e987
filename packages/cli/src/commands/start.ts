/** `fairlead` with nothing: looks around, starts nothing, and says what to type next. */

import { demoName } from "@fairlead/core/host";
import { commandWord } from "../command-word.ts";
import { overviewText } from "../output/overview-text.ts";
import { statusDocument } from "../output/server-status.ts";
import { transportWord } from "../output/transport-word.ts";
import { createOverview, type Overview } from "../overview.ts";
import type { Verb } from "../verb.ts";
import { hasDemo, withHost } from "../with-host.ts";

export const verb: Verb = {
  // Its help is that of the whole command.
  define: () => {},

  run: (context) =>
    withHost(context, async (host, configuration) => {
      const { io, out, globals } = context;
      if (hasDemo(configuration)) await host.start({ servers: [demoName] });
      const command = commandWord(io);
      const overview = createOverview(configuration, host.tools(demoName), command);
      if (globals.json) return out.json(toDocument(overview));
      out.print(overviewText(overview, { home: io.home, style: out.style, command }));
    }),
};

function toDocument({ workspace, files, servers, demoTools, problems, next }: Overview): object {
  return {
    workspace,
    files,
    servers: servers.map(({ server, admission }) => ({
      name: server.name,
      ...statusDocument(admission),
      transport: transportWord(server.kind),
      scope: server.scope,
      file: server.origin.file,
      line: server.origin.line,
    })),
    demo: { tools: demoTools.map(({ serverToolName }) => serverToolName) },
    problems,
    next,
  };
}
