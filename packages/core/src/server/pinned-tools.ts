/**
 * The tools of one conversation. A name that the model has seen never means another tool. If the tool is removed, its
 * name stays unused.
 */

import type { FunctionDeclaration } from "../normalise/model-types.ts";
import { runAtOnce, runInTurns, type Sliced } from "../text/turns.ts";
import { type Claim, nameItems, type Pin, Pins } from "./names.ts";
import type { RegisteredTool } from "./registered-tool.ts";
import { createRenaming, declarationsOf, isOffered, offered, type RegisteredTools } from "./registries.ts";

/** The number of tools that are named in one step. A step takes a few milliseconds. */
const toolsPerSlice = 500;

/** The current tools, each under the name that it has in one conversation. */
export class ConversationTools {
  readonly #registered: Pick<RegisteredTools, "getEveryTool" | "ready">;
  readonly #pins: Pins;
  readonly #rename = createRenaming<RegisteredTool>();
  /** The registry's tools that `#tools` were made from. */
  #source: readonly RegisteredTool[];
  /** The tools under the names of this conversation; undefined if a resumed conversation has not named them yet. */
  #tools: readonly RegisteredTool[] | undefined;
  #isPinned = false;
  /** Created at the first lookup. */
  #byName: ReadonlyMap<string, RegisteredTool> | undefined;

  /** @param earlier The names that the conversation used in an earlier run. */
  constructor(registered: Pick<RegisteredTools, "getEveryTool" | "ready">, earlier: readonly Pin[] = []) {
    this.#registered = registered;
    this.#pins = new Pins(earlier);
    this.#source = registered.getEveryTool();
    // A new conversation uses the names in the registry. `#pinAll` fixes these names before the tools change.
    this.#tools = earlier.length === 0 ? this.#source : undefined;
  }

  getTool(modelName: string): RegisteredTool | undefined {
    const every = this.getEveryTool();
    this.#byName ??= new Map(every.map((tool) => [tool.name, tool]));
    return offered(this.#byName.get(modelName));
  }

  getAllTools(): readonly RegisteredTool[] {
    return this.getEveryTool().filter(isOffered);
  }

  /** All tools, including tools that cannot be offered to a model. Returns the same array until a tool changes. */
  getEveryTool(): readonly RegisteredTool[] {
    const now = this.#registered.getEveryTool();
    return this.#named(now) ?? this.#use(now, runAtOnce(this.#nameAll(now)));
  }

  /**
   * Names the tools in small steps, so that other code can run in between, and returns them. A tool that changes
   * meanwhile may be missing.
   */
  async ready(): Promise<readonly RegisteredTool[]> {
    await this.#registered.ready();
    const now = this.#registered.getEveryTool();
    if (this.#named(now) === undefined) {
      const begun = this.#source;
      const isOutdated = (): boolean => this.#source !== begun || this.#named(now) !== undefined;
      const named = await runInTurns(this.#nameAll(now), isOutdated);
      // Ignores the result if another caller has named the tools meanwhile.
      if (named !== undefined && !isOutdated()) this.#use(now, named);
    }
    // Fixes the names now, so that tools that are added later do not change them.
    await runInTurns(this.#pinAll(), () => this.#isPinned);
    return this.#tools ?? this.getEveryTool();
  }

  /** Every name that the conversation has used, oldest first. The array grows when tools are added. */
  names(): readonly Pin[] {
    if (this.#tools === undefined) this.getEveryTool();
    runAtOnce(this.#pinAll());
    return this.#pins.all;
  }

  /** The tools for one request: at most 512, because a model's API accepts no more. */
  getFunctionDeclarations(): FunctionDeclaration[] {
    return declarationsOf(this.getAllTools());
  }

  /** The tools of this conversation, if they were made from these tools of the registry. */
  #named(source: readonly RegisteredTool[]): readonly RegisteredTool[] | undefined {
    return source === this.#source ? this.#tools : undefined;
  }

  #use(source: readonly RegisteredTool[], named: readonly RegisteredTool[]): readonly RegisteredTool[] {
    this.#source = source;
    this.#tools = named;
    this.#byName = undefined;
    this.#isPinned = true;
    return named;
  }

  *#pinAll(): Sliced<void> {
    if (this.#isPinned) return;
    const unpinned = this.#tools ?? [];
    for (const [at, tool] of unpinned.entries()) {
      this.#pins.pin(pinOf(tool, tool.name));
      if (at % toolsPerSlice === toolsPerSlice - 1) yield;
    }
    if (unpinned === this.#tools) this.#isPinned = true;
  }

  /**
   * Gives names to tools that were added later. These names always contain the server's name, so that they do not
   * depend on the order of registration. A tool that gets no name, because its server has used too many, is left out.
   */
  *#nameAll(later: readonly RegisteredTool[]): Sliced<readonly RegisteredTool[]> {
    yield* this.#pinAll();
    const named: RegisteredTool[] = [];
    let count = 0;
    for (const [as, tool] of nameItems(later, claimOf, { pins: this.#pins, formOf: () => "qualified" })) {
      if (this.#pins.pin(pinOf(tool, as))) named.push(this.#rename(tool, as));
      count += 1;
      if (count % toolsPerSlice === 0) yield;
    }
    return named;
  }
}

function claimOf({ serverName, serverToolName }: RegisteredTool): Claim {
  return { server: serverName, name: serverToolName };
}

function pinOf({ serverName, serverToolName }: RegisteredTool, as: string): Pin {
  return { server: serverName, name: serverToolName, as };
}
