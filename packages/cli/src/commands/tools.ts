/** `fairlead tools`: lists tools as signatures, or as JSON Schemas. */

import { HostError } from "@fairlead/core/errors";
import type { HiddenTool, Host, HostNote, HostTool, ServerFlag } from "@fairlead/core/host";
import { groupBy, toShellWord } from "@fairlead/core/plain-text";
import type { Catalog, QuarantinedTool } from "@fairlead/core/server";
import {
  joinSafe,
  padSafe,
  repeatSafe,
  type SafeText,
  safe,
  toSafeLine,
  toVisibleLine,
} from "@fairlead/core/text/safe-text";
import type { OfferedTool } from "@fairlead/core/turn";
import { isShallow } from "@fairlead/wire/json";
import { count, type Style, spacedNumber, unlessEmpty } from "../output/output.ts";
import { flaggedWords } from "../output/servers/server-state.ts";
import {
  quarantineText,
  repairSummary,
  repairsText,
  serverNamesText,
  serverToolsText,
  toolText,
  toolToTry,
} from "../output/tools/lists.ts";
import { exampleCall, tooDeep, toolDocument } from "../output/tools/signature.ts";
import { columnsOf } from "../output/wrap.ts";
import { warnOfPolicyProblems } from "../shell/configuration.ts";
import type { Context, Verb } from "../shell/verb.ts";
import { defineAdHocOptions } from "../targets/ad-hoc.ts";
import { defineAloneOption } from "../targets/background.ts";
import { findToolTarget, type TargetServer } from "../targets/target.ts";
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
    defineAloneOption(command);
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
      if (why !== undefined) return showWhy(host, why, context);
      if (search !== undefined) return showFound(host, search, context);
      if (tokens) return showCosts(host, server, context);
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
    flags: host.flags(server),
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

function print({ tools, quarantined, hidden, flags }: Listed, context: Context): void {
  const { io, out, command } = context;
  const { all = false, repairs = false } = command.opts<Options>();
  const isShort = isNamesOnly(tools, context);
  const { style } = out;
  const options = { style, columns: columnsOf(io.stdout), all, flags };
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
  // A list of names has no room for flags, and what is not a tool is not in the list.
  const others = isShort || repairs ? flags : flags.filter(({ kind }) => kind !== "tool");
  for (const line of flaggedLines(others)) out.warn(line);
}

/** What is flagged, one line for each server. */
function flaggedLines(flags: readonly ServerFlag[]): readonly SafeText[] {
  return [...groupBy(flags, ({ server }) => server)].map(
    ([server, own]) => safe`flagged in "${toVisibleLine(server)}": ${flaggedWords(own)}`,
  );
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
  readonly flags: readonly ServerFlag[];
}

/** Returns the tool list for `--json`. */
export function toolsDocument({ tools, quarantined, hidden, notes, flags }: Listed): object {
  return {
    tools: tools.map(toolDocument),
    flags: unlessEmpty(flags),
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

// Shows which tools are offered to models: `fairlead tools` with `--search`, `--tokens` or `--why`.

/** Lists the tools that `search_tools` finds for a model, best first. */
async function showFound(host: Host, query: string, context: Context): Promise<void> {
  const { out, io, globals, command } = context;
  const { limit = 10, all = false } = command.opts<{ readonly limit?: number; readonly all?: boolean }>();
  const found = await host.searchTools(query, { limit });
  const byKey = new Map(host.tools().map((tool) => [`${tool.server}.${tool.serverToolName}`, tool]));
  const tools = found.flatMap(({ server, tool, score }) => {
    const listed = byKey.get(`${server}.${tool}`);
    return listed === undefined ? [] : [{ listed, score }];
  });
  if (globals.json) {
    out.json({ tools: tools.map(({ listed, score }) => ({ ...toolDocument(listed), score })) });
    return;
  }
  if (tools.length === 0) out.say(safe`No tool found for "${toSafeLine(query)}". All tools: fairlead tools`);
  const options = { style: out.style, columns: columnsOf(io.stdout), all };
  for (const { listed } of tools)
    out.show(toolText({ ...listed, serverToolName: `${listed.server}.${listed.serverToolName}` }, options));
}

/** Shows the estimated tokens of each tool and each server. */
async function showCosts(host: Host, server: string | undefined, { out, globals }: Context): Promise<void> {
  const costs = serverCosts(await host.toolOffers(server === undefined ? {} : { servers: [server] }));
  if (!globals.json) {
    out.show(costsText(costs, out.style));
    return;
  }
  const listed = new Map(host.tools(server).map((tool) => [`${tool.server}.${tool.serverToolName}`, tool]));
  out.json({
    tools: costs.flatMap(({ tools }) =>
      tools.flatMap(({ server: name, serverToolName, tokens, offered }) => {
        const tool = listed.get(`${name}.${serverToolName}`);
        return tool === undefined ? [] : [{ ...toolDocument(tool), tokens, offered }];
      }),
    ),
    servers: costs.map(({ server: name, tokens }) => ({ name, tokens })),
    tokens: costs.reduce((sum, { tokens }) => sum + tokens, 0),
    isEstimate: true,
  });
}

/**
 * Prints whether models get the tool `word` directly, and why.
 * @throws HostError `usage`, `server_unknown` or `tool_unknown`
 */
async function showWhy(host: Host, word: string, { out, globals }: Context): Promise<void> {
  const { server, tool } = findToolTarget(word, targetServers(host));
  const { offered, reason, tokens } = await offerOf(host, server, tool);
  if (globals.json) {
    out.json({ server, tool, offered, reason, tokens });
    return;
  }
  const how = offered ? safe`is offered to models directly` : safe`is not offered to models directly`;
  out.show(safe`${toVisibleLine(`${server}.${tool}`)} ${how}: ${toSafeLine(reason)}`);
}

function targetServers(host: Host): readonly TargetServer[] {
  const tools = groupBy([...host.tools(), ...host.quarantined(), ...host.hidden()], ({ server }) => server);
  return host.states().map(({ name }) => ({ name, tools: (tools.get(name) ?? []).map((tool) => tool.serverToolName) }));
}

/** @throws HostError `tool_unknown` */
async function offerOf(
  host: Host,
  server: string,
  tool: string,
): Promise<Pick<OfferedTool, "offered" | "reason"> & { readonly tokens?: number }> {
  const isMeant = (one: { readonly server: string; readonly serverToolName: string }): boolean =>
    one.server === server && one.serverToolName === tool;
  const offeredTool = (await host.toolOffers()).find(isMeant);
  if (offeredTool !== undefined)
    return offeredTool.offered
      ? offeredTool
      : { ...offeredTool, reason: `${offeredTool.reason}; models find the tool by search` };
  const quarantined = host.quarantined().find(isMeant);
  if (quarantined !== undefined) return { offered: false, reason: quarantined.reason };
  const hidden = host.hidden().find(isMeant);
  if (hidden !== undefined) return { offered: false, reason: `${hidden.setting} in the settings hides this tool` };
  if (host.tools().some(isMeant)) return { offered: false, reason: "conversations do not use this tool's server" };
  throw new HostError("tool_unknown", `"${server}" has no tool "${tool}"`, {
    serverName: server,
    next: `fairlead tools ${toShellWord(server)}`,
  });
}

// Formats the number of tokens that tool definitions cost a model: servers and tools sorted by tokens, with bars.

/** The estimated tokens of a server's tool definitions. */
interface ServerCost {
  readonly server: string;
  readonly tokens: number;
  readonly tools: readonly OfferedTool[];
}

/** Sorts the servers by their cost in tokens, most expensive first. Sorts the tools of each server in the same way. */
export function serverCosts(offeredTools: readonly OfferedTool[]): readonly ServerCost[] {
  return [...groupBy(offeredTools, ({ server }) => server)]
    .map(([server, tools]) => ({
      server,
      tokens: tools.reduce((sum, { tokens }) => sum + tokens, 0),
      tools: tools.toSorted((one, other) => other.tokens - one.tokens),
    }))
    .sort((one, other) => other.tokens - one.tokens);
}

const barWidth = 20;

/** Returns the costs of all servers and tools, and the total. */
export function costsText(costs: readonly ServerCost[], style: Style): SafeText {
  const all = costs.reduce((sum, { tokens }) => sum + tokens, 0);
  const most = Math.max(1, ...costs.flatMap(({ tools }) => tools.map(({ tokens }) => tokens)));
  const blocks = costs.map(({ server, tokens, tools }) => {
    const share = Math.round((100 * tokens) / Math.max(all, 1));
    const title = safe`${style.bold(toVisibleLine(server))}: about ${spacedNumber(tokens)} tokens, ${share} % of all`;
    return joinSafe([title, ...tools.map((tool) => toolLine(tool, most))]);
  });
  const offered = costs.flatMap(({ tools }) => tools).filter((tool) => tool.offered);
  const tokens = offered.reduce((sum, tool) => sum + tool.tokens, 0);
  const total = safe`A model is offered ${count(offered.length, "tool")} directly, about ${spacedNumber(tokens)} tokens; all tools: about ${spacedNumber(all)} tokens.`;
  return joinSafe([...blocks, total], safe`\n\n`);
}

function toolLine({ serverToolName, tokens, offered }: OfferedTool, most: number): SafeText {
  const bar = repeatSafe(safe`#`, Math.max(1, Math.round((barWidth * tokens) / most)));
  const note = offered ? safe`` : safe` (the model must search for it)`;
  return safe`  ${repeatSafe(safe` `, 7 - spacedNumber(tokens).length)}${spacedNumber(tokens)}  ${padSafe(bar, barWidth)}  ${toVisibleLine(serverToolName)}${note}`;
}
