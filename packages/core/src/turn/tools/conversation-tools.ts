/** The tools of a conversation: their names, and which of them the model is offered directly. */

import type { Model } from "../../model/model.ts";
import type { FunctionDeclaration } from "../../normalise/model-types.ts";
import type { DiscoveredMCPTool } from "../../registry/discovered-tool.ts";
import type { ConversationTools } from "../../registry/pinned-tools.ts";
import type { EarlierConversation, OfferedPlace, RecordChange } from "../record.ts";
import type { TurnHost } from "../turn-host.ts";
import { declareOwnFunction, freeName, type OwnFunction, type OwnNames, ownFunctions } from "./own-functions.ts";
import type { OfferReason } from "./tool-budget.ts";
import {
  createToolOffers,
  keyOf,
  type OfferWork,
  prepareOffers,
  type ToolOffer,
  type ToolOffers,
  tokensOfTool,
} from "./tool-offer.ts";

/** The result of looking up a name. */
export type Found =
  | { readonly kind: "tool"; readonly tool: DiscoveredMCPTool }
  | { readonly kind: "own"; readonly own: OwnFunction }
  /** No tool that can be called has this name. */
  | { readonly kind: "none"; readonly why?: string };

/** A tool of a conversation. Texts are unescaped, as the server sent them. */
export interface ConversationTool {
  /** The name that the model uses. */
  readonly name: string;
  readonly server: string;
  readonly serverToolName: string;
  readonly description: string;
  readonly enabled: boolean;
  /** Why the tool cannot be offered to the model; absent if it can be. */
  readonly quarantined?: string;
}

/** A tool of a conversation, and whether it is offered to the model directly. */
export interface OfferedTool {
  readonly name: string;
  readonly server: string;
  readonly serverToolName: string;
  /** The estimated tokens of the tool's declaration. */
  readonly tokens: number;
  /** True if the tool is declared to the model. If false, the model can find the tool by search and call it. */
  readonly offered: boolean;
  readonly reason: string;
}

export interface ToolSelection {
  /**
   * Does the work for very many tools in slices, so that `offer` and other methods do not block other work for long.
   * With `tokens`, also estimates the tokens of every tool, for `offers`.
   */
  readonly prepare: (model: Model, options?: { readonly tokens?: boolean }) => Promise<void>;
  readonly offer: (model: Model) => ToolOffer;
  /** The estimated tokens of the declarations in the last request; 0 before the first request. */
  readonly offeredTokens: () => number;
  /** The tools that the model may use. For each tool: whether it is offered, and why. */
  readonly offers: (model: Model) => readonly OfferedTool[];
  /** Offers tools that a search has found, as far as the budget allows. Takes effect with the next request. */
  readonly reveal: (tools: readonly DiscoveredMCPTool[], model: Model) => void;
  /** The tools that may be called, under the names of this conversation. */
  readonly callable: (model: Model) => readonly DiscoveredMCPTool[];
  readonly find: (name: string, model: Model) => Found;
  /** All names that can be called. */
  readonly names: (model: Model) => readonly Named[];
  readonly servers: () => readonly string[];
  /** Records that the model's API refuses the tool's current definition. */
  readonly quarantine: (tool: DiscoveredMCPTool, reason: string) => void;
  readonly setTool: (server: string, serverToolName: string, enabled: boolean) => void;
  readonly list: (model: Model) => readonly ConversationTool[];
}

/** A name that can be called, with its server and tool. */
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
  /** Whether there are stored results that the model can read. */
  readonly hasResults: () => boolean;
  /**
   * The state of a resumed conversation: the names of its tools, the tools that it offered, and the tools that the user
   * removed.
   */
  readonly earlier?: Pick<EarlierConversation, "names" | "functions" | "offered" | "disabled">;
}

export function createToolSelection(options: ToolSelectionOptions): ToolSelection {
  const { host, servers: chosen, record, hasResults, earlier } = options;
  const disabled = new Set(
    earlier?.disabled.map(({ server: serverName, serverToolName }) => keyOf({ serverName, serverToolName })),
  );
  /** Refused definitions, by tool. The API may accept another definition of the same tool. */
  const refused = new Map<string, { readonly schema: string; readonly reason: string }>();
  const seen = new Map<string, DiscoveredMCPTool>();
  const open = (): ConversationTools => host.openTools(earlier?.names);
  let opened: ConversationTools | undefined;
  let offeredTokens = 0;
  /** The names of the host's own functions. Fixed when the model first sees them, so that no later tool takes one. */
  let ownNames: OwnNames = earlier?.functions ?? {};
  const offersOf = new WeakMap<Model, ToolOffers>();
  /** How many tool names are recorded, and which of the host's own functions. */
  let recorded = { names: earlier?.names.length ?? 0, functions: ownNames };
  /** The declarations that are recorded. They are offered again only to the model that the conversation had. */
  let recordedPlaces = earlier?.offered ?? [];
  let isFirstModel = true;
  /** The tools for which the work of an offer was done in advance. */
  let prepared: (OfferWork & { readonly tools: readonly DiscoveredMCPTool[] }) | undefined;

  function recordNames(from: ConversationTools): void {
    const names = from.names();
    const tools = names.slice(recorded.names);
    const isNew = ownNames !== recorded.functions;
    if (tools.length > 0 || isNew) record({ type: "names", tools, ...(isNew && { functions: ownNames }) });
    recorded = { names: names.length, functions: ownNames };
  }

  /** Records the added declarations. If the beginning of the list has changed, records all declarations. */
  function recordPlaces({ provider }: Model, places: readonly OfferedPlace[]): void {
    if (provider === "manual") return;
    const isContinued = recordedPlaces.every((place, at) => isSamePlace(place, places[at]));
    const from = isContinued ? recordedPlaces.length : 0;
    if (from < places.length || !isContinued) record({ type: "offered", from, places: places.slice(from) });
    recordedPlaces = [...places];
  }

  const servers = (): readonly string[] => chosen ?? host.servers();

  /** All tools in the order of the settings, including tools that cannot be offered. */
  function all({ dialect, provider }: Model, from: ConversationTools = opened ?? open()): readonly DiscoveredMCPTool[] {
    const wanted = new Set(servers());
    // Without a model, the user types the calls, and they may go to any server, including the demo server.
    const isAnyMeant = chosen === undefined && provider === "manual";
    const tools = from.getEveryTool();
    const meant = isAnyMeant ? tools : tools.filter(({ serverName }) => wanted.has(serverName));
    return meant.map((tool) => tool.inDialect(dialect));
  }

  function quarantineOf(tool: DiscoveredMCPTool): string | undefined {
    return tool.quarantine ?? refusalOf(tool);
  }

  function refusalOf(tool: DiscoveredMCPTool): string | undefined {
    const refusal = refused.size === 0 ? undefined : refused.get(keyOf(tool));
    return refusal !== undefined && refusal.schema === schemaOf(tool) ? refusal.reason : undefined;
  }

  const isEnabled = (tool: DiscoveredMCPTool): boolean => disabled.size === 0 || !disabled.has(keyOf(tool));
  /** Whether the tool may be used, decided without compiling its schema. */
  const mayBeUsed = (tool: DiscoveredMCPTool): boolean => isEnabled(tool) && refusalOf(tool) === undefined;

  function nameOf(own: OwnFunction): string {
    const known = ownNames[own];
    if (known !== undefined) return known;
    const tools = (opened ?? open()).getEveryTool();
    const name = freeName(own, (wanted) => tools.some((tool) => tool.name === wanted));
    ownNames = { ...ownNames, [own]: name };
    return name;
  }

  function declareOwn(own: OwnFunction): FunctionDeclaration {
    return declareOwnFunction(own, nameOf);
  }

  function neededFunctions(): readonly OwnFunction[] {
    const isResources = host.offersResources() && servers().some((server) => hasResources(server));
    return [
      ...(isResources ? (["list_resources", "read_resource"] as const) : []),
      ...(hasResults() ? (["read_result"] as const) : []),
    ];
  }

  function openOffers(model: Model): ToolOffers {
    const usedBefore = host.usedTools().map(keyOf);
    return createToolOffers({
      model,
      budget: host.toolBudget(),
      declareOwn,
      isAlwaysLoaded: host.isAlwaysLoaded,
      usedBefore,
      ...(isFirstModel && earlier && { earlier: earlier.offered }),
    });
  }

  function offersFor(model: Model): ToolOffers {
    const known = offersOf.get(model);
    if (known !== undefined) return known;
    const made = openOffers(model);
    isFirstModel = false;
    offersOf.set(model, made);
    return made;
  }

  function offer(model: Model): ToolOffer {
    opened ??= open();
    return offersFor(model).update(all(model).filter(mayBeUsed), neededFunctions());
  }

  function hasResources(server: string): boolean {
    const { resources } = host;
    return resources.getResourcesByServer(server).length > 0 || resources.getTemplatesByServer(server).length > 0;
  }

  function ownFunction(name: string): OwnFunction | undefined {
    return ownFunctions.find((own) => ownNames[own] === name);
  }

  return {
    servers,

    async prepare(model, { tokens: isCounted = false } = {}) {
      await host.toolsReady();
      const tools = (opened ?? open()).getEveryTool();
      const { dialect } = model;
      if (prepared?.tools === tools && prepared.dialect === dialect && (prepared.isCounted || !isCounted)) return;
      await prepareOffers(tools, { dialect, isCounted });
      prepared = { tools, dialect, isCounted };
    },

    offer(model) {
      const made = offer(model);
      for (const tool of made.tools) if (tool !== undefined) seen.set(tool.name, tool);
      if (opened) recordNames(opened);
      recordPlaces(model, offersFor(model).places());
      offeredTokens = made.tokens;
      return made;
    },

    offers(model) {
      // The first request fixes the offered tools. Showing the tools earlier must not fix them.
      const { update, reasonFor } = offersOf.get(model) ?? openOffers(model);
      const tools = all(model).filter(mayBeUsed);
      update(tools, neededFunctions());
      return tools.flatMap((tool) => {
        const tokens = tokensOfTool(tool);
        if (tokens === undefined) return [];
        const { name, serverName: server, serverToolName } = tool;
        const reason: OfferReason = reasonFor(tool) ?? "the budget is used up";
        return [{ name, server, serverToolName, tokens, offered: reason !== "the budget is used up", reason }];
      });
    },

    offeredTokens: () => offeredTokens,

    reveal: (tools, model) => offersFor(model).reveal(tools),

    callable: (model) => all(model).filter(mayBeUsed),

    find(name, model) {
      const own = ownFunction(name);
      if (own !== undefined) return { kind: "own", own };
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
      const own = Object.values(ownNames).map((name) => ({ name }));
      const tools = all(model).filter(mayBeUsed);
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

function isSamePlace(one: OfferedPlace, other: OfferedPlace | undefined): boolean {
  if (other === undefined) return false;
  if ("function" in one) return "function" in other && one.function === other.function;
  return "server" in other && one.server === other.server && one.name === other.name;
}

function schemaOf({ schema }: DiscoveredMCPTool): string {
  return JSON.stringify([schema.name, schema.description, schema.parametersJsonSchema]);
}
