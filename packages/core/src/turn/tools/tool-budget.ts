/** Decides which tools are offered to a model directly, and for which tools the model must search. Pure. */

import { groupBy } from "../../text/group-by.ts";

/** A tool, with the size of its declaration. */
export interface BudgetedTool {
  readonly key: string;
  readonly server: string;
  /** The number of characters in the tool's definition, which is known before the schema is compiled. */
  readonly size: number;
  /**
   * The estimated tokens of the tool's declaration, for which its schema must be compiled. Undefined if it cannot be
   * declared.
   */
  readonly tokens: () => number | undefined;
}

/**
 * The largest number of characters that one token can have. If a definition exceeds the budget even by this estimate,
 * it cannot fit, so its schema is not compiled.
 */
const charactersPerToken = 8;

export interface ToolRoom {
  readonly tokens: number;
  /** Number of declarations. */
  readonly count: number;
}

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
  | "alwaysLoad is set for its server"
  | "it was used before in this workspace"
  | "its whole server fits into the budget"
  | "found by search"
  | "it was offered before in this conversation"
  | "the budget is used up";

/** The reason for each tool, by its key. */
export type OfferPlan = ReadonlyMap<string, OfferReason>;

/** The share of the budget that is reserved for tools which the model finds by search. */
const keptFree = 0.25;

/**
 * Offers all tools if they fit. Otherwise offers tools of servers with `alwaysLoad`, tools used before, and then the
 * smallest servers, each with all its tools.
 */
export function planOffer(
  tools: readonly BudgetedTool[],
  { room, isAlwaysLoaded, usedBefore }: BudgetRules,
): OfferPlan {
  const plan = new Map<string, OfferReason>();
  if (fitsInto(tools, room)) {
    for (const { key } of tools) plan.set(key, "every tool fits into the budget");
    return plan;
  }
  let left: ToolRoom = {
    tokens: room.tokens * (1 - keptFree),
    count: Math.floor(room.count * (1 - keptFree)),
  };

  /** Adds all of these tools if they fit together; otherwise adds none. */
  function add(some: readonly BudgetedTool[], reason: OfferReason): void {
    const news = some.filter(({ key }) => !plan.has(key));
    if (!fitsInto(news, left)) return;
    left = { tokens: left.tokens - tokensOf(news), count: left.count - news.length };
    for (const { key } of news) plan.set(key, reason);
  }

  const byKey = new Map(tools.map((tool) => [tool.key, tool]));
  const byServer = groupBy(tools, ({ server }) => server);
  for (const tool of tools) if (isAlwaysLoaded(tool.server)) add([tool], "alwaysLoad is set for its server");
  for (const tool of usedBefore.flatMap((key) => byKey.get(key) ?? []))
    add([tool], "it was used before in this workspace");
  for (const ofServer of [...byServer.values()].sort((one, other) => sizeOf(one) - sizeOf(other)))
    add(ofServer, "its whole server fits into the budget");
  for (const { key } of tools) if (!plan.has(key)) plan.set(key, "the budget is used up");
  return plan;
}

/** Whether all of these tools fit into the rest of the budget. */
export function fitsInto(tools: readonly BudgetedTool[], { tokens, count }: ToolRoom): boolean {
  if (tools.length > count || sizeOf(tools) / charactersPerToken > tokens) return false;
  return tokensOf(tools) <= tokens;
}

function sizeOf(tools: readonly BudgetedTool[]): number {
  return tools.reduce((sum, { size }) => sum + size, 0);
}

export function tokensOf(tools: readonly BudgetedTool[]): number {
  return tools.reduce((sum, { tokens }) => sum + (tokens() ?? 0), 0);
}

/** The context, in tokens, that Fairlead assumes if a model's context is unknown. */
const usualContext = 128_000;

/** The size of a model's context in tokens: from the settings, or the model's known size. */
export function contextOf(
  { contextTokens = usualContext }: { readonly contextTokens?: number },
  host: { readonly contextTokens: () => number | undefined },
): number {
  return host.contextTokens() ?? contextTokens;
}

const usualBudget = 20_000;

/**
 * The budget for declarations, from the settings and the model. It is reduced, because an estimate may be a tenth too
 * low.
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
