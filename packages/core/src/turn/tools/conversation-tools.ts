/** The tools of a conversation: their names, and which of them the model is offered directly. */

import type { Model } from "../../model/model.ts";
import type { FunctionDeclaration } from "../../normalise/model-types.ts";
import type { Pin } from "../../normalise/tool-name.ts";
import type { ConversationTools } from "../../registry/pinned-tools.ts";
import type { RegisteredTool } from "../../registry/registered-tool.ts";
import { nextTurn } from "../../text/turns.ts";
import type { EarlierConversation, OfferedPlace, RecordChange } from "../record.ts";
import type { TurnHost } from "../turn-host.ts";
import { declareOwnFunction, freeName, type OwnFunction, type OwnNames, ownFunctions } from "./own-functions.ts";
import type { OfferReason } from "./tool-budget.ts";
import { createToolLookups, keyOf, type LookupSource, type ToolLookup } from "./tool-lookup.ts";
import { createToolOffers, estimateAll, type ToolOffer, type ToolOffers, tokensOfTool } from "./tool-offer.ts";

/** The result of looking up the name of a tool or of one of Fairlead's own functions. */
export type Found =
  | { readonly kind: "tool"; readonly tool: RegisteredTool }
  | { readonly kind: "own"; readonly own: OwnFunction }
  /** No tool that can be called has this name. */
  | { readonly kind: "none"; readonly why?: string };

/** A tool of a conversation. Texts are not escaped. */
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
  readonly tokens: number;
  /** True if the tool is declared to the model. If false, the model can find the tool by search and call it. */
  readonly offered: boolean;
  readonly reason: string;
}

/** The tools of one conversation, under the names that its model uses. */
export interface ToolSelection {
  /**
   * Gives every tool its name, with pauses for other code. Methods that do not wait, except `list`, use the tools as of
   * the last `prepare`.
   */
  readonly prepare: (model: Model) => Promise<void>;
  /** The declarations of the next request. Pauses regularly for other code. */
  readonly offerTools: (model: Model) => Promise<ToolOffer>;
  /** The estimated tokens of the declarations in the last request; 0 before the first request. */
  readonly offeredTokens: () => number;
  /** The tools that the model may use. For each: whether it is offered, and why. Pauses for other code. */
  readonly offeredTools: (model: Model) => Promise<readonly OfferedTool[]>;
  /** Offers tools that a search has found, as far as the budget allows. Takes effect with the next request. */
  readonly reveal: (tools: readonly RegisteredTool[], model: Model) => void;
  /** The tools that may be called, under the names of this conversation. */
  readonly callable: (model: Model) => readonly RegisteredTool[];
  /** Finds a tool by its key (see `toolKey`); undefined if the tool cannot be called. */
  readonly findByKey: (key: string, model: Model) => RegisteredTool | undefined;
  readonly find: (name: string, model: Model) => Found;
  /** The names of all enabled tools that the API has not refused, and of the own functions. */
  readonly names: (model: Model) => readonly Named[];
  readonly servers: () => readonly string[];
  /** Records that the model's API refuses the tool's current definition. */
  readonly quarantine: (tool: RegisteredTool, reason: string) => void;
  readonly setTool: (server: string, serverToolName: string, enabled: boolean) => void;
  readonly list: (model: Model) => readonly ConversationTool[];
}

/** The name of a tool or of one of Fairlead's own functions, which have no server. */
export interface Named {
  readonly name: string;
  readonly server?: string;
  readonly serverToolName?: string;
}

/** The host and servers that the tools come from, and the recorder of changes. */
export interface ToolSelectionOptions {
  readonly host: TurnHost;
  /** The servers that the user chose. Default: all. */
  readonly servers?: readonly string[];
  readonly record: RecordChange;
  /** Whether there are stored results that the model can read. */
  readonly hasResults: () => boolean;
  /** The recorded state, if the conversation is resumed. */
  readonly earlier?: Pick<EarlierConversation, "names" | "functions" | "offered" | "disabled">;
}

/** Creates the tools of a conversation. They get their names when they are first used. */
export function createToolSelection(options: ToolSelectionOptions): ToolSelection {
  const { host, servers: chosen, record, hasResults, earlier } = options;
  const disabled = new Set(
    earlier?.disabled.map(({ server: serverName, serverToolName }) => keyOf({ serverName, serverToolName })),
  );
  /** The definitions that the API has refused, by tool key. The API may accept another definition of the same tool. */
  const refused = new Map<string, { readonly schema: string; readonly reason: string }>();
  const seen = new Map<string, RegisteredTool>();
  const open = (): ConversationTools => host.openTools(earlier?.names);
  let opened: ConversationTools | undefined;
  let offeredTokens = 0;
  /** A name is fixed when it is first needed, so that a later tool cannot take it. */
  let ownNames: OwnNames = earlier?.functions ?? {};
  const offersOf = new WeakMap<Model, ToolOffers>();
  const recorded = createToolRecord(record, earlier);
  let isFirstModel = true;
  const lookups = createToolLookups();
  let prepared: readonly RegisteredTool[] | undefined;
  /** Computed again when a server or the user's choice of tools changes. */
  let usable: { readonly lookup: ToolLookup; readonly tools: readonly RegisteredTool[] } | undefined;

  const servers = (): readonly string[] => chosen ?? host.servers();

  function current(): ConversationTools {
    /*
     * In a resumed conversation, the model knows the tools' names. A second `open` could change them, so the tools are
     * opened once.
     */
    if (earlier !== undefined) opened ??= open();
    return opened ?? open();
  }

  function sourceOf(every: readonly RegisteredTool[], { dialect, provider }: Model): LookupSource {
    // Without a model, the user types the calls. A typed call may go to any server, including the demo server.
    const isAnyMeant = chosen === undefined && provider === "manual";
    return { every, dialect, servers: isAnyMeant ? undefined : servers() };
  }

  const lookUp = (model: Model): ToolLookup => lookups.now(sourceOf(prepared ?? current().getEveryTool(), model));

  /** Returns the same array until the usable tools change. */
  function usableTools(model: Model): readonly RegisteredTool[] {
    const lookup = lookUp(model);
    if (disabled.size === 0 && refused.size === 0) return lookup.tools;
    if (usable?.lookup !== lookup) usable = { lookup, tools: lookup.tools.filter(mayBeUsed) };
    return usable.tools;
  }

  function quarantineOf(tool: RegisteredTool): string | undefined {
    return tool.quarantine ?? refusalOf(tool);
  }

  function refusalOf(tool: RegisteredTool): string | undefined {
    const refusal = refused.size === 0 ? undefined : refused.get(keyOf(tool));
    return refusal !== undefined && refusal.schema === schemaOf(tool) ? refusal.reason : undefined;
  }

  const isEnabled = (tool: RegisteredTool): boolean => disabled.size === 0 || !disabled.has(keyOf(tool));
  const mayBeUsed = (tool: RegisteredTool): boolean => isEnabled(tool) && refusalOf(tool) === undefined;

  function nameOf(own: OwnFunction): string {
    const chosenName = ownNames[own];
    if (chosenName !== undefined) return chosenName;
    const every = prepared ?? current().getEveryTool();
    const name = freeName(own, (wanted) => every.some((tool) => tool.name === wanted));
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
      earlier: isFirstModel ? earlier?.offered : undefined,
    });
  }

  function offersFor(model: Model): ToolOffers {
    const existing = offersOf.get(model);
    if (existing !== undefined) return existing;
    const made = openOffers(model);
    isFirstModel = false;
    offersOf.set(model, made);
    return made;
  }

  async function prepare(model: Model): Promise<void> {
    await host.toolsReady();
    prepared = await current().ready();
    await lookups.prepare(sourceOf(prepared, model));
  }

  function findByKey(key: string, model: Model): RegisteredTool | undefined {
    const tool = lookUp(model).byKey.get(key);
    return tool !== undefined && mayBeUsed(tool) ? tool : undefined;
  }

  function update({ update: decide }: ToolOffers, model: Model): Promise<ToolOffer> {
    return decide({ tools: usableTools(model), find: (key) => findByKey(key, model) }, neededFunctions());
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

    prepare,

    async offerTools(model) {
      await host.toolsReady();
      opened ??= open();
      await prepare(model);
      const toolOffers = offersFor(model);
      const made = await update(toolOffers, model);
      for (const tool of made.tools) if (tool !== undefined) seen.set(tool.name, tool);
      await recorded.names(opened.names(), ownNames);
      recorded.offeredPlaces(model, toolOffers.offeredPlaces());
      offeredTokens = made.tokens;
      return made;
    },

    async offeredTools(model) {
      await prepare(model);
      const tools = usableTools(model);
      await estimateAll(tools);
      /*
       * Does not store new offers in `offersOf`, because the first request to the model decides which tools are
       * offered.
       */
      const toolOffers = offersOf.get(model) ?? openOffers(model);
      await update(toolOffers, model);
      return tools.flatMap((tool) => {
        const tokens = tokensOfTool(tool);
        if (tokens === undefined) return [];
        const { name, serverName: server, serverToolName } = tool;
        const reason: OfferReason = toolOffers.reasonFor(tool) ?? "the tool budget is used up";
        return [{ name, server, serverToolName, tokens, offered: reason !== "the tool budget is used up", reason }];
      });
    },

    offeredTokens: () => offeredTokens,

    reveal: (tools, model) => offersFor(model).reveal(tools),

    callable: usableTools,
    findByKey,

    find(name, model) {
      const own = ownFunction(name);
      if (own !== undefined) return { kind: "own", own };
      const tool = lookUp(model).byName.get(name);
      if (tool === undefined) {
        const gone = seen.get(name);
        return { kind: "none", why: gone && `the server "${gone.serverName}" no longer has the tool` };
      }
      const quarantine = quarantineOf(tool);
      if (quarantine !== undefined) return { kind: "none", why: `the tool is not offered to you: ${quarantine}` };
      return isEnabled(tool) ? { kind: "tool", tool } : { kind: "none", why: "the user has disabled the tool" };
    },

    names(model) {
      const own = Object.values(ownNames).map((name) => ({ name }));
      return [
        ...usableTools(model).map(({ name, serverName: server, serverToolName }) => ({ name, server, serverToolName })),
        ...own,
      ];
    },

    quarantine(tool, reason) {
      refused.set(keyOf(tool), { schema: schemaOf(tool), reason });
      usable = undefined;
    },

    setTool(serverName, serverToolName, enabled) {
      const key = keyOf({ serverName, serverToolName });
      if (enabled) disabled.delete(key);
      else disabled.add(key);
      usable = undefined;
      record({ type: "tool", server: serverName, serverToolName, enabled });
    },

    list: (model) =>
      lookups.now(sourceOf(current().getEveryTool(), model)).tools.map((tool) => {
        const { name, serverName: server, serverToolName, description } = tool;
        const quarantined = quarantineOf(tool);
        const listing = { name, server, serverToolName, description, enabled: isEnabled(tool) };
        return quarantined === undefined ? listing : { ...listing, quarantined };
      }),
  };
}

function schemaOf({ schema }: RegisteredTool): string {
  return JSON.stringify([schema.name, schema.description, schema.parametersJsonSchema]);
}

/** Writes changes of the tools' names and declarations into the recorded conversation. */
interface ToolRecord {
  /** Records the names that are not recorded yet, with pauses for other code. */
  readonly names: (names: readonly Pin[], functions: OwnNames) => Promise<void>;
  /** Records the new declarations. If earlier declarations have changed, records all. */
  readonly offeredPlaces: (model: Model, offered: readonly OfferedPlace[]) => void;
}

/** One line of the recorded conversation has at most this many names. Writing it takes a few milliseconds. */
const namesPerLine = 1000;

/** Creates the record. `earlier` is what a resumed conversation has recorded already. */
export function createToolRecord(
  record: RecordChange,
  earlier: Pick<EarlierConversation, "names" | "functions" | "offered"> | undefined,
): ToolRecord {
  let recordedNames = earlier?.names.length ?? 0;
  let recordedFunctions: OwnNames = earlier?.functions ?? {};
  let recordedPlaces = earlier?.offered ?? [];

  return {
    async names(names, functions) {
      const isNew = functions !== recordedFunctions;
      recordedFunctions = functions;
      if (isNew || recordedNames < names.length) recordNext(names, isNew ? { functions } : {});
      while (recordedNames < names.length) {
        await nextTurn();
        recordNext(names, {});
      }
    },

    offeredPlaces({ provider }, offered) {
      if (provider === "manual") return;
      const isContinued = recordedPlaces.every((recordedPlace, at) => isSamePlace(recordedPlace, offered[at]));
      const from = isContinued ? recordedPlaces.length : 0;
      if (from < offered.length || !isContinued) record({ type: "offered", from, places: offered.slice(from) });
      recordedPlaces = [...offered];
    },
  };

  function recordNext(names: readonly Pin[], functions: { readonly functions?: OwnNames }): void {
    const tools = names.slice(recordedNames, recordedNames + namesPerLine);
    recordedNames += tools.length;
    record({ type: "names", tools, ...functions });
  }
}

function isSamePlace(one: OfferedPlace, other: OfferedPlace | undefined): boolean {
  if (other === undefined) return false;
  if ("function" in one) return "function" in other && one.function === other.function;
  return "server" in other && one.server === other.server && one.name === other.name;
}
