/**
 * The declarations that a conversation sends to one model. New declarations are added at the end and earlier ones stay
 * in place, because APIs cache the beginning of a request.
 */

import type { Model } from "../../model/model.ts";
import type { FunctionDeclaration } from "../../normalise/model-types.ts";
import { toolKey } from "../../normalise/tool-name.ts";
import type { RegisteredTool } from "../../registry/registered-tool.ts";
import { estimateTokens } from "../../text/token-estimate.ts";
import { createTurns, type Turns } from "../../text/turns.ts";
import type { OfferedPlace } from "../record.ts";
import type { OwnFunction } from "./own-functions.ts";
import {
  type BudgetedTool,
  type BudgetRules,
  byServerAndName,
  type OfferReason,
  planOffer,
  roomFor,
  type ToolRoom,
  tokensWithin,
  weightOf,
} from "./tool-budget.ts";
import { keyOf } from "./tool-lookup.ts";

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
export interface OfferOptions extends Omit<BudgetRules, "room"> {
  readonly model: Model;
  readonly budget: { readonly tokens?: number; readonly tools?: number };
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

/** The tools that one model gets directly. Later tools are added at the end. */
export interface ToolOffers {
  /**
   * Updates the offered tools. Pauses regularly, because there may be very many tools. A second update waits for the
   * first.
   *
   * @param own Fairlead's own functions to declare with the tools.
   */
  readonly update: (from: OfferedFrom, own: readonly OwnFunction[]) => Promise<ToolOffer>;
  /** Offers tools that a search has found, as far as the budget allows. */
  readonly reveal: (tools: readonly RegisteredTool[]) => void;
  readonly reasonFor: (tool: RegisteredTool) => OfferReason | undefined;
  /** All declarations so far, including declarations of tools that no longer exist. */
  readonly offeredPlaces: () => readonly OfferedPlace[];
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

/** Creates the offers for one model. The first `update` decides which tools fit into the budget. */
export function createToolOffers({ model, budget, declareOwn, earlier = [], ...rules }: OfferOptions): ToolOffers {
  const reasons = new Map<string, OfferReason>();
  /** The keys of all tools that were checked against the budget. `reasons` has those that fit. */
  const considered = new Set<string>();
  const offeredPlaces: OfferedPlace[] = [];
  /** The part of the budget that the tools of each server take which were added after the first request. */
  const added = new Map<string, ToolRoom>();
  /** What each server may take of the budget that the first request left. */
  let share: ToolRoom = noLimit;
  let left: ToolRoom | undefined;
  let latest: readonly RegisteredTool[] | undefined;
  let last: Promise<unknown> = Promise.resolve();
  // If the user types the calls, no model gets declarations, so there is no limit.
  const room = model.provider === "manual" ? noLimit : roomFor(model, budget);

  function isDeclared(own: OwnFunction): boolean {
    return offeredPlaces.some((each) => "function" in each && each.function === own);
  }

  function addOwn(some: readonly OwnFunction[]): void {
    for (const own of some) if (!isDeclared(own)) offeredPlaces.push({ function: own });
  }

  /**
   * The part of the budget that Fairlead's own functions take. Includes `read_result`, which the model may need at any
   * time.
   */
  function ownRoom(some: readonly OwnFunction[]): ToolRoom {
    const all = new Set<OwnFunction>([...some, "read_result"]);
    const tokens = [...all].reduce((sum, own) => sum + costOf(declareOwn(own)), 0);
    return { tokens, count: all.size };
  }

  async function consider(tools: readonly RegisteredTool[], turns: Turns): Promise<void> {
    for (const tool of tools) {
      considered.add(keyOf(tool));
      await turns.done(1);
    }
  }

  /** Decides, before the first request to the model, which of the known tools are offered. */
  async function plan(tools: readonly RegisteredTool[], own: readonly OwnFunction[], turns: Turns): Promise<void> {
    const budgeted: BudgetedTool[] = [];
    for (const tool of tools) {
      const each = toBudgeted(tool);
      budgeted.push(each);
      await turns.done(1 + each.size / sizePerTool);
    }
    const isEvery = (await tokensWithin(budgeted, without(room, ownRoom(own)), turns)) !== undefined;
    const functions = isEvery ? own : [...own, ...searchFunctions];
    const rest = without(room, ownRoom(functions));
    const planned = await planOffer(budgeted, { ...rules, room: rest }, turns);
    const offered = budgeted.filter(({ key }) => planned.has(key)).sort(byServerAndName);
    const tokens = (await tokensWithin(offered, noLimit, turns)) ?? 0;
    await consider(tools, turns);
    for (const [key, reason] of planned) reasons.set(key, reason);
    for (const { server, name } of offered) offeredPlaces.push({ server, name });
    addOwn(functions);
    begin(without(rest, { tokens, count: offered.length }));
  }

  function begin(rest: ToolRoom): void {
    left = rest;
    share = { tokens: rest.tokens * mostOfServer, count: Math.ceil(rest.count * mostOfServer) };
  }

  /**
   * Declares the same tools as before the conversation was resumed. Returns false if there were none, or if they no
   * longer fit into the budget.
   */
  async function planAsBefore(
    { tools, find }: OfferedFrom,
    own: readonly OwnFunction[],
    turns: Turns,
  ): Promise<boolean> {
    const before = new Set(earlier.flatMap((each) => ("server" in each ? toolKey(each.server, each.name) : [])));
    const functions = [...own, ...earlier.flatMap((each) => ("function" in each ? each.function : []))];
    const offered = [...before].flatMap((key) => find(key) ?? []);
    const tokens = (await tokensWithin(offered.map(toBudgeted), noLimit, turns)) ?? 0;
    const rest = without(without(room, ownRoom(functions)), { tokens, count: offered.length });
    if (before.size === 0 || !isRoom(rest)) return false;
    offeredPlaces.push(...earlier);
    addOwn(functions);
    /*
     * If `search_tools` was not declared, the model got all earlier tools. So a tool without a declaration is new, and
     * `appendLate` adds it.
     */
    await consider(isDeclared("search_tools") ? tools : offered, turns);
    for (const tool of offered) reasons.set(keyOf(tool), "the tool was offered before in this conversation");
    begin(rest);
    return true;
  }

  /** Whether no other server could use the place, or the user wants the server's tools to be declared. */
  function needsNoShare(server: string): boolean {
    return rules.isAlwaysLoaded(server) || (latest ?? []).every(({ serverName }) => serverName === server);
  }

  /** Adds the tool at the end of the declarations if it fits into the budget and into the share of its server. */
  function append(tool: RegisteredTool, reason: OfferReason): void {
    considered.add(keyOf(tool));
    const cost = { tokens: tokensOfTool(tool) ?? 0, count: 1 };
    const after = without(left ?? room, cost);
    if (!isRoom(after)) return;
    const { serverName } = tool;
    const ofServer = plus(added.get(serverName) ?? { tokens: 0, count: 0 }, cost);
    if (!isRoom(without(share, ofServer)) && !needsNoShare(serverName)) return;
    added.set(serverName, ofServer);
    left = after;
    reasons.set(keyOf(tool), reason);
    offeredPlaces.push({ server: tool.serverName, name: tool.serverToolName });
  }

  async function appendLate(tools: readonly RegisteredTool[], turns: Turns): Promise<void> {
    for (const tool of tools) {
      const isLate = !considered.has(keyOf(tool));
      if (isLate) append(tool, "all tools of this server fit into the budget");
      await turns.done(isLate ? weightOf(sizeOfTool(tool)) : 1);
    }
  }

  async function declare({ tools, find }: OfferedFrom, turns: Turns): Promise<ToolOffer> {
    const declared: { declarations: FunctionDeclaration[]; tools: (RegisteredTool | undefined)[] } = {
      declarations: [],
      tools: [],
    };
    let tokens = 0;
    let present = 0;
    for (const each of offeredPlaces) {
      const tool = "server" in each ? find(toolKey(each.server, each.name)) : undefined;
      if (tool !== undefined) present += 1;
      if ("server" in each && (tool === undefined || tool.quarantine !== undefined)) continue;
      const declaration = "server" in each ? tool?.schema : declareOwn(each.function);
      if (declaration === undefined) continue;
      declared.declarations.push(declaration);
      declared.tools.push(tool);
      tokens += (tool && tokensOfTool(tool)) ?? costOf(declaration);
      await turns.done(1 + (tool === undefined ? 0 : sizeOfTool(tool) / sizePerTool));
    }
    return { ...declared, deferred: tools.length - present, tokens };
  }

  async function update(from: OfferedFrom, own: readonly OwnFunction[]): Promise<ToolOffer> {
    const turns = createTurns(toolsPerTurn);
    if (left === undefined && !(await planAsBefore(from, own, turns))) await plan(from.tools, own, turns);
    const isChanged = from.tools !== latest;
    latest = from.tools;
    if (isChanged) await appendLate(from.tools, turns);
    addOwn(own);
    const declared = await declare(from, turns);
    if (declared.deferred === 0 || searchFunctions.every(isDeclared)) return declared;
    addOwn(searchFunctions);
    return declare(from, turns);
  }

  return {
    update(from, own) {
      const updated = last.then(() => update(from, own));
      last = updated.catch(() => undefined);
      return updated;
    },

    reveal(tools) {
      for (const tool of tools)
        if (considered.has(keyOf(tool)) && !reasons.has(keyOf(tool))) append(tool, "found by search");
    },

    reasonFor: (tool) =>
      reasons.get(keyOf(tool)) ?? (considered.has(keyOf(tool)) ? "the tool budget is used up" : undefined),
    offeredPlaces: () => offeredPlaces,
  };
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
