/** The tools of a conversation: their names, and which of them the model is offered. */

import type { Model } from "../model/model.ts";
import type { FunctionDeclaration } from "../normalise/model-types.ts";
import type { DiscoveredMCPTool } from "../registry/discovered-tool.ts";
import type { ConversationTools } from "../registry/pinned-tools.ts";
import type { EarlierConversation, RecordChange } from "./record.ts";
import { chooseResourceNames, declareResourceFunctions, type ResourceFunction } from "./resource-calls.ts";
import type { TurnHost } from "./turn-host.ts";

/** The tools of one request, with their declarations at the same index. */
export interface ToolOffer {
  readonly declarations: readonly FunctionDeclaration[];
  readonly tools: readonly DiscoveredMCPTool[];
  /** Tools that did not fit. */
  readonly leftOut: readonly DiscoveredMCPTool[];
}

/** The result of looking up a name. */
export type Found =
  | { readonly kind: "tool"; readonly tool: DiscoveredMCPTool }
  | { readonly kind: "resources"; readonly which: ResourceFunction }
  /** No callable tool has that name. */
  | { readonly kind: "none"; readonly why?: string };

/** A tool of a conversation. Texts are raw, as the server sent them. */
export interface ConversationTool {
  /** The name that the model uses. */
  readonly name: string;
  readonly server: string;
  readonly serverToolName: string;
  readonly description: string;
  readonly enabled: boolean;
  /** Why the tool cannot be offered to the model. */
  readonly quarantined?: string;
}

export interface ToolSelection {
  readonly offer: (model: Model) => ToolOffer;
  readonly find: (name: string, model: Model) => Found;
  /** Everything that can be called by name. */
  readonly names: (model: Model) => readonly Named[];
  readonly servers: () => readonly string[];
  /** Records that the model's API refuses the tool's current definition. */
  readonly quarantine: (tool: DiscoveredMCPTool, reason: string) => void;
  readonly setTool: (server: string, serverToolName: string, enabled: boolean) => void;
  readonly list: (model: Model) => readonly ConversationTool[];
}

/** A callable name, with its server and tool. */
export interface Named {
  readonly name: string;
  readonly server?: string;
  readonly serverToolName?: string;
}

export interface ToolSelectionOptions {
  readonly host: TurnHost;
  /** The servers that the user chose. Default: all. */
  readonly servers?: readonly string[];
  readonly record: RecordChange;
  /** Names and choices of a resumed conversation. */
  readonly earlier?: Pick<EarlierConversation, "names" | "functions" | "disabled">;
}

/** Estimated average number of characters per token. */
const charactersPerToken = 4;

export function createToolSelection({ host, servers: chosen, record, earlier }: ToolSelectionOptions): ToolSelection {
  const disabled = new Set(
    earlier?.disabled.map(({ server: serverName, serverToolName }) => keyOf({ serverName, serverToolName })),
  );
  /** Refused definitions by tool: another definition of the tool may be accepted. */
  const refused = new Map<string, { readonly schema: string; readonly reason: string }>();
  const seen = new Map<string, DiscoveredMCPTool>();
  const inDialect = new WeakMap<DiscoveredMCPTool, Map<Model["dialect"], DiscoveredMCPTool>>();
  const open = (): ConversationTools => host.openTools(earlier?.names);
  let opened: ConversationTools | undefined;
  let functionNames = earlier?.functions;
  /** How many names are recorded, and whether those of the host's own functions are. */
  let recorded = { names: earlier?.names.length ?? 0, functions: functionNames };

  function recordNames(from: ConversationTools): void {
    const names = from.names();
    const tools = names.slice(recorded.names);
    const functions = functionNames === recorded.functions ? undefined : functionNames;
    if (tools.length > 0 || functions) record({ type: "names", tools, ...(functions && { functions }) });
    recorded = { names: names.length, functions: functionNames };
  }

  const servers = (): readonly string[] => chosen ?? host.servers();

  /** All tools in the order of the settings, including those that cannot be offered. */
  function all({ dialect, provider }: Model, from: ConversationTools = opened ?? open()): readonly DiscoveredMCPTool[] {
    const wanted = new Set(servers());
    // A user who types calls may use any server, including the demo server.
    const isAnyMeant = chosen === undefined && provider === "manual";
    return from.getEveryTool().flatMap((tool) => {
      if (!isAnyMeant && !wanted.has(tool.serverName)) return [];
      const known = inDialect.get(tool) ?? new Map<Model["dialect"], DiscoveredMCPTool>();
      const compiled = known.get(dialect) ?? tool.inDialect(dialect);
      inDialect.set(tool, known.set(dialect, compiled));
      return [compiled];
    });
  }

  function quarantineOf(tool: DiscoveredMCPTool): string | undefined {
    if (tool.quarantine !== undefined) return tool.quarantine;
    const refusal = refused.get(keyOf(tool));
    return refusal?.schema === schemaOf(tool) ? refusal.reason : undefined;
  }

  const isEnabled = (tool: DiscoveredMCPTool): boolean => !disabled.has(keyOf(tool));
  const isOffered = (tool: DiscoveredMCPTool): boolean => isEnabled(tool) && quarantineOf(tool) === undefined;

  /** The names are fixed when the model is first shown them: a later tool does not take them. */
  function ownFunctions(tools: readonly DiscoveredMCPTool[]): readonly FunctionDeclaration[] {
    if (!host.offersResources() || !servers().some((server) => hasResources(server))) return [];
    functionNames ??= chooseResourceNames(tools.map(({ name }) => name));
    return declareResourceFunctions(functionNames);
  }

  function hasResources(server: string): boolean {
    const { resources } = host;
    return resources.getResourcesByServer(server).length > 0 || resources.getTemplatesByServer(server).length > 0;
  }

  function functionOf(name: string): ResourceFunction | undefined {
    if (functionNames === undefined) return undefined;
    return name === functionNames.list ? "list" : name === functionNames.read ? "read" : undefined;
  }

  return {
    servers,

    offer(model) {
      opened ??= open();
      const everything = all(model);
      const offered = everything.filter(isOffered);
      const own = ownFunctions(everything);
      const room = { count: model.maxDeclarations - own.length, tokens: host.toolBudget() };
      const tools = fitting(offered, room);
      for (const tool of tools) seen.set(tool.name, tool);
      recordNames(opened);
      return {
        declarations: [...tools.map((tool) => tool.schema), ...own],
        tools,
        leftOut: offered.slice(tools.length),
      };
    },

    find(name, model) {
      const which = functionOf(name);
      if (which !== undefined) return { kind: "resources", which };
      const tool = all(model).find((each) => each.name === name);
      if (tool === undefined) {
        const gone = seen.get(name);
        return { kind: "none", ...(gone && { why: `the server "${gone.serverName}" no longer has it` }) };
      }
      const quarantine = quarantineOf(tool);
      if (quarantine !== undefined) return { kind: "none", why: `it is not offered to you: ${quarantine}` };
      return isEnabled(tool) ? { kind: "tool", tool } : { kind: "none", why: "the user has disabled it" };
    },

    names(model) {
      const own = functionNames === undefined ? [] : [{ name: functionNames.list }, { name: functionNames.read }];
      const tools = all(model).filter(isOffered);
      return [
        ...tools.map(({ name, serverName: server, serverToolName }) => ({ name, server, serverToolName })),
        ...own,
      ];
    },

    quarantine: (tool, reason) => void refused.set(keyOf(tool), { schema: schemaOf(tool), reason }),

    setTool(serverName, serverToolName, enabled) {
      const key = keyOf({ serverName, serverToolName });
      if (enabled) disabled.delete(key);
      else disabled.add(key);
      record({ type: "tool", server: serverName, serverToolName, enabled });
    },

    list: (model) =>
      all(model).map((tool) => {
        const { name, serverName: server, serverToolName, description } = tool;
        const quarantined = quarantineOf(tool);
        const listing = { name, server, serverToolName, description, enabled: isEnabled(tool) };
        return quarantined === undefined ? listing : { ...listing, quarantined };
      }),
  };
}

/** The first tools that fit. */
function fitting(
  tools: readonly DiscoveredMCPTool[],
  { count, tokens = Number.POSITIVE_INFINITY }: { readonly count: number; readonly tokens: number | undefined },
): readonly DiscoveredMCPTool[] {
  let left = tokens * charactersPerToken;
  const over = tools.findIndex((tool, at) => {
    if (at >= count) return true;
    if (left === Number.POSITIVE_INFINITY) return false;
    left -= JSON.stringify(tool.schema).length;
    return left < 0;
  });
  return over === -1 ? tools : tools.slice(0, over);
}

function keyOf({ serverName, serverToolName }: Pick<DiscoveredMCPTool, "serverName" | "serverToolName">): string {
  return JSON.stringify([serverName, serverToolName]);
}

function schemaOf({ schema }: DiscoveredMCPTool): string {
  return JSON.stringify([schema.name, schema.description, schema.parametersJsonSchema]);
}
