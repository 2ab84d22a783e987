/**
 * `RegisteredTools`: the tools of all servers, each under one name for the model. A tool is found by its whole name; the
 * name is never split.
 */

import { aListOfStrings, aString, expectArguments, someItems } from "../expect-arguments.ts";
import { limits } from "../limits.ts";
import type { FunctionDeclaration } from "../normalise/model-types.ts";
import { createNamedItems, type Nameable, type NamedItems } from "./named-items.ts";
import type { RegisteredTool } from "./registered-tool.ts";

/** Options of `RegisteredTools`. */
export interface RegisteredToolsOptions {
  /**
   * The order of servers. If several tools have the same name, the tool of the first server keeps the name. Each of the
   * others gets a name that contains its server's name. Default: the order of registration.
   */
  readonly serverOrder?: readonly string[];
  /** The servers whose name is always part of their tools' names. */
  readonly alwaysQualified?: readonly string[];
  /** Maximum number of tools that the registry takes from one server. Default: 10 000. */
  readonly toolsPerServer?: number;
}

/** A tool that is not offered to a model, with the reason. */
export interface QuarantinedTool {
  readonly server: string;
  readonly serverToolName: string;
  readonly reason: string;
}

/** A tool that a registry can name and offer to a model. */
export interface OfferableTool<T> extends Nameable<T> {
  /** The name that the server gives the tool. */
  readonly serverToolName: string;
  /** Why the tool cannot be offered to a model; undefined if it can. */
  readonly quarantine: string | undefined;
  readonly schema: FunctionDeclaration;
}

/** The tools of all servers, each under one unique name for the model. */
export class RegisteredTools<T extends OfferableTool<T> = RegisteredTool> {
  readonly #tools: NamedItems<T>;

  constructor({ serverOrder, alwaysQualified, toolsPerServer = limits.toolsPerServer }: RegisteredToolsOptions = {}) {
    this.#tools = createNamedItems({
      ownName: (tool) => tool.serverToolName,
      serverOrder,
      alwaysQualified,
      limit: {
        count: toolsPerServer,
        reason: `only the first ${toolsPerServer} tools of a server are used; to choose others, use includeTools or excludeTools`,
      },
    });
  }

  /** Registers a tool. If the server already has a tool with the same name, the earlier tool stays. */
  registerTool(tool: T): void {
    this.#tools.add(tool);
  }

  /**
   * Replaces all tools of the server in one step. If `tools` is a function, it is called at the next use of the
   * registry.
   */
  replaceServer(serverName: string, tools: Iterable<T> | (() => Iterable<T>)): void {
    expectArguments("replaceServer()", { serverName: [serverName, aString], tools: [tools, someItems] });
    this.#tools.replace(serverName, tools);
  }

  /**
   * Sets a new order of servers. If several tools have the same name, the tool of the first server keeps the name.
   * Conversations keep the names that they have already used.
   */
  setServerOrder(serverOrder: readonly string[], alwaysQualified: readonly string[] = []): void {
    expectArguments("setServerOrder()", {
      serverOrder: [serverOrder, aListOfStrings],
      alwaysQualified: [alwaysQualified, aListOfStrings],
    });
    this.#tools.reorder(serverOrder, alwaysQualified);
  }

  removeServer(serverName: string): void {
    expectArguments("removeServer()", { serverName: [serverName, aString] });
    this.#tools.remove(serverName);
  }

  /**
   * Names all tools in small steps, so that other code can run in between. Without this call, the next use of the
   * registry names all of them in one step.
   */
  ready(): Promise<void> {
    return this.#tools.ready();
  }

  getTool(modelName: string): T | undefined {
    expectArguments("getTool()", { modelName: [modelName, aString] });
    return offered(this.#tools.get(modelName));
  }

  find(serverName: string, serverToolName: string): T | undefined {
    expectArguments("find()", { serverName: [serverName, aString], serverToolName: [serverToolName, aString] });
    return offered(this.#tools.find(serverName, serverToolName));
  }

  getAllTools(): readonly T[] {
    return this.#tools.all().filter(isOffered);
  }

  /** All tools, including tools that cannot be offered to a model. Returns the same array until a tool changes. */
  getEveryTool(): readonly T[] {
    return this.#tools.all();
  }

  getToolsByServer(serverName: string): readonly T[] {
    expectArguments("getToolsByServer()", { serverName: [serverName, aString] });
    return this.#tools.ofServer(serverName).filter(isOffered);
  }

  /** The declarations of the first 512 tools, for a request to a model. APIs accept no more. */
  getFunctionDeclarations(): FunctionDeclaration[] {
    return this.getAllTools()
      .slice(0, limits.declarations)
      .map((tool) => tool.schema);
  }

  quarantined(): readonly QuarantinedTool[] {
    const unusable = this.#tools.all().flatMap(({ serverName: server, serverToolName, quarantine: reason }) => {
      return reason === undefined ? [] : [{ server, serverToolName, reason }];
    });
    return [...unusable, ...this.leftOut()];
  }

  /** The tools that got no name in the registry, each with the reason. */
  leftOut(): readonly QuarantinedTool[] {
    return this.#tools.leftOut().map(({ server, ownName, reason }) => ({ server, serverToolName: ownName, reason }));
  }
}

function offered<T extends { readonly quarantine: string | undefined }>(tool: T | undefined): T | undefined {
  return tool && isOffered(tool) ? tool : undefined;
}

function isOffered(tool: { readonly quarantine: string | undefined }): boolean {
  return tool.quarantine === undefined;
}
