/** Lists and explains tools, resources and prompts, from connections or the catalog cache. */

import { HostError } from "@fairlead/core/errors";
import type { Explanation, HostTool, OpenedHost } from "@fairlead/core/host";
import { type DecisionOutcome, type PolicyRule, ruleText } from "@fairlead/core/policy";
import { appOnlyReason, type CatalogTool, isAppOnly, type Server, viewAddressesOf } from "@fairlead/core/server";
import type { DecisionLine, ToolCommands, ToolRow } from "../../protocol/tools.ts";
import { aCount, anObject, anyText, aText, type Handlers, optional, textsByName } from "./parameters.ts";
import { changedItems } from "./server-rows.ts";

const mostFound = 100;
const longestDescription = 20_000;

export function toolCommands(host: OpenedHost): Handlers<ToolCommands> {
  const { servers } = host.gateway;

  return {
    "tools/list": {
      takes: {},
      run: async () => ({ tools: await toolRows(host) }),
    },
    "tools/search": {
      takes: { query: aText, limit: optional(aCount(mostFound)) },
      async run({ query, limit }) {
        const found = await host.searchTools(query, limit === undefined ? {} : { limit });
        return { found: found.map(({ server, tool, score }) => ({ server, tool, score })) };
      },
    },
    "tools/show": {
      takes: { server: aText, tool: aText },
      async run({ server, tool }) {
        const listed = servers.get(server).listedBy().toolOf(tool);
        const row = (await toolRows(host, server)).find((each) => each.tool === tool);
        if (servers.get(server).catalog === undefined && row === undefined)
          throw new HostError("tool_unknown", `the tools of "${server}" are not known before it is started`, {
            serverName: server,
          });
        if (listed === undefined || row === undefined)
          throw new HostError("tool_unknown", `"${server}" lists no tool "${tool}"`, { serverName: server });
        const { inputSchema, outputSchema } = listed;
        return { tool: row, inputSchema, outputSchema, change: await host.changeOf(server, tool) };
      },
    },
    "tools/decide": {
      takes: { server: aText, tool: aText, args: anObject },
      async run({ server, tool, args }) {
        const listed = servers.get(server).listedBy().toolOf(tool);
        const [explained, issues] = await Promise.all([
          host.explain(server, tool, args, { typed: true }),
          listed === undefined ? [] : host.issuesIn(listed.inputSchema, args),
        ]);
        const problems = issues.map(({ path, message }) => ({ pointer: path, message }));
        return { ...decisionLine(explained), problems };
      },
    },
    "resources/list": {
      takes: {},
      run: () => ({
        resources: host.resources().map((each) => ({
          server: each.server,
          kind: each.kind,
          uri: each.kind === "resource" ? each.uri : each.uriTemplate,
          name: each.title ?? each.name,
          description: each.description,
          mimeType: each.mimeType,
          size: each.kind === "resource" ? each.size : undefined,
        })),
      }),
    },
    "prompts/list": {
      takes: {},
      run: () => ({
        prompts: host.prompts().map(({ server, serverPromptName, description, arguments: wanted }) => ({
          server,
          prompt: serverPromptName,
          description,
          arguments: wanted.map(({ name, description: text, required }) => ({
            name,
            description: text,
            isRequired: required,
          })),
        })),
      }),
    },
    complete: {
      takes: {
        server: aText,
        prompt: optional(aText),
        uriTemplate: optional(aText),
        argument: aText,
        value: anyText,
        others: optional(textsByName),
      },
      async run({ server, prompt, uriTemplate, argument, value, others }, { signal }) {
        const of =
          prompt !== undefined
            ? ({ kind: "prompt", server, prompt } as const)
            : uriTemplate !== undefined
              ? ({ kind: "template", server, uriTemplate } as const)
              : undefined;
        if (of === undefined) throw new HostError("usage", "complete needs the parameter prompt or uriTemplate");
        return { values: await host.complete({ of, name: argument, value, given: others }, { signal }) };
      },
    },
  };
}

/** The tools of one server or of all servers, with those that a model is not offered. */
async function toolRows(host: OpenedHost, only?: string): Promise<readonly ToolRow[]> {
  const { servers } = host.gateway;
  const meant =
    only === undefined ? servers.all().filter(({ name }) => servers.isMeantByAll(name)) : [servers.get(only)];
  const names = meant.map(({ name }) => name);
  // The demo server has its tools before it is started, if they are asked for by its name.
  const hostTools = names.flatMap((name) => host.tools(name));
  const tokens = new Map((await host.toolOffers({ servers: names })).map((tool) => [keyOf(tool), tool.tokens]));
  const toolsOfHost = new Map(hostTools.map((tool) => [keyOf(tool), tool]));
  const reasons = new Map(host.quarantined(only).map((tool) => [keyOf(tool), tool.reason]));
  const rows: ToolRow[] = [];
  for (const server of meant) {
    const changed = new Set(changedItems(server).flatMap(({ kind, name }) => (kind === "tool" ? [name] : [])));
    for (const tool of server.catalog?.catalog.tools ?? []) {
      const key = keyOf({ server: server.name, serverToolName: tool.name });
      const offered = toolsOfHost.get(key);
      const decision = offered?.decision ?? (await host.decide(server.name, tool.name)).decision;
      rows.push({
        ...rowOf(server, tool, offered),
        tokens: tokens.get(key) ?? 0,
        decision: decisionWord(decision),
        isChanged: changed.has(tool.name),
        hidden: isAppOnly(tool) ? appOnlyReason : reasons.get(key),
      });
    }
  }
  return [...rows, ...host.hidden(only).map(toHiddenRow)];
}

function keyOf({ server, serverToolName }: { readonly server: string; readonly serverToolName: string }): string {
  return JSON.stringify([server, serverToolName]);
}

type RowOfTool = Pick<
  ToolRow,
  "server" | "tool" | "name" | "title" | "description" | "annotations" | "isForViews" | "view"
>;

function rowOf({ name: server }: Server, tool: CatalogTool, offered: HostTool | undefined): RowOfTool {
  const { name, title, description = "", annotations } = tool;
  return {
    server,
    tool: name,
    name: offered?.name ?? name,
    title,
    description: description.slice(0, longestDescription),
    annotations,
    isForViews: isAppOnly(tool),
    view: viewAddressesOf(tool)[0],
  };
}

/** A tool that a filter in the settings hides. The host keeps nothing of it but its name. */
function toHiddenRow({ server, serverToolName, setting }: ReturnType<OpenedHost["hidden"]>[number]): ToolRow {
  return {
    server,
    tool: serverToolName,
    name: serverToolName,
    description: "",
    tokens: 0,
    decision: "deny",
    isChanged: false,
    isForViews: false,
    hidden: `${setting} of the server's entry hides it`,
  };
}

/** `ask_user` is `ask` for people. */
export function decisionWord(decision: DecisionOutcome): DecisionLine["decision"] {
  return decision === "ask_user" ? "ask" : decision;
}

/** The decision with the rule that makes it. */
export function decisionLine({ decision: { decision, rule } }: Pick<Explanation, "decision">): DecisionLine {
  return { decision: decisionWord(decision), because: ruleText(rule), ruleAt: placeOf(rule) };
}

/** Where a rule is written: `FILE:LINE`, or the name of a setting. Undefined for a built-in rule. */
export function placeOf({ origin: { source, file, line, name } }: PolicyRule): string | undefined {
  if (file !== undefined) return line === undefined ? file : `${file}:${line}`;
  return source === "built_in" ? undefined : name;
}
