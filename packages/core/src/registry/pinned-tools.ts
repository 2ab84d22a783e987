/**
 * The tools of one conversation. A name that the model has seen never means another tool. If the tool is removed, its
 * name stays unused.
 */

import { limits } from "../limits.ts";
import type { FunctionDeclaration } from "../normalise/model-types.ts";
import { createNaming, type Pin, SeenNames } from "../normalise/tool-name.ts";
import { runAtOnce, runInTurns, type Sliced } from "../text/turns.ts";
import type { RegisteredTool } from "./registered-tool.ts";
import type { RegisteredTools } from "./registered-tools.ts";

/** The current tools, each under the name that it has in one conversation. */
export interface ConversationTools {
  getTool(modelName: string): RegisteredTool | undefined;
  getAllTools(): readonly RegisteredTool[];
  /** All tools, including tools that cannot be offered to a model. Returns the same array until a tool changes. */
  getEveryTool(): readonly RegisteredTool[];
  /**
   * Names the tools in small steps, so that other code can run in between, and returns them. A tool that changes
   * meanwhile may be missing.
   */
  ready(): Promise<readonly RegisteredTool[]>;
  /** Every name that the conversation has used, oldest first. The array grows when tools are added. */
  names(): readonly Pin[];
  /** The tools for one request: at most 512, because a model's API accepts no more. */
  getFunctionDeclarations(): FunctionDeclaration[];
}

/** The number of tools that are named in one step. A step takes a few milliseconds. */
const toolsPerSlice = 500;

/** Opens a conversation. `earlier` contains the names that the conversation used in an earlier run. */
export function openConversation(
  registered: Pick<RegisteredTools, "getEveryTool" | "ready">,
  earlier: readonly Pin[] = [],
): ConversationTools {
  const names = new SeenNames(earlier);
  let source = registered.getEveryTool();
  // A new conversation uses the names in the registry. `pinAll` fixes these names before the tools change.
  let tools = earlier.length === 0 ? source : undefined;
  let isPinned = false;
  /** Copies of the tools whose names in this conversation differ from those in the registry. */
  const copies = new WeakMap<RegisteredTool, RegisteredTool>();
  // The tools by name. The map is created at the first lookup.
  let byName: ReadonlyMap<string, RegisteredTool> | undefined;

  function* pinAll(): Sliced<void> {
    if (isPinned) return;
    const unpinned = tools ?? [];
    for (const [at, { name: as, serverName: server, serverToolName: name }] of unpinned.entries()) {
      names.pin({ server, name, as });
      if (at % toolsPerSlice === toolsPerSlice - 1) yield;
    }
    if (unpinned === tools) isPinned = true;
  }

  function underName(tool: RegisteredTool, name: string): RegisteredTool {
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
  function* nameAll(later: readonly RegisteredTool[]): Sliced<readonly RegisteredTool[]> {
    yield* pinAll();
    const named: RegisteredTool[] = [];
    const nameOf = createNaming({ seen: names, isAlwaysQualified: () => true });
    for (const [at, tool] of later.entries()) {
      const { serverName: server, serverToolName: name } = tool;
      const as = nameOf({ server, name });
      if (names.pin({ server, name, as })) named.push(underName(tool, as));
      if (at % toolsPerSlice === toolsPerSlice - 1) yield;
    }
    return named;
  }

  function use(later: readonly RegisteredTool[], named: readonly RegisteredTool[]): readonly RegisteredTool[] {
    source = later;
    tools = named;
    byName = undefined;
    isPinned = true;
    return named;
  }

  function every(): readonly RegisteredTool[] {
    const now = registered.getEveryTool();
    return now === source && tools !== undefined ? tools : use(now, runAtOnce(nameAll(now)));
  }

  async function ready(): Promise<readonly RegisteredTool[]> {
    await registered.ready();
    const now = registered.getEveryTool();
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

  function find(modelName: string): RegisteredTool | undefined {
    const all = every();
    byName ??= new Map(all.map((tool) => [tool.name, tool]));
    return byName.get(modelName);
  }

  const offered = (): readonly RegisteredTool[] => every().filter(isOffered);
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

function isOffered(tool: RegisteredTool): boolean {
  return tool.quarantine === undefined;
}
