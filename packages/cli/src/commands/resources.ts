/** `fairlead resources`: lists the resources and templates of servers. */

import type { Host, HostResource } from "@fairlead/core/host";
import { joinSafe, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { toShellWord } from "@fairlead/core/text/shell-word";
import { variablesOf } from "../arguments/named-values.ts";
import { groupBy } from "../output/output.ts";
import { resourcesText } from "../output/tools/lists.ts";
import { columnsOf } from "../output/wrap.ts";
import type { Context, Verb } from "../shell/verb.ts";
import { defineAdHocOptions } from "../targets/ad-hoc.ts";
import { warnOfTruncatedLists, withCatalogs } from "../targets/with-catalogs.ts";

export const verb: Verb = {
  help: `
Lists the resources of all configured servers that may start, or only of the given
server. Connects to servers that have no cached catalog. The built-in server
"demo" is listed if no other server is configured, or if you name it. Servers
that cannot be reached are reported on stderr.

  notes://today (Today, text/plain, 2.1 kB)   a resource with its title, type and size
  notes://{day} --arg day=…                   a template with its variables

Examples:
  fairlead resources
  fairlead resources demo
  fairlead resources demo --json
  fairlead resources --stdio 'npx -y @modelcontextprotocol/server-everything'`,

  define(command) {
    command
      .argument("[server]", "only the resources of this server: its name, or a URL")
      .option("--refresh", "connect to the servers instead of using the catalog cache");
    defineAdHocOptions(command);
  },

  async run(context) {
    await withCatalogs(context, ({ host, server, isTyped }) => {
      const resources = host.resources(server);
      warnOfTruncatedLists(host, server, ["resources", "resourceTemplates"], context);
      if (context.globals.json) context.out.json(toDocument(resources));
      else print(resources, context);
      if (!isTyped && !context.globals.json) leadOn(host, resources, context);
    });
  },
};

function toDocument(all: readonly HostResource[]): object {
  const resources: object[] = [];
  const resourceTemplates: object[] = [];
  for (const one of all) {
    const { kind: _kind, ...item } = one;
    if (one.kind === "resource") resources.push(item);
    else resourceTemplates.push({ ...item, variables: variablesOf(one.uriTemplate) });
  }
  return { resources, resourceTemplates };
}

function print(resources: readonly HostResource[], { io, out }: Context): void {
  const options = { style: out.style, columns: columnsOf(io) };
  const servers = [...groupBy(resources, ({ server }) => server)];
  const texts = servers.map(([server, own]) => resourcesText(server, own, options));
  if (texts.length > 0) out.print(joinSafe(texts, safe`\n\n`));
  else out.say(safe`No resources to show. To see some: fairlead resources demo`);
}

/** Suggests the next command to a person; JSON output has none. */
function leadOn({ resourceRegistry }: Host, resources: readonly HostResource[], { out }: Context): void {
  const example = resources.find((resource) => resource.kind === "resource");
  if (example === undefined) return;
  const { server, uri } = example;
  const isUnique = resourceRegistry.findByUri(uri).length === 1 && /^[\w+.-]+:/.test(uri);
  out.say(safe`\nTry: fairlead read ${toSafeLine(toShellWord(isUnique ? uri : `${server}:${uri}`))}`);
}
