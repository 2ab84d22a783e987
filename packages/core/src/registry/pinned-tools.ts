/**
 * The tools of one conversation. A name that the model has seen never means another tool. If the tool is removed, its
 * name stays unused.
 */

import { limits } from "../limits.ts";
import type { FunctionDeclaration } from "../normalise/model-types.ts";
import { createNaming, type Pin, SeenNames } from "../normalise/tool-name.ts";
import { runAtOnce, runInTurns, type Sliced } from "../text/turns.ts";
import type { DiscoveredMCPTool } from "./discovered-tool.ts";

/** The current tools, each under the name that it has in one conversation. */
export interface ConversationTools {
  getTool(modelName: string): DiscoveredMCPTool | undefined;
  getAllTools(): readonly DiscoveredMCPTool[];
  /** All tools, including tools that cannot be offered to a model. Returns the same array until a tool changes. */
  getEveryTool(): readonly DiscoveredMCPTool[];
  /**
   * Names the tools in small steps, so that other code can run in between, and returns them. A tool that changes
   * meanwhile may be missing.
   */
  ready(): Promise<readonly DiscoveredMCPTool[]>;
  /** Every name that the conversation has used, oldest first. The array grows when tools are added. */
  names(): readonly Pin[];
  /** The tools for one request: at most 512, because a model's API accepts no more. */
  getFunctionDeclarations(): FunctionDeclaration[];
}

/** The tools of a registry, which a conversation uses. */
export interface RegisteredTools {
  /** All tools. Returns the same array until a tool changes. */
  readonly all: () => readonly DiscoveredMCPTool[];
  /** Resolves when all tools have their names. Works in small steps, so that other code can run in between. */
  readonly ready: () => Promise<void>;
}

/** The number of tools that are named in one step. A step takes a few milliseconds. */
const toolsPerSlice = 500;

/** Opens a conversation. `earlier` contains the names that the conversation used in an earlier run. */
export function openConversation(registered: RegisteredTools, earlier: readonly Pin[] = []): ConversationTools {
  const names = new SeenNames(earlier);
  let source = registered.all();
  // A new conversation uses the names in the registry. `pinAll` fixes these names before the tools change.
  let tools = earlier.length === 0 ? source : undefined;
  let isPinned = false;
  /** Copies of the tools whose names in this conversation differ from those in the registry. */
  const copies = new WeakMap<DiscoveredMCPTool, DiscoveredMCPTool>();
  // The tools by name. The map is created at the first lookup.
  let byName: ReadonlyMap<string, DiscoveredMCPTool> | undefined;

  function* pinAll(): Sliced<void> {
    if (isPinned) return;
    const unpinned = tools ?? [];
    for (const [at, { name: as, serverName: server, serverToolName: name }] of unpinned.entries()) {
      names.pin({ server, name, as });
      if (at % toolsPerSlice === toolsPerSlice - 1) yield;
    }
    if (unpinned === tools) isPinned = true;
  }

  function underName(tool: DiscoveredMCPTool, name: string): DiscoveredMCPTool {
    if (tool.name === name) return tool;
    const lastCopy = copies.get(tool);
    if (lastCopy?.name === name) return lastCopy;
    const copy = tool.named(name);
    copies.set(tool, copy);
    return copy;
  }

  /**
   * Gives names to tools that were added later. These names always contain the server's name, so that they do not
   * depend on the order of registration. A tool that gets no name, because its server has used too many, is left out.
   */
  function* nameAll(later: readonly DiscoveredMCPTool[]): Sliced<readonly DiscoveredMCPTool[]> {
    yield* pinAll();
    const named: DiscoveredMCPTool[] = [];
    const nameOf = createNaming({ seen: names, isAlwaysQualified: () => true });
    for (const [at, tool] of later.entries()) {
      const { serverName: server, serverToolName: name } = tool;
      const as = nameOf({ server, name });
      if (names.pin({ server, name, as })) named.push(underName(tool, as));
      if (at % toolsPerSlice === toolsPerSlice - 1) yield;
    }
    return named;
  }

  function use(later: readonly DiscoveredMCPTool[], named: readonly DiscoveredMCPTool[]): readonly DiscoveredMCPTool[] {
    source = later;
    tools = named;
    byName = undefined;
    isPinned = true;
    return named;
  }

  function every(): readonly DiscoveredMCPTool[] {
    const now = registered.all();
    return now === source && tools !== undefined ? tools : use(now, runAtOnce(nameAll(now)));
  }

  async function ready(): Promise<readonly DiscoveredMCPTool[]> {
    await registered.ready();
    const now = registered.all();
    const isNamed = (): boolean => now === source && tools !== undefined;
    if (!isNamed()) {
      const begun = source;
      const named = await runInTurns(nameAll(now), () => isNamed() || source !== begun);
      // Ignores the result if another caller has named the tools meanwhile.
      if (named !== undefined && source === begun && !isNamed()) use(now, named);
    }
    // Fixes the names now, so that tools that are added later do not change them.
    await runInTurns(pinAll(), () => isPinned);
    return tools ?? every();
  }

  function find(modelName: string): DiscoveredMCPTool | undefined {
    const all = every();
    byName ??= new Map(all.map((tool) => [tool.name, tool]));
    return byName.get(modelName);
  }

  const offered = (): readonly DiscoveredMCPTool[] => every().filter(isOffered);
  return {
    getTool(modelName) {
      const tool = find(modelName);
      return tool && isOffered(tool) ? tool : undefined;
    },
    getAllTools: offered,
    getEveryTool: every,
    ready,
    names() {
      if (tools === undefined) every();
      runAtOnce(pinAll());
      return names.pins;
    },
    getFunctionDeclarations: () =>
      offered()
        .slice(0, limits.declarations)
        .map((tool) => tool.schema),
  };
}

function isOffered(tool: DiscoveredMCPTool): boolean {
  return tool.quarantine === undefined;
}
