/** Decides which tools are declared to a model, and which tools the model must search for. */

import { groupBy } from "../../text/group-by.ts";
import type { Turns } from "../../text/turns.ts";

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
export interface ToolRoom {
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
export type OfferPlan = ReadonlyMap<string, OfferReason>;

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

/** Returns the size of a model's context in tokens, from the settings or from the model. */
export function contextOf(
  { contextTokens = usualContext }: { readonly contextTokens?: number },
  host: { readonly contextTokens: () => number | undefined },
): number {
  return host.contextTokens() ?? contextTokens;
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
): ToolRoom {
  const budget = tokens ?? Math.min(usualBudget, contextTokens / 10);
  return { tokens: budget * 0.9, count: Math.min(tools ?? maxDeclarations, maxDeclarations) };
}
