/** The tools of a conversation: their names, and which of them the model is offered directly. */

import type { RunningHost } from "../../host/running-host.ts";
import type { Model } from "../../model/model.ts";
import { toolKey } from "../../normalise/tool-name.ts";
import type { ResultHandles } from "../../results/result-handles.ts";
import type { Pin } from "../../server/names.ts";
import { ConversationTools } from "../../server/pinned-tools.ts";
import type { RegisteredTool } from "../../server/registered-tool.ts";
import { declaresSkills } from "../../skills/skill.ts";
import type { OfferedSkills } from "../../skills/skill-text.ts";
import { nextTurn, runAtOnce, runInTurns, type Sliced } from "../../text/turns.ts";
import type { EarlierConversation, OfferedPlace, RecordChange } from "../conversation.ts";
import { declareOwnFunction, freeName, type OwnFunction, type OwnNames, ownFunctions } from "./own-functions.ts";
import {
  estimateAll,
  keyOf,
  type OfferReason,
  roomFor,
  type ToolOffer,
  ToolOffers,
  tokensOfTool,
} from "./tool-offer.ts";

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

/** The name of a tool or of one of Fairlead's own functions, which have no server. */
export interface Named {
  readonly name: string;
  readonly server?: string;
  readonly serverToolName?: string;
}

/**
 * The tools of one conversation, under the names that its model uses. They get their names when they are first used.
 * Methods that do not wait, except `list`, use the tools as of the last `prepare`.
 */
export class ToolSelection {
  readonly #host: RunningHost;
  readonly #record: RecordChange;
  readonly #results: ResultHandles;
  readonly #chosen: readonly string[] | undefined;
  readonly #earlier: EarlierTools | undefined;
  readonly #recorded: ToolRecord;
  readonly #disabled: Set<string>;
  /** The definitions that the API has refused, by tool key. The API may accept another definition of the same tool. */
  readonly #refused = new Map<string, { readonly schema: string; readonly reason: string }>();
  readonly #seen = new Map<string, RegisteredTool>();
  readonly #lookups = new ToolLookups();
  readonly #offersOf = new WeakMap<Model, ToolOffers>();
  #opened: ConversationTools | undefined;
  #prepared: readonly RegisteredTool[] | undefined;
  /** Computed again when a server or the user's choice of tools changes. */
  #usable: { readonly lookup: ToolLookup; readonly tools: readonly RegisteredTool[] } | undefined;
  /** A name is fixed when it is first needed, so that a later tool cannot take it. */
  #ownNames: OwnNames;
  #isFirstModel = true;
  /** The skills of the last request. */
  #offeredSkills: OfferedSkills | undefined;
  #offeredTokens = 0;

  /**
   * @param chosen The servers that the user chose. Default: all.
   * @param earlier The recorded state, if the conversation is resumed.
   */
  constructor(
    host: RunningHost,
    record: RecordChange,
    results: ResultHandles,
    chosen: readonly string[] | undefined,
    earlier: EarlierTools | undefined,
  ) {
    this.#host = host;
    this.#record = record;
    this.#results = results;
    this.#chosen = chosen;
    this.#earlier = earlier;
    this.#recorded = new ToolRecord(record, earlier);
    this.#disabled = new Set(earlier?.disabled.map(({ server, serverToolName }) => toolKey(server, serverToolName)));
    this.#ownNames = earlier?.functions ?? {};
  }

  /** The estimated tokens of the declarations in the last request; 0 before the first request. */
  get offeredTokens(): number {
    return this.#offeredTokens;
  }

  servers(): readonly string[] {
    const { servers } = this.#host;
    return this.#chosen ?? servers.names().filter((name) => servers.isMeantByAll(name));
  }

  /** Gives every tool its name, with pauses for other code. */
  async prepare(model: Model): Promise<void> {
    await this.#host.registries.tools.ready();
    this.#prepared = await this.#current().ready();
    await this.#lookups.prepare(this.#sourceOf(this.#prepared, model));
  }

  /** The declarations of the next request. Pauses regularly for other code. */
  async offerTools(model: Model): Promise<ToolOffer> {
    await this.#host.registries.tools.ready();
    this.#opened ??= this.#open();
    await this.prepare(model);
    await this.#updateSkills(model);
    const toolOffers = this.#offersOf.get(model) ?? (await this.#openOffers(model));
    this.#isFirstModel = false;
    this.#offersOf.set(model, toolOffers);
    const made = await this.#update(toolOffers, model);
    for (const tool of made.tools) if (tool !== undefined) this.#seen.set(tool.name, tool);
    await this.#recorded.names(this.#opened.names(), this.#ownNames);
    this.#recorded.offeredPlaces(model, toolOffers.offeredPlaces);
    this.#offeredTokens = made.tokens;
    return made;
  }

  /** The skills for the system text of the next request. */
  get offeredSkills(): OfferedSkills | undefined {
    return this.#offeredSkills;
  }

  async #updateSkills(model: Model): Promise<void> {
    const { servers } = this.#host;
    // A server need not list its skills: the model can load them by their URIs.
    const hasSkills = this.servers().some((name) => declaresSkills(servers.find(name)?.facts()?.capabilities ?? {}));
    if (!hasSkills || model.provider === "manual") {
      this.#offeredSkills = undefined;
      return;
    }
    const { offerSkills } = await import("../../skills/skill-text.ts");
    const { tokens } = roomFor(model, servers.configuration.settings.host.toolBudget);
    const lists = this.servers().map((server) => ({ server, skills: servers.find(server)?.skills.all() ?? [] }));
    this.#offeredSkills = offerSkills(lists, tokens, this.#host.policy.isSkillDenied);
  }

  /** The tools that the model may use. For each: whether it is offered, and why. Pauses for other code. */
  async offeredTools(model: Model): Promise<readonly OfferedTool[]> {
    await this.prepare(model);
    const tools = this.callable(model);
    await estimateAll(tools);
    // Does not keep new offers, because the first request to the model decides which tools are offered.
    const toolOffers = this.#offersOf.get(model) ?? (await this.#openOffers(model));
    await this.#update(toolOffers, model);
    return tools.flatMap((tool) => {
      const tokens = tokensOfTool(tool);
      if (tokens === undefined) return [];
      const { name, serverName: server, serverToolName } = tool;
      const reason: OfferReason = toolOffers.reasonFor(tool) ?? "the tool budget is used up";
      return [{ name, server, serverToolName, tokens, offered: reason !== "the tool budget is used up", reason }];
    });
  }

  /** Offers tools that a search has found, as far as the budget allows. Takes effect with the next request. */
  reveal(tools: readonly RegisteredTool[], model: Model): void {
    this.#offersOf.get(model)?.reveal(tools);
  }

  /** The tools that may be called. Returns the same array until these tools change. */
  callable(model: Model): readonly RegisteredTool[] {
    const lookup = this.#lookUp(model);
    if (this.#disabled.size === 0 && this.#refused.size === 0) return lookup.tools;
    if (this.#usable?.lookup !== lookup)
      this.#usable = { lookup, tools: lookup.tools.filter((tool) => this.#mayBeUsed(tool)) };
    return this.#usable.tools;
  }

  /** Finds a tool by its key (see `toolKey`); undefined if the tool cannot be called. */
  findByKey(key: string, model: Model): RegisteredTool | undefined {
    const tool = this.#lookUp(model).byKey.get(key);
    return tool !== undefined && this.#mayBeUsed(tool) ? tool : undefined;
  }

  find(name: string, model: Model): Found {
    const own = ownFunctions.find((each) => this.#ownNames[each] === name);
    if (own !== undefined) return { kind: "own", own };
    const tool = this.#lookUp(model).byName.get(name);
    if (tool === undefined) {
      const gone = this.#seen.get(name);
      return { kind: "none", why: gone && `the server "${gone.serverName}" no longer has the tool` };
    }
    const quarantine = this.#quarantineOf(tool);
    if (quarantine !== undefined) return { kind: "none", why: `the tool is not offered to you: ${quarantine}` };
    return this.#isEnabled(tool) ? { kind: "tool", tool } : { kind: "none", why: "the user has disabled the tool" };
  }

  /** The names of all enabled tools that the API has not refused, and of the own functions. */
  names(model: Model): readonly Named[] {
    const own = Object.values(this.#ownNames).map((name) => ({ name }));
    const tools = this.callable(model).map(({ name, serverName: server, serverToolName }) => ({
      name,
      server,
      serverToolName,
    }));
    return [...tools, ...own];
  }

  list(model: Model): readonly ConversationTool[] {
    return this.#lookups.now(this.#sourceOf(this.#current().getEveryTool(), model)).tools.map((tool) => {
      const { name, serverName: server, serverToolName, description } = tool;
      const quarantined = this.#quarantineOf(tool);
      return { name, server, serverToolName, description, enabled: this.#isEnabled(tool), quarantined };
    });
  }

  /** Records that the model's API refuses the tool's current definition. */
  quarantine(tool: RegisteredTool, reason: string): void {
    this.#refused.set(keyOf(tool), { schema: schemaOf(tool), reason });
    this.#usable = undefined;
  }

  setTool(server: string, serverToolName: string, enabled: boolean): void {
    const key = toolKey(server, serverToolName);
    if (enabled) this.#disabled.delete(key);
    else this.#disabled.add(key);
    this.#usable = undefined;
    this.#record({ type: "tool", server, serverToolName, enabled });
  }

  #open(): ConversationTools {
    return new ConversationTools(this.#host.registries.tools, this.#earlier?.names);
  }

  #current(): ConversationTools {
    /*
     * In a resumed conversation, the model knows the tools' names. A second `open` could change them, so the tools are
     * opened once.
     */
    if (this.#earlier !== undefined) this.#opened ??= this.#open();
    return this.#opened ?? this.#open();
  }

  #sourceOf(every: readonly RegisteredTool[], { dialect, provider }: Model): LookupSource {
    // Without a model, the user types the calls. A typed call may go to any server, including the demo server.
    const isAnyMeant = this.#chosen === undefined && provider === "manual";
    return { every, dialect, servers: isAnyMeant ? undefined : this.servers() };
  }

  #lookUp(model: Model): ToolLookup {
    return this.#lookups.now(this.#sourceOf(this.#prepared ?? this.#current().getEveryTool(), model));
  }

  #quarantineOf(tool: RegisteredTool): string | undefined {
    return tool.quarantine ?? this.#refusalOf(tool);
  }

  #refusalOf(tool: RegisteredTool): string | undefined {
    const refusal = this.#refused.size === 0 ? undefined : this.#refused.get(keyOf(tool));
    return refusal !== undefined && refusal.schema === schemaOf(tool) ? refusal.reason : undefined;
  }

  #isEnabled(tool: RegisteredTool): boolean {
    return this.#disabled.size === 0 || !this.#disabled.has(keyOf(tool));
  }

  #mayBeUsed(tool: RegisteredTool): boolean {
    return this.#isEnabled(tool) && this.#refusalOf(tool) === undefined;
  }

  #nameOf(own: OwnFunction): string {
    const chosenName = this.#ownNames[own];
    if (chosenName !== undefined) return chosenName;
    const every = this.#prepared ?? this.#current().getEveryTool();
    const name = freeName(own, (wanted) => every.some((tool) => tool.name === wanted));
    this.#ownNames = { ...this.#ownNames, [own]: name };
    return name;
  }

  #neededFunctions(): readonly OwnFunction[] {
    const { registries, servers } = this.#host;
    const hasResources = (server: string): boolean =>
      registries.resources.getResourcesByServer(server).length > 0 ||
      registries.resources.getTemplatesByServer(server).length > 0;
    const needed: OwnFunction[] = [];
    if (servers.configuration.settings.host.resourceFunctions && this.servers().some(hasResources))
      needed.push("list_resources", "read_resource");
    if (this.#results.isUsed) needed.push("read_result");
    if (this.#offeredSkills !== undefined) needed.push("load_skill", "read_skill_file");
    return needed;
  }

  async #openOffers(model: Model): Promise<ToolOffers> {
    const { servers, usedTools } = this.#host;
    const used = model.provider === "manual" ? [] : await usedTools();
    return new ToolOffers({
      model,
      budget: servers.configuration.settings.host.toolBudget,
      // The list of skills is part of the tool budget.
      reserved: this.#offeredSkills?.tokens ?? 0,
      declareOwn: (own) => declareOwnFunction(own, (each) => this.#nameOf(each)),
      isAlwaysLoaded: (server) => servers.find(server)?.definition?.extras.alwaysLoad ?? false,
      usedBefore: used.map(keyOf),
      earlier: this.#isFirstModel ? this.#earlier?.offered : undefined,
    });
  }

  #update(toolOffers: ToolOffers, model: Model): Promise<ToolOffer> {
    const find = (key: string): RegisteredTool | undefined => this.findByKey(key, model);
    return toolOffers.update({ tools: this.callable(model), find }, this.#neededFunctions());
  }
}

type EarlierTools = Pick<EarlierConversation, "names" | "functions" | "offered" | "disabled">;

function schemaOf({ schema }: RegisteredTool): string {
  return JSON.stringify([schema.name, schema.description, schema.parametersJsonSchema]);
}

/** One line of the recorded conversation has at most this many names. Writing it takes a few milliseconds. */
const namesPerLine = 1000;

/** Writes changes of the tools' names and declarations into the recorded conversation. */
export class ToolRecord {
  readonly #record: RecordChange;
  #names: number;
  #functions: OwnNames;
  #recordedPlaces: readonly OfferedPlace[];

  /** @param earlier What a resumed conversation has recorded already. */
  constructor(record: RecordChange, earlier?: Pick<EarlierConversation, "names" | "functions" | "offered">) {
    this.#record = record;
    this.#names = earlier?.names.length ?? 0;
    this.#functions = earlier?.functions ?? {};
    this.#recordedPlaces = earlier?.offered ?? [];
  }

  /** Records the names that are not recorded yet, with pauses for other code. */
  async names(names: readonly Pin[], functions: OwnNames): Promise<void> {
    const isNew = functions !== this.#functions;
    this.#functions = functions;
    if (isNew || this.#names < names.length) this.#recordNext(names, isNew ? { functions } : {});
    while (this.#names < names.length) {
      await nextTurn();
      this.#recordNext(names, {});
    }
  }

  /** Records the new declarations. If earlier declarations have changed, records all. */
  offeredPlaces({ provider }: Model, offered: readonly OfferedPlace[]): void {
    if (provider === "manual") return;
    const isContinued = this.#recordedPlaces.every((recorded, at) => isSamePlace(recorded, offered[at]));
    const from = isContinued ? this.#recordedPlaces.length : 0;
    if (from < offered.length || !isContinued) this.#record({ type: "offered", from, places: offered.slice(from) });
    this.#recordedPlaces = [...offered];
  }

  #recordNext(names: readonly Pin[], functions: { readonly functions?: OwnNames }): void {
    const tools = names.slice(this.#names, this.#names + namesPerLine);
    this.#names += tools.length;
    this.#record({ type: "names", tools, ...functions });
  }
}

function isSamePlace(one: OfferedPlace, other: OfferedPlace | undefined): boolean {
  if (other === undefined) return false;
  if ("function" in one) return "function" in other && one.function === other.function;
  return "server" in other && one.server === other.server && one.name === other.name;
}

/** The tools of the chosen servers in the order of the settings, including tools that cannot be offered. */
interface ToolLookup {
  readonly tools: readonly RegisteredTool[];
  readonly byName: ReadonlyMap<string, RegisteredTool>;
  readonly byKey: ReadonlyMap<string, RegisteredTool>;
}

/** The input of a lookup: the tools, the model's schema dialect and the chosen servers. */
export interface LookupSource {
  readonly every: readonly RegisteredTool[];
  readonly dialect: Model["dialect"];
  /** The chosen servers; undefined if tools of all servers may be used. */
  readonly servers: readonly string[] | undefined;
}

/** Creates lookups. Keeps the last one, because most requests have the same tools. */
export class ToolLookups {
  #last: { readonly source: LookupSource; readonly lookup: ToolLookup } | undefined;

  /** Creates the lookup without a pause, for a caller that cannot wait. */
  now(source: LookupSource): ToolLookup {
    return this.#kept(source) ?? this.#keep(source, runAtOnce(lookUp(source)));
  }

  /** Creates the lookup, with pauses for other code. If the input has not changed, returns the last lookup. */
  async prepare(source: LookupSource): Promise<ToolLookup> {
    const found = this.#kept(source) ?? (await runInTurns(lookUp(source), () => this.#kept(source) !== undefined));
    return found === undefined ? this.now(source) : this.#keep(source, found);
  }

  #kept(source: LookupSource): ToolLookup | undefined {
    return this.#last !== undefined && isSameSource(this.#last.source, source) ? this.#last.lookup : undefined;
  }

  #keep(source: LookupSource, lookup: ToolLookup): ToolLookup {
    this.#last = { source, lookup };
    return lookup;
  }
}

/** Between two pauses for other code, this many tools are added to a lookup. */
const toolsPerSlice = 500;

function* lookUp({ every, dialect, servers }: LookupSource): Sliced<ToolLookup> {
  const wanted = servers && new Set(servers);
  const tools: RegisteredTool[] = [];
  const byName = new Map<string, RegisteredTool>();
  const byKey = new Map<string, RegisteredTool>();
  for (const [at, each] of every.entries()) {
    if (at % toolsPerSlice === toolsPerSlice - 1) yield;
    if (wanted?.has(each.serverName) === false) continue;
    const tool = each.inDialect(dialect);
    tools.push(tool);
    byName.set(tool.name, tool);
    byKey.set(keyOf(tool), tool);
  }
  return { tools, byName, byKey };
}

function isSameSource(one: LookupSource, other: LookupSource): boolean {
  return one.every === other.every && one.dialect === other.dialect && isSameList(one.servers, other.servers);
}

function isSameList(one: readonly string[] | undefined, other: readonly string[] | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return one.length === other.length && one.every((each, at) => each === other[at]);
}
