/** Finds the tools of a conversation, by the name that the model uses or by the tool's key. */

import type { Model } from "../../model/model.ts";
import { toolKey } from "../../normalise/tool-name.ts";
import type { RegisteredTool } from "../../registry/registered-tool.ts";
import { runAtOnce, runInTurns, type Sliced } from "../../text/turns.ts";

/** The tools of the chosen servers in the order of the settings, including tools that cannot be offered. */
export interface ToolLookup {
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

/** Creates lookups, and keeps the last one for the next request. */
export interface ToolLookups {
  /** Creates the lookup, with pauses for other code. If the input has not changed, returns the last lookup. */
  readonly prepare: (source: LookupSource) => Promise<ToolLookup>;
  /** Creates the lookup without a pause, for a caller that cannot wait. */
  readonly now: (source: LookupSource) => ToolLookup;
}

/** Creates the lookups of a conversation. Keeps the last lookup, because most requests have the same tools. */
export function createToolLookups(): ToolLookups {
  let last: { readonly source: LookupSource; readonly lookup: ToolLookup } | undefined;

  function keptLookup(source: LookupSource): ToolLookup | undefined {
    return last !== undefined && isSameSource(last.source, source) ? last.lookup : undefined;
  }

  function keep(source: LookupSource, lookup: ToolLookup): ToolLookup {
    last = { source, lookup };
    return lookup;
  }

  function now(source: LookupSource): ToolLookup {
    return keptLookup(source) ?? keep(source, runAtOnce(lookUp(source)));
  }

  return {
    now,
    async prepare(source) {
      const found = keptLookup(source) ?? (await runInTurns(lookUp(source), () => keptLookup(source) !== undefined));
      return found === undefined ? now(source) : keep(source, found);
    },
  };
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

const keys = new WeakMap<object, string>();

/** Returns the key of a tool, made from the names of server and tool (see `toolKey`). */
export function keyOf(tool: Pick<RegisteredTool, "serverName" | "serverToolName">): string {
  const cached = keys.get(tool);
  if (cached !== undefined) return cached;
  const key = toolKey(tool.serverName, tool.serverToolName);
  keys.set(tool, key);
  return key;
}
