/**
 * The declarations that a conversation sends to one model. A declaration keeps its position, and new declarations are
 * added at the end: an API caches only the part of a request that equals the beginning of an earlier request.
 */

import type { Model } from "../../model/model.ts";
import type { FunctionDeclaration } from "../../normalise/model-types.ts";
import { toolKey } from "../../normalise/tool-name.ts";
import type { DiscoveredMCPTool } from "../../registry/discovered-tool.ts";
import { estimateTokens } from "../../text/token-estimate.ts";
import { createTurns } from "../../text/turns.ts";
import type { OfferedPlace } from "../record.ts";
import type { OwnFunction } from "./own-functions.ts";
import {
  type BudgetedTool,
  type BudgetRules,
  fitsInto,
  type OfferReason,
  planOffer,
  roomFor,
  type ToolRoom,
  tokensOf,
} from "./tool-budget.ts";

/** The declarations of one request. */
export interface ToolOffer {
  readonly declarations: readonly FunctionDeclaration[];
  /** The tools, at the same index as their declaration; undefined for a function of the host. */
  readonly tools: readonly (DiscoveredMCPTool | undefined)[];
  /** Tools that are not declared. The model can find them by search. */
  readonly deferred: readonly DiscoveredMCPTool[];
  /** Estimated tokens of the declarations. */
  readonly tokens: number;
}

export interface OfferOptions extends Omit<BudgetRules, "room"> {
  readonly model: Model;
  readonly budget: { readonly tokens?: number; readonly tools?: number };
  readonly declareOwn: (own: OwnFunction) => FunctionDeclaration;
  /** The declarations that were offered before the conversation was resumed. */
  readonly earlier?: readonly OfferedPlace[];
}

export interface ToolOffers {
  /** @param tools The tools that may be offered now. `own` are the functions of the host that these tools need. */
  readonly update: (tools: readonly DiscoveredMCPTool[], own: readonly OwnFunction[]) => ToolOffer;
  /** Offers tools that a search has found, as far as the budget allows. */
  readonly reveal: (tools: readonly DiscoveredMCPTool[]) => void;
  readonly reasonFor: (tool: DiscoveredMCPTool) => OfferReason | undefined;
  /** All declarations so far, including declarations of tools that no longer exist. */
  readonly places: () => readonly OfferedPlace[];
}

interface Declared {
  readonly declaration: FunctionDeclaration;
  readonly tool: DiscoveredMCPTool | undefined;
}

const searchFunctions: readonly OwnFunction[] = ["search_tools", "call_tool"];

export function createToolOffers({ model, budget, declareOwn, earlier = [], ...rules }: OfferOptions): ToolOffers {
  const reasons = new Map<string, OfferReason>();
  const places: OfferedPlace[] = [];
  let left: ToolRoom | undefined;
  // If the user types the calls, no declarations are needed.
  const room =
    model.provider === "manual"
      ? { tokens: Number.POSITIVE_INFINITY, count: Number.POSITIVE_INFINITY }
      : roomFor(model, budget);

  function isDeclared(own: OwnFunction): boolean {
    return places.some((place) => "function" in place && place.function === own);
  }

  function addOwn(some: readonly OwnFunction[]): void {
    for (const own of some) if (!isDeclared(own)) places.push({ function: own });
  }

  /**
   * The tokens and the number of the host's own functions. Includes `read_result`, which the model may need at any
   * time.
   */
  function ownRoom(some: readonly OwnFunction[]): ToolRoom {
    const all = new Set<OwnFunction>([...some, "read_result"]);
    const tokens = [...all].reduce((sum, own) => sum + costOf(declareOwn(own)), 0);
    return { tokens, count: all.size };
  }

  /** Decides once about all tools that are known when the model is first asked. */
  function plan(tools: readonly DiscoveredMCPTool[], own: readonly OwnFunction[]): void {
    const budgeted = [...tools].sort(byServerAndName).map(toBudgeted);
    const functions = fitsInto(budgeted, without(room, ownRoom(own))) ? own : [...own, ...searchFunctions];
    const planned = planOffer(budgeted, { ...rules, room: without(room, ownRoom(functions)) });
    const offered = budgeted.filter(({ key }) => planned.get(key) !== "the budget is used up");
    for (const [key, reason] of planned) reasons.set(key, reason);
    const byKey = new Map(tools.map((tool) => [keyOf(tool), tool]));
    for (const { key } of offered) places.push(...placesOf(byKey.get(key)));
    addOwn(functions);
    left = without(without(room, ownRoom(functions)), { tokens: tokensOf(offered), count: offered.length });
  }

  /**
   * Offers the same tools as before, so that the declarations begin in the same way. Returns false if they no longer
   * fit.
   */
  function planAsBefore(tools: readonly DiscoveredMCPTool[], own: readonly OwnFunction[]): boolean {
    const before = new Set(earlier.flatMap((place) => ("server" in place ? toolKey(place.server, place.name) : [])));
    const functions = [...own, ...earlier.flatMap((place) => ("function" in place ? place.function : []))];
    const offered = tools.filter((tool) => before.has(keyOf(tool)));
    const tokens = offered.reduce((sum, tool) => sum + (tokensOfTool(tool) ?? 0), 0);
    const rest = without(without(room, ownRoom(functions)), { tokens, count: offered.length });
    if (before.size === 0 || rest.tokens < 0 || rest.count < 0) return false;
    places.push(...earlier);
    addOwn(functions);
    for (const tool of offered) reasons.set(keyOf(tool), "it was offered before in this conversation");
    // Without the search function, every tool was offered, so all other tools are new.
    if (isDeclared("search_tools"))
      for (const tool of tools) if (!before.has(keyOf(tool))) reasons.set(keyOf(tool), "the budget is used up");
    left = rest;
    return true;
  }

  /** Adds those tools at the end that fit into the budget. */
  function append(tools: readonly DiscoveredMCPTool[], reason: OfferReason): void {
    for (const tool of tools) {
      const key = keyOf(tool);
      const after = without(left ?? room, { tokens: tokensOfTool(tool) ?? 0, count: 1 });
      const fits = after.tokens >= 0 && after.count >= 0;
      reasons.set(key, fits ? reason : "the budget is used up");
      if (!fits) continue;
      left = after;
      places.push(...placesOf(tool));
    }
  }

  return {
    update(tools, own) {
      if (left === undefined && !planAsBefore(tools, own)) plan(tools, own);
      const late = tools.filter((tool) => !reasons.has(keyOf(tool)));
      append(late, "its whole server fits into the budget");
      const deferred = tools.filter((tool) => reasons.get(keyOf(tool)) === "the budget is used up");
      addOwn(deferred.length === 0 ? own : [...own, ...searchFunctions]);
      const byKey = new Map(tools.map((tool) => [keyOf(tool), tool]));
      const declared = places.flatMap((place): Declared[] => {
        if ("function" in place) return [{ declaration: declareOwn(place.function), tool: undefined }];
        const tool = byKey.get(toolKey(place.server, place.name));
        return tool === undefined || tool.quarantine !== undefined ? [] : [{ declaration: tool.schema, tool }];
      });
      return {
        declarations: declared.map(({ declaration }) => declaration),
        tools: declared.map(({ tool }) => tool),
        deferred,
        tokens: declared.reduce(
          (sum, { tool, declaration }) => sum + ((tool && tokensOfTool(tool)) ?? costOf(declaration)),
          0,
        ),
      };
    },

    reveal(tools) {
      append(
        tools.filter((tool) => reasons.get(keyOf(tool)) === "the budget is used up"),
        "found by search",
      );
    },

    reasonFor: (tool) => reasons.get(keyOf(tool)),
    places: () => places,
  };
}

function placesOf(tool: DiscoveredMCPTool | undefined): readonly OfferedPlace[] {
  return tool === undefined ? [] : [{ server: tool.serverName, name: tool.serverToolName }];
}

function without(room: ToolRoom, used: ToolRoom): ToolRoom {
  return { tokens: room.tokens - used.tokens, count: room.count - used.count };
}

/** Sorts the tools independently of connection times, so that the same tools are always declared in the same order. */
function byServerAndName(one: DiscoveredMCPTool, other: DiscoveredMCPTool): number {
  return compare(one.serverName, other.serverName) || compare(one.serverToolName, other.serverToolName);
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

function toBudgeted(tool: DiscoveredMCPTool): BudgetedTool {
  return { key: keyOf(tool), server: tool.serverName, size: sizeOfTool(tool), tokens: () => tokensOfTool(tool) };
}

/** The work that is done before an offer. */
export interface OfferWork {
  readonly dialect: Model["dialect"];
  /** Whether the tokens of every tool are estimated too, which takes longest. */
  readonly isCounted: boolean;
}

/** The number of tools in one slice, which takes a few milliseconds. */
const toolsPerTurn = 500;
/** Estimating the tokens of one tool takes about as long as the other work for this many tools. */
const countedWeight = 5;

/** Computes in advance, in slices, the facts about tools that an offer needs. */
export async function prepareOffers(
  tools: readonly DiscoveredMCPTool[],
  { dialect, isCounted }: OfferWork,
): Promise<void> {
  const turns = createTurns(toolsPerTurn);
  for (const each of tools) {
    const tool = each.inDialect(dialect);
    keyOf(tool);
    sizeOfTool(tool);
    if (isCounted) tokensOfTool(tool);
    await turns.done(isCounted ? countedWeight : 1);
  }
  // The code after this function starts with a new slice.
  if (tools.length > toolsPerTurn) await turns.done(toolsPerTurn);
}

/** Facts about a tool that never change. Each is computed only once. */
const keys = new WeakMap<object, string>();
const sizes = new WeakMap<DiscoveredMCPTool, number>();
const costs = new WeakMap<DiscoveredMCPTool, number>();

function sizeOfTool(tool: DiscoveredMCPTool): number {
  const known = sizes.get(tool);
  if (known !== undefined) return known;
  const size = tool.description.length + JSON.stringify(tool.parameterSchemaJson).length;
  sizes.set(tool, size);
  return size;
}

/** The estimated tokens of a tool's declaration; undefined if it cannot be declared. */
export function tokensOfTool(tool: DiscoveredMCPTool): number | undefined {
  const known = costs.get(tool);
  if (known !== undefined) return known;
  if (tool.quarantine !== undefined) return undefined;
  const tokens = costOf(tool.schema);
  costs.set(tool, tokens);
  return tokens;
}

function costOf({ name, description, parametersJsonSchema }: FunctionDeclaration): number {
  return estimateTokens(JSON.stringify({ name, description, parameters: parametersJsonSchema }));
}

export function keyOf(tool: Pick<DiscoveredMCPTool, "serverName" | "serverToolName">): string {
  const known = keys.get(tool);
  if (known !== undefined) return known;
  const key = toolKey(tool.serverName, tool.serverToolName);
  keys.set(tool, key);
  return key;
}
