/** `fairlead tools`: lists tools as signatures, or as JSON Schemas. */

import { HostError } from "@fairlead/core/errors";
import type { HiddenTool, Host, HostNote, HostTool } from "@fairlead/core/host";
import type { Catalog } from "@fairlead/core/server/catalog";
import type { QuarantinedTool } from "@fairlead/core/server/registries";
import { groupBy } from "@fairlead/core/text/group-by";
import { joinSafe, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { toShellWord } from "@fairlead/core/text/shell-word";
import { isShallow } from "@fairlead/wire/json";
import { unlessEmpty } from "../output/output.ts";
import { serverNamesText, serverToolsText, toolToTry } from "../output/tools/lists.ts";
import { exampleCall } from "../output/tools/signature.ts";
import { tooDeep, toolDocument } from "../output/tools/tool-document.ts";
import { quarantineText, repairSummary, repairsText } from "../output/tools/tool-repairs.ts";
import { columnsOf } from "../output/wrap.ts";
import { warnOfPolicyProblems } from "../shell/configuration.ts";
import type { Context, Verb } from "../shell/verb.ts";
import { defineAdHocOptions } from "../targets/ad-hoc.ts";
import { listHelp, withCatalogs } from "../targets/with-catalogs.ts";

interface Options {
  readonly all?: boolean;
  readonly long?: boolean;
  readonly repairs?: boolean;
  readonly raw?: boolean;
  readonly search?: string;
  readonly limit?: number;
  readonly tokens?: boolean;
  readonly why?: string;
}

export const verb: Verb = {
  help: `${listHelp("tools")}
  name(a: string, b?: number, …+2)  required parameters, optional ones, two more with --all
  → {sum: number}                   the type of the tool's structured result
  [read-only] [destructive]         annotations claimed by the server, not verified
  [allowed] [denied]                the decision for calls by a model; if neither is shown, Fairlead asks
  as github__search                 the name that a model sees, if it differs

Examples:
  fairlead tools
  fairlead tools demo
  fairlead tools --long
  fairlead tools demo --all
  fairlead tools demo --json
  fairlead tools --search "draw a chart"
  fairlead tools --tokens
  fairlead tools --why demo.greet
  fairlead tools https://mcp.example.com/mcp
  fairlead tools --stdio 'npx -y @modelcontextprotocol/server-memory'`,

  define(command) {
    command
      .argument("[server]", "only the tools of this server: its name, or a URL")
      .option("-l, --long", "show signatures and descriptions, even if there are many tools")
      .option("--all", "show every parameter and the full descriptions")
      .option("--refresh", "connect to the servers instead of using the catalog cache")
      .option("--repairs", "show what Fairlead changed in tools so that model APIs accept them")
      .option("--search <words>", "find tools by what they do, best first")
      .option("--limit <number>", "with --search: how many tools to show (default: 10)", toCount)
      .option("--tokens", "estimate how many tokens the tool definitions cost a model")
      .addOption(
        command
          .createOption("--why <server.tool>", "show whether models get this tool directly or by search, and why")
          .conflicts(["search", "tokens", "raw", "repairs"]),
      )
      .addOption(
        command.createOption("--raw", "print the servers' own definitions as JSON").conflicts(["all", "repairs"]),
      );
    defineAdHocOptions(command);
  },

  async run(context) {
    await withCatalogs(context, async ({ host, server, isTyped }) => {
      // The list shows the policy decision for each tool, so the user must know which policy rules are invalid.
      await warnOfPolicyProblems(host, context);
      const { search, tokens = false, why } = context.command.opts<Options>();
      if (why !== undefined || search !== undefined || tokens) {
        const { showCosts, showFound, showWhy } = await import("./tools/offered-tools.ts");
        if (why !== undefined) return showWhy(host, why, context);
        return search === undefined ? showCosts(host, server, context) : showFound(host, search, context);
      }
      show(host, server, context);
      if (!isTyped) leadOn(host.tools(server), server, context);
    });
  },
};

function show(host: Host, server: string | undefined, context: Context): void {
  const { out, globals, command } = context;
  const listed: Listed = {
    tools: host.tools(server),
    quarantined: host.quarantined(server),
    hidden: host.hidden(server),
    notes: host.notes(server),
  };
  for (const { server: name, message } of listed.notes) out.warn(safe`"${toSafeLine(name)}": ${toSafeLine(message)}`);
  if (command.opts<Options>().raw) out.json({ servers: rawDocuments(host, server) });
  else if (globals.json) out.json(toolsDocument(listed));
  else print(listed, context);
}

function toCount(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= 1000) return count;
  throw new HostError("usage", `--limit must be a number from 1 to 1000, not "${text}"`, { next: "--limit 20" });
}

/** Above this number of tools, the list shows only names, unless the user names a server. */
const manyTools = 40;

function isNamesOnly(
  tools: readonly HostTool[],
  { command, operands }: Pick<Context, "command" | "operands">,
): boolean {
  const { all = false, repairs = false, long = false } = command.opts<Options>();
  return tools.length > manyTools && operands.length === 0 && !all && !repairs && !long;
}

function print({ tools, quarantined, hidden }: Listed, context: Context): void {
  const { io, out, command } = context;
  const { all = false, repairs = false } = command.opts<Options>();
  const isShort = isNamesOnly(tools, context);
  const { style } = out;
  const options = { style, columns: columnsOf(io.stdout), all };
  const offered = groupBy(tools, ({ server }) => server);
  const filtered = groupBy(hidden, ({ server }) => server);
  const texts = [...new Set([...offered.keys(), ...filtered.keys()])].map((server) => {
    const own = offered.get(server) ?? [];
    if (isShort) return serverNamesText(server, own, options, filtered.get(server));
    return repairs ? repairsText(server, own, options) : serverToolsText(server, own, options, filtered.get(server));
  });
  if (quarantined.length > 0) texts.push(quarantineText(quarantined, style, all));
  if (texts.length > 0)
    out.print(joinSafe(texts, isShort && options.columns === Number.POSITIVE_INFINITY ? safe`\n` : safe`\n\n`));
  else out.say(safe`No tools to show. To see some: fairlead tools demo`);
}

function rawDocuments(host: Host, server: string | undefined): readonly object[] {
  return host.states().flatMap(({ name }) => {
    const catalog = server === undefined || server === name ? host.catalog(name) : undefined;
    return catalog === undefined ? [] : [rawDocument(name, catalog)];
  });
}

/** Prints which command the user can try next. */
function leadOn(tools: readonly HostTool[], server: string | undefined, context: Context): void {
  const { out, globals, command } = context;
  const { repairs = false, raw = false } = command.opts<Options>();
  if (repairs || raw || globals.json) return;
  if (isNamesOnly(tools, context)) {
    out.say(safe`\n${tools.length} tools. Signatures: fairlead tools SERVER, or fairlead tools --long`);
    return;
  }
  const adapted = repairSummary(tools);
  const example = toolToTry(tools);
  const operand = server === undefined ? safe`` : safe` ${toSafeLine(toShellWord(server))}`;
  if (adapted !== undefined) out.say(safe`\n${adapted}: fairlead tools${operand} --repairs`);
  if (example !== undefined) out.say(safe`\nTry: fairlead call ${exampleCall(example)}`);
}

interface Listed {
  readonly tools: readonly HostTool[];
  readonly quarantined: readonly QuarantinedTool[];
  readonly hidden: readonly HiddenTool[];
  readonly notes: readonly HostNote[];
}

/** Returns the tool list for `--json`. */
export function toolsDocument({ tools, quarantined, hidden, notes }: Listed): object {
  return {
    tools: tools.map(toolDocument),
    quarantined,
    hidden: unlessEmpty(hidden),
    warnings: unlessEmpty(notes),
  };
}

/** Returns the definitions exactly as the server sent them. */
export function rawDocument(server: string, { tools }: Pick<Catalog, "tools">): object {
  return {
    name: server,
    tools: tools.map((tool) => (isShallow(tool) ? tool : { name: tool.name, unprintable: tooDeep })),
  };
}
