/**
 * The declarations that a conversation sends to one model. New declarations are added at the end and earlier ones stay
 * in place, because APIs cache the beginning of a request.
 */

import type { Model } from "../../model/model.ts";
import type { FunctionDeclaration } from "../../normalise/model-types.ts";
import { toolKey } from "../../normalise/tool-name.ts";
import type { RegisteredTool } from "../../server/registered-tool.ts";
import { groupBy } from "../../text/group-by.ts";
import { estimateTokens } from "../../text/token-estimate.ts";
import { createTurns, type Turns } from "../../text/turns.ts";
import type { OfferedPlace } from "../conversation.ts";
import type { OwnFunction } from "./own-functions.ts";

/** The declarations of one request. */
export interface ToolOffer {
  readonly declarations: readonly FunctionDeclaration[];
  /** The tools, at the same index as their declaration. Undefined for one of Fairlead's own functions. */
  readonly tools: readonly (RegisteredTool | undefined)[];
  /** How many tools are not declared; the model can find them by search. */
  readonly deferred: number;
  readonly tokens: number;
}

/** The model, the budget, and what a resumed conversation declared before. */
interface OfferOptions extends Omit<BudgetRules, "room"> {
  readonly model: Model;
  readonly budget: { readonly tokens?: number; readonly tools?: number };
  /** The tokens of the budget that are used for something else than tools. */
  readonly reserved?: number;
  readonly declareOwn: (own: OwnFunction) => FunctionDeclaration;
  /** The declarations that were offered before the conversation was resumed. */
  readonly earlier?: readonly OfferedPlace[];
}

/** The tools that may be offered now. */
export interface OfferedFrom {
  /** Must be a new array if the tools have changed, because an update compares only the arrays. */
  readonly tools: readonly RegisteredTool[];
  /** Finds one of `tools` by its key (see `toolKey`). */
  readonly find: (key: string) => RegisteredTool | undefined;
}

const searchFunctions: readonly OwnFunction[] = ["search_tools", "call_tool"];
const noLimit: ToolRoom = { tokens: Number.POSITIVE_INFINITY, count: Number.POSITIVE_INFINITY };
/** Between two pauses for other code, this many tools are handled. */
const toolsPerTurn = 500;
const sizePerTool = 1000;
/**
 * The share of the free budget that one server may take with tools that connect late or that a search finds. A server
 * can have thousands of tools, and can write descriptions that every search finds.
 */
const mostOfServer = 0.75;

/**
 * The tools that one model gets directly. The first `update` decides which tools fit into the budget. Later tools are
 * added at the end.
 */
export class ToolOffers {
  readonly #declareOwn: OfferOptions["declareOwn"];
  readonly #earlier: readonly OfferedPlace[];
  readonly #rules: Omit<BudgetRules, "room">;
  readonly #room: ToolRoom;
  readonly #reasons = new Map<string, OfferReason>();
  /** The keys of all tools that were checked against the budget. `#reasons` has those that fit. */
  readonly #considered = new Set<string>();
  readonly #offeredPlaces: OfferedPlace[] = [];
  /** The part of the budget that the tools of each server take which were added after the first request. */
  readonly #added = new Map<string, ToolRoom>();
  /** What each server may take of the budget that the first request left. */
  #share: ToolRoom = noLimit;
  #left: ToolRoom | undefined;
  #latest: readonly RegisteredTool[] | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor({ model, budget, reserved = 0, declareOwn, earlier = [], ...rules }: OfferOptions) {
    this.#declareOwn = declareOwn;
    this.#earlier = earlier;
    this.#rules = rules;
    // If the user types the calls, no model gets declarations, so there is no limit.
    this.#room = model.provider === "manual" ? noLimit : roomFor(model, budget, reserved);
  }

  /** All declarations so far, including declarations of tools that no longer exist. */
  get offeredPlaces(): readonly OfferedPlace[] {
    return this.#offeredPlaces;
  }

  /**
   * Updates the offered tools. Pauses regularly, because there may be very many tools. A second update waits for the
   * first.
   *
   * @param own Fairlead's own functions to declare with the tools.
   */
  update(from: OfferedFrom, own: readonly OwnFunction[]): Promise<ToolOffer> {
    const updated = this.#last.then(() => this.#update(from, own));
    this.#last = updated.catch(() => undefined);
    return updated;
  }

  /** Offers tools that a search has found, as far as the budget allows. */
  reveal(tools: readonly RegisteredTool[]): void {
    for (const tool of tools)
      if (this.#considered.has(keyOf(tool)) && !this.#reasons.has(keyOf(tool))) this.#append(tool, "found by search");
  }

  reasonFor(tool: RegisteredTool): OfferReason | undefined {
    const isConsidered = this.#considered.has(keyOf(tool));
    return this.#reasons.get(keyOf(tool)) ?? (isConsidered ? "the tool budget is used up" : undefined);
  }

  #isDeclared(own: OwnFunction): boolean {
    return this.#offeredPlaces.some((each) => "function" in each && each.function === own);
  }

  #addOwn(some: readonly OwnFunction[]): void {
    for (const own of some) if (!this.#isDeclared(own)) this.#offeredPlaces.push({ function: own });
  }

  /**
   * The part of the budget that Fairlead's own functions take. Includes `read_result`, which the model may need at any
   * time.
   */
  #ownRoom(some: readonly OwnFunction[]): ToolRoom {
    const all = new Set<OwnFunction>([...some, "read_result"]);
    const tokens = [...all].reduce((sum, own) => sum + costOf(this.#declareOwn(own)), 0);
    return { tokens, count: all.size };
  }

  async #consider(tools: readonly RegisteredTool[], turns: Turns): Promise<void> {
    for (const tool of tools) {
      this.#considered.add(keyOf(tool));
      await turns.done(1);
    }
  }

  /** Decides, before the first request to the model, which of the known tools are offered. */
  async #plan(tools: readonly RegisteredTool[], own: readonly OwnFunction[], turns: Turns): Promise<void> {
    const budgeted: BudgetedTool[] = [];
    for (const tool of tools) {
      const each = toBudgeted(tool);
      budgeted.push(each);
      await turns.done(1 + each.size / sizePerTool);
    }
    const isEvery = (await tokensWithin(budgeted, without(this.#room, this.#ownRoom(own)), turns)) !== undefined;
    const functions = isEvery ? own : [...own, ...searchFunctions];
    const rest = without(this.#room, this.#ownRoom(functions));
    const planned = await planOffer(budgeted, { ...this.#rules, room: rest }, turns);
    const offered = budgeted.filter(({ key }) => planned.has(key)).sort(byServerAndName);
    const tokens = (await tokensWithin(offered, noLimit, turns)) ?? 0;
    await this.#consider(tools, turns);
    for (const [key, reason] of planned) this.#reasons.set(key, reason);
    for (const { server, name } of offered) this.#offeredPlaces.push({ server, name });
    this.#addOwn(functions);
    this.#begin(without(rest, { tokens, count: offered.length }));
  }

  #begin(rest: ToolRoom): void {
    this.#left = rest;
    this.#share = { tokens: rest.tokens * mostOfServer, count: Math.ceil(rest.count * mostOfServer) };
  }

  /**
   * Declares the same tools as before the conversation was resumed. Returns false if there were none, or if they no
   * longer fit into the budget.
   */
  async #planAsBefore({ tools, find }: OfferedFrom, own: readonly OwnFunction[], turns: Turns): Promise<boolean> {
    const before = new Set(this.#earlier.flatMap((each) => ("server" in each ? toolKey(each.server, each.name) : [])));
    const functions = [...own, ...this.#earlier.flatMap((each) => ("function" in each ? each.function : []))];
    const offered = [...before].flatMap((key) => find(key) ?? []);
    const tokens = (await tokensWithin(offered.map(toBudgeted), noLimit, turns)) ?? 0;
    const rest = without(without(this.#room, this.#ownRoom(functions)), { tokens, count: offered.length });
    if (before.size === 0 || !isRoom(rest)) return false;
    this.#offeredPlaces.push(...this.#earlier);
    this.#addOwn(functions);
    /*
     * If `search_tools` was not declared, the model got all earlier tools. So a tool without a declaration is new, and
     * `appendLate` adds it.
     */
    await this.#consider(this.#isDeclared("search_tools") ? tools : offered, turns);
    for (const tool of offered) this.#reasons.set(keyOf(tool), "the tool was offered before in this conversation");
    this.#begin(rest);
    return true;
  }

  /** Whether no other server could use the place, or the user wants the server's tools to be declared. */
  #needsNoShare(server: string): boolean {
    return this.#rules.isAlwaysLoaded(server) || (this.#latest ?? []).every(({ serverName }) => serverName === server);
  }

  /** Adds the tool at the end of the declarations if it fits into the budget and into the share of its server. */
  #append(tool: RegisteredTool, reason: OfferReason): void {
    this.#considered.add(keyOf(tool));
    const cost = { tokens: tokensOfTool(tool) ?? 0, count: 1 };
    const after = without(this.#left ?? this.#room, cost);
    if (!isRoom(after)) return;
    const { serverName } = tool;
    const ofServer = plus(this.#added.get(serverName) ?? { tokens: 0, count: 0 }, cost);
    if (!isRoom(without(this.#share, ofServer)) && !this.#needsNoShare(serverName)) return;
    this.#added.set(serverName, ofServer);
    this.#left = after;
    this.#reasons.set(keyOf(tool), reason);
    this.#offeredPlaces.push({ server: tool.serverName, name: tool.serverToolName });
  }

  async #appendLate(tools: readonly RegisteredTool[], turns: Turns): Promise<void> {
    for (const tool of tools) {
      const isLate = !this.#considered.has(keyOf(tool));
      if (isLate) this.#append(tool, "all tools of this server fit into the budget");
      await turns.done(isLate ? weightOf(sizeOfTool(tool)) : 1);
    }
  }

  async #declare({ tools, find }: OfferedFrom, turns: Turns): Promise<ToolOffer> {
    const declared: { declarations: FunctionDeclaration[]; tools: (RegisteredTool | undefined)[] } = {
      declarations: [],
      tools: [],
    };
    let tokens = 0;
    let present = 0;
    for (const each of this.#offeredPlaces) {
      const tool = "server" in each ? find(toolKey(each.server, each.name)) : undefined;
      if (tool !== undefined) present += 1;
      if ("server" in each && (tool === undefined || tool.quarantine !== undefined)) continue;
      const declaration = "server" in each ? tool?.schema : this.#declareOwn(each.function);
      if (declaration === undefined) continue;
      declared.declarations.push(declaration);
      declared.tools.push(tool);
      tokens += (tool && tokensOfTool(tool)) ?? costOf(declaration);
      await turns.done(1 + (tool === undefined ? 0 : sizeOfTool(tool) / sizePerTool));
    }
    return { ...declared, deferred: tools.length - present, tokens };
  }

  async #update(from: OfferedFrom, own: readonly OwnFunction[]): Promise<ToolOffer> {
    const turns = createTurns(toolsPerTurn);
    if (this.#left === undefined && !(await this.#planAsBefore(from, own, turns)))
      await this.#plan(from.tools, own, turns);
    const isChanged = from.tools !== this.#latest;
    this.#latest = from.tools;
    if (isChanged) await this.#appendLate(from.tools, turns);
    this.#addOwn(own);
    const declared = await this.#declare(from, turns);
    if (declared.deferred === 0 || searchFunctions.every((each) => this.#isDeclared(each))) return declared;
    this.#addOwn(searchFunctions);
    return this.#declare(from, turns);
  }
}

function without(room: ToolRoom, used: ToolRoom): ToolRoom {
  return { tokens: room.tokens - used.tokens, count: room.count - used.count };
}

function plus(one: ToolRoom, other: ToolRoom): ToolRoom {
  return { tokens: one.tokens + other.tokens, count: one.count + other.count };
}

function isRoom({ tokens, count }: ToolRoom): boolean {
  return tokens >= 0 && count >= 0;
}

function toBudgeted(tool: RegisteredTool): BudgetedTool {
  const { serverName: server, serverToolName: name } = tool;
  return { key: keyOf(tool), server, name, size: sizeOfTool(tool), tokens: () => tokensOfTool(tool) };
}

/** Estimates the tokens of every tool, with pauses for other code. */
export async function estimateAll(tools: readonly RegisteredTool[]): Promise<void> {
  const turns = createTurns(toolsPerTurn);
  for (const tool of tools) {
    tokensOfTool(tool);
    await turns.done(weightOf(sizeOfTool(tool)));
  }
}

/** The cached sizes and estimated tokens of tools, which never change. */
const sizes = new WeakMap<RegisteredTool, number>();
const costs = new WeakMap<RegisteredTool, number>();

function sizeOfTool(tool: RegisteredTool): number {
  const cached = sizes.get(tool);
  if (cached !== undefined) return cached;
  const size = tool.description.length + JSON.stringify(tool.parameterSchemaJson).length;
  sizes.set(tool, size);
  return size;
}

/** The estimated tokens of a tool's declaration; undefined if the tool cannot be declared. */
export function tokensOfTool(tool: RegisteredTool): number | undefined {
  const cached = costs.get(tool);
  if (cached !== undefined) return cached;
  if (tool.quarantine !== undefined) return undefined;
  const tokens = costOf(tool.schema);
  costs.set(tool, tokens);
  return tokens;
}

function costOf({ name, description, parametersJsonSchema }: FunctionDeclaration): number {
  return estimateTokens(JSON.stringify({ name, description, parameters: parametersJsonSchema }));
}

/** A tool, with the size of its declaration. */
export interface BudgetedTool {
  readonly key: string;
  readonly server: string;
  /** The name that the server gives the tool. */
  readonly name: string;
  /** The number of characters in the tool's definition. Unlike `tokens`, it does not need a compiled schema. */
  readonly size: number;
  /**
   * The estimated tokens of the declaration. Slow, because it compiles the schema. Undefined if the tool cannot be
   * declared.
   */
  readonly tokens: () => number | undefined;
}

/**
 * Fairlead assumes at most this many characters per token. If a definition does not fit even so, its schema is not
 * compiled.
 */
const charactersPerToken = 8;

/** The part of the budget that is still free. */
interface ToolRoom {
  readonly tokens: number;
  /** How many more declarations fit into the budget. */
  readonly count: number;
}

/** What decides which tools are offered if they do not all fit. */
export interface BudgetRules {
  readonly room: ToolRoom;
  /** Whether the setting `fairlead.servers.NAME.alwaysLoad` is on for the server. */
  readonly isAlwaysLoaded: (server: string) => boolean;
  /** The keys of tools that were used before in this workspace. The tool used last comes first. */
  readonly usedBefore: readonly string[];
}

/** Why a tool is offered or not. */
export type OfferReason =
  | "every tool fits into the budget"
  | "alwaysLoad is set for the server"
  | "the tool was used before in this workspace"
  | "all tools of this server fit into the budget"
  | "found by search"
  | "the tool was offered before in this conversation"
  | "the tool budget is used up";

/** Why each offered tool is offered, by tool key. A tool that is not in this map does not fit into the budget. */
type OfferPlan = ReadonlyMap<string, OfferReason>;

/** The share of the budget that is reserved for tools which the model finds by search. */
const keptFree = 0.25;

/**
 * Offers all tools if they fit into the budget. Otherwise offers tools of servers with `alwaysLoad`, then tools that
 * were used before, then all tools of the smallest servers. The plan does not depend on the order of the tools.
 */
export async function planOffer(
  tools: readonly BudgetedTool[],
  { room, isAlwaysLoaded, usedBefore }: BudgetRules,
  turns: Turns,
): Promise<OfferPlan> {
  const plan = new Map<string, OfferReason>();
  if ((await tokensWithin(tools, room, turns)) !== undefined) {
    for (const { key } of tools) plan.set(key, "every tool fits into the budget");
    return plan;
  }
  let left: ToolRoom = {
    tokens: room.tokens * (1 - keptFree),
    count: Math.floor(room.count * (1 - keptFree)),
  };

  async function add(some: readonly BudgetedTool[], reason: OfferReason): Promise<void> {
    const news = some.filter(({ key }) => !plan.has(key));
    const tokens = await tokensWithin(news, left, turns);
    if (tokens === undefined) return;
    left = { tokens: left.tokens - tokens, count: left.count - news.length };
    for (const { key } of news) plan.set(key, reason);
  }

  const always = tools.filter(({ server }) => isAlwaysLoaded(server)).sort(byServerAndName);
  for (const tool of always) await add([tool], "alwaysLoad is set for the server");
  const ranks = new Map(usedBefore.map((key, rank) => [key, rank]));
  const rankOf = ({ key }: BudgetedTool): number => ranks.get(key) ?? ranks.size;
  const used = tools.filter(({ key }) => ranks.has(key)).sort((one, other) => rankOf(one) - rankOf(other));
  for (const tool of used) await add([tool], "the tool was used before in this workspace");
  await turns.done(tools.length);
  const servers = [...groupBy(tools, ({ server }) => server)].map(([server, own]) => ({
    server,
    own,
    size: sizeOf(own),
  }));
  servers.sort((one, other) => one.size - other.size || compareTexts(one.server, other.server));
  for (const { own } of servers) await add(own, "all tools of this server fit into the budget");
  return plan;
}

/** Estimates how long a definition of `size` characters takes to compile. Adding a tool to a list takes 1. */
export function weightOf(size: number): number {
  return 10 + size / 100;
}

/** Returns the estimated tokens of all tools, or undefined if they do not fit into `room`. */
export async function tokensWithin(
  tools: readonly BudgetedTool[],
  room: ToolRoom,
  turns: Turns,
): Promise<number | undefined> {
  if (tools.length > room.count || sizeOf(tools) / charactersPerToken > room.tokens) return undefined;
  let sum = 0;
  for (const { tokens, size } of tools) {
    sum += tokens() ?? 0;
    if (sum > room.tokens) return undefined;
    await turns.done(weightOf(size));
  }
  return sum;
}

function sizeOf(tools: readonly BudgetedTool[]): number {
  let sum = 0;
  for (const { size } of tools) sum += size;
  return sum;
}

/**
 * Compares tools by server and name, so that the order of declarations does not depend on which server connects first.
 */
export function byServerAndName(
  one: Pick<BudgetedTool, "server" | "name">,
  other: Pick<BudgetedTool, "server" | "name">,
): number {
  return compareTexts(one.server, other.server) || compareTexts(one.name, other.name);
}

function compareTexts(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** If a model's context is unknown, Fairlead assumes this many tokens. */
const usualContext = 128_000;

/** Returns the size of a model's context in tokens: the setting, or else what the model says. */
export function contextOf(
  { contextTokens = usualContext }: { readonly contextTokens?: number },
  setting: number | undefined,
): number {
  return setting ?? contextTokens;
}

const usualBudget = 20_000;

/**
 * The budget for declarations, from the settings and the model. A tenth of the tokens is reserved, because estimates
 * may be too low.
 */
export function roomFor(
  {
    maxDeclarations,
    contextTokens = usualContext,
  }: { readonly maxDeclarations: number; readonly contextTokens?: number },
  { tokens, tools }: { readonly tokens?: number; readonly tools?: number } = {},
  reserved = 0,
): ToolRoom {
  const budget = tokens ?? Math.min(usualBudget, contextTokens / 10);
  return { tokens: budget * 0.9 - reserved, count: Math.min(tools ?? maxDeclarations, maxDeclarations) };
}

const keys = new WeakMap<object, string>();

/** Returns the key of a tool, made from the names of server and tool (see `toolKey`). */
export function keyOf(tool: Pick<RegisteredTool, "serverName" | "serverToolName">): string {
  const cached = keys.get(tool);
  if (cached !== undefined) return cached;
  const key = toolKey(tool.serverName, tool.serverToolName);
  keys.set(tool, key);
  return key;
}
