/** `fairlead resources`: lists the resources and templates of servers. */

import type { Host, HostResource } from "@fairlead/core/host";
import { safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { toShellWord } from "@fairlead/core/text/shell-word";
import { variablesOf } from "../arguments/named-values.ts";
import { resourcesText, sharedUris, textByServer } from "../output/tools/lists.ts";
import { columnsOf } from "../output/wrap.ts";
import type { Context, Verb } from "../shell/verb.ts";
import { defineAdHocOptions } from "../targets/ad-hoc.ts";
import { defineListOptions, listHelp, warnOfTruncatedLists, withCatalogs } from "../targets/with-catalogs.ts";

export const verb: Verb = {
  help: `${listHelp("resources")}
  notes://today (Today, text/plain, 2.1 kB)   a resource with its title, type and size
  notes://{day} --arg day=…                   a template with its variables

Examples:
  fairlead resources
  fairlead resources demo
  fairlead resources demo --json
  fairlead resources --stdio 'npx -y @modelcontextprotocol/server-everything'`,

  define(command) {
    defineListOptions(command, "resources");
    defineAdHocOptions(command);
  },

  async run(context) {
    await withCatalogs(context, ({ host, server, isTyped }) => {
      const resources = host.resources(server);
      warnOfTruncatedLists(host, server, ["resources", "resourceTemplates"], context);
      if (context.globals.json) context.out.json(toDocument(resources));
      else print(resources, sharedUris(host.resources()), context);
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

function print(
  resources: readonly HostResource[],
  isShared: ReturnType<typeof sharedUris>,
  { io, out }: Context,
): void {
  const options = { style: out.style, columns: columnsOf(io.stdout), isShared };
  const text = textByServer(resources, (server, own) => resourcesText(server, own, options));
  if (text !== undefined) out.print(text);
  else out.say(safe`No resources to show. To see some: fairlead resources demo`);
}

/** Prints which command the user can try next. */
function leadOn({ resourceRegistry }: Host, resources: readonly HostResource[], { out }: Context): void {
  const example = resources.find((resource) => resource.kind === "resource");
  if (example === undefined) return;
  const { server, uri } = example;
  const isUnique = resourceRegistry.findByUri(uri).length === 1 && /^[\w+.-]+:/.test(uri);
  out.say(safe`\nTry: fairlead read ${toSafeLine(toShellWord(isUnique ? uri : `${server}:${uri}`))}`);
}
