/** `fairlead prompts`: lists the prompts offered by servers. */

import type { HostPrompt } from "@fairlead/core/host";
import { safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { examplePrompt, isDeprecated, promptsText, textByServer } from "../output/tools/lists.ts";
import { columnsOf } from "../output/wrap.ts";
import type { Context, Verb } from "../shell/verb.ts";
import { defineAdHocOptions } from "../targets/ad-hoc.ts";
import { defineListOptions, listHelp, warnOfTruncatedLists, withCatalogs } from "../targets/with-catalogs.ts";

export const verb: Verb = {
  help: `${listHelp("prompts")}
  /name(a, b?)   required arguments, then optional arguments

Examples:
  fairlead prompts
  fairlead prompts demo
  fairlead prompts demo --json
  fairlead prompts --stdio 'npx -y @modelcontextprotocol/server-everything'`,

  define(command) {
    defineListOptions(command, "prompts");
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
  const options = { style: out.style, columns: columnsOf(io.stdout) };
  const text = textByServer(prompts, (server, own) => promptsText(server, own, options));
  if (text !== undefined) out.print(text);
  else out.say(safe`No prompts to show. To see some: fairlead prompts demo`);
}

/** Prints which command the user can try next. */
function leadOn(prompts: readonly HostPrompt[], { out }: Context): void {
  const example = prompts.find((prompt) => !isDeprecated(prompt));
  if (example !== undefined) out.say(safe`\nTry: fairlead prompt ${toSafeLine(examplePrompt(example))}`);
}
