/** `fairlead generate ts` and `fairlead generate cli`: generate code that calls the tools of servers. */

import { HostError } from "@fairlead/core/errors";
import type { Host } from "@fairlead/core/host";
import { notConnectedError } from "@fairlead/core/server";
import { safe, toSafeLine, toSafeText } from "@fairlead/core/text/safe-text";
import { commandFile } from "../generate/command-file.ts";
import { writeGenerated } from "../generate/source-text.ts";
import { type ServerTools, typescriptModule } from "../generate/typescript-module.ts";
import { count } from "../output/output.ts";
import { type Context, nameHint, type Verb } from "../shell/verb.ts";
import { connectServers } from "../targets/connect-servers.ts";
import { namesOf } from "../targets/look-up.ts";
import { withHost } from "../targets/with-host.ts";

interface Generator {
  readonly help: string;
  readonly operand: string;
  readonly about: string;
  readonly write: (servers: readonly ServerTools[]) => string;
  /** The file mode of the generated file, if the file is new. */
  readonly mode?: number;
}

const shared = `Uses the catalog cache, and connects only to servers without a cached catalog. The same catalogs give the same file,
so that you can keep it under version control. Tools that your settings filter out are not in the file.`;

/** The subcommands of `fairlead generate`. */
export const verbs: Readonly<Record<"ts" | "cli", Verb>> = {
  ts: generateVerb({
    operand: "<servers...>",
    about: "names of the servers (see: fairlead mcp list)",
    write: typescriptModule,
    help: `
Writes one TypeScript module with a client for each server: a method for each tool, with the types of its arguments and
of its result. The module runs on @fairlead/core and calls tools through a host, with your settings and rules.

${shared}

Examples:
  fairlead generate ts demo
  fairlead generate ts github -o src/github.ts
  fairlead generate ts github linear -o src/clients.ts --refresh`,
  }),
  cli: generateVerb({
    operand: "<server>",
    about: "name of the server (see: fairlead mcp list)",
    write: (servers) => servers.map(commandFile).join(""),
    mode: 0o755,
    help: `
Writes one program that calls the tools of a server: PROGRAM TOOL --flag value. It has --json, --help and the exit codes
of fairlead. It runs on @fairlead/core, with your settings and rules.

${shared}

Examples:
  fairlead generate cli demo -o demo.mjs
  node demo.mjs greet --name Ada`,
  }),
};

function generateVerb({ help, operand, about, write, mode }: Generator): Verb {
  return {
    help,
    define(command) {
      command
        .argument(operand, about)
        .option(
          "-o, --output <file>",
          "write to this file instead of stdout; replaces only a file that fairlead generate wrote",
        )
        .option("--refresh", "connect to the servers instead of using the catalog cache");
    },

    async run(context) {
      const { io, out, globals, command, operands } = context;
      const { output, refresh = false } = command.opts<{ readonly output?: string; readonly refresh?: boolean }>();
      await withHost(context, async (host) => {
        const servers = await readTools(host, [...new Set(operands)], refresh, context);
        const text = write(servers);
        const tools = servers.reduce((sum, server) => sum + server.tools.length, 0);
        if (output === undefined) {
          if (globals.json) out.json({ servers: operands, tools, text });
          else out.print(toSafeText(text.trimEnd()));
          return;
        }
        const done = await writeGenerated(output, text, { cwd: io.cwd, mode });
        if (globals.json) out.json({ servers: operands, tools, file: output, changed: done === "written" });
        else out.say(safe`${toSafeLine(output)}: ${count(tools, "tool")}, ${toSafeLine(done)}`);
      });
    },
  };
}

/** Reads the tools that the server lists. Leaves out tools that the settings filter out. */
async function readTools(
  host: Host,
  names: readonly string[],
  isFresh: boolean,
  context: Context,
): Promise<readonly ServerTools[]> {
  for (const name of names) checkName(name, namesOf(host));
  const cached = new Set(isFresh ? [] : (await host.recall(names)).map(({ server }) => server));
  await connectServers(
    host,
    names.filter((name) => !cached.has(name)),
    context,
  );
  return names.map((name) => {
    const catalog = host.catalog(name);
    const state = host.states().find((each) => each.name === name);
    if (catalog === undefined && state !== undefined) throw notConnectedError(state);
    const hidden = new Set(host.hidden(name).map(({ serverToolName }) => serverToolName));
    return { name, tools: (catalog?.tools ?? []).filter((tool) => !hidden.has(tool.name)) };
  });
}

function checkName(name: string, serverNames: readonly string[]): void {
  if (serverNames.includes(name)) return;
  throw new HostError("server_unknown", `no server "${name}" is configured${nameHint(name, serverNames)}`, {
    serverName: name,
    next: "fairlead mcp list",
  });
}
