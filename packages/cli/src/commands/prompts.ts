/** `fairlead prompts`: lists the prompts offered by servers. */

import type { HostPrompt } from "@fairlead/core/host";
import { joinSafe, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { groupBy } from "../output/output.ts";
import { examplePrompt, promptsText } from "../output/tools/lists.ts";
import { columnsOf } from "../output/wrap.ts";
import type { Context, Verb } from "../shell/verb.ts";
import { defineAdHocOptions } from "../targets/ad-hoc.ts";
import { warnOfTruncatedLists, withCatalogs } from "../targets/with-catalogs.ts";

export const verb: Verb = {
  help: `
Lists the prompts of all configured servers that may start, or only of the given
server. Connects to servers that have no cached catalog. The built-in server
"demo" is listed if no other server is configured, or if you name it. Servers
that cannot be reached are reported on stderr.

  /name(a, b?)   required arguments, then optional ones

Examples:
  fairlead prompts
  fairlead prompts demo
  fairlead prompts demo --json
  fairlead prompts --stdio 'npx -y @modelcontextprotocol/server-everything'`,

  define(command) {
    command
      .argument("[server]", "only the prompts of this server: its name, or a URL")
      .option("--refresh", "connect to the servers instead of using the catalog cache");
    defineAdHocOptions(command);
  },

  async run(context) {
    await withCatalogs(context, ({ host, server, isTyped }) => {
      const prompts = host.prompts(server);
      warnOfTruncatedLists(host, server, ["prompts"], context);
      if (context.globals.json) context.out.json({ prompts });
      else print(prompts, context);
      if (!isTyped && !context.globals.json) leadOn(prompts, context);
    });
  },
};

function print(prompts: readonly HostPrompt[], { io, out }: Context): void {
  const options = { style: out.style, columns: columnsOf(io) };
  const servers = [...groupBy(prompts, ({ server }) => server)];
  const texts = servers.map(([server, own]) => promptsText(server, own, options));
  if (texts.length > 0) out.print(joinSafe(texts, safe`\n\n`));
  else out.say(safe`No prompts to show. To see some: fairlead prompts demo`);
}

/** Suggests the next command to a person; JSON output has none. */
function leadOn([example]: readonly HostPrompt[], { out }: Context): void {
  if (example !== undefined) out.say(safe`\nTry: fairlead prompt ${toSafeLine(examplePrompt(example))}`);
}
