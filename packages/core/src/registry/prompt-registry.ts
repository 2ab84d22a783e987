/** `PromptRegistry`: the prompts of all servers, named by the same rules as tools. */

import { aListOfStrings, aString, expectArguments, someItems } from "../expect-arguments.ts";
import type { DiscoveredMCPPrompt } from "./discovered-prompt.ts";
import { createNamedItems, type NamedItems } from "./named-items.ts";

/** Options of `PromptRegistry`. */
export interface PromptRegistryOptions {
  /**
   * The order of servers. If several prompts have the same name, the prompt of the first server keeps the name. Each of
   * the others gets a name that contains its server's name. Default: the order of registration.
   */
  readonly serverOrder?: readonly string[];
  /** The servers whose name is always part of their prompts' names. */
  readonly alwaysQualified?: readonly string[];
}

/** The prompts of all servers, each under one unique name. */
export class PromptRegistry {
  readonly #prompts: NamedItems<DiscoveredMCPPrompt>;

  constructor({ serverOrder, alwaysQualified }: PromptRegistryOptions = {}) {
    this.#prompts = createNamedItems({ ownName: (prompt) => prompt.serverPromptName, serverOrder, alwaysQualified });
  }

  /** Registers a prompt. If the server already has a prompt with the same name, the earlier prompt stays. */
  registerPrompt(prompt: DiscoveredMCPPrompt): void {
    this.#prompts.add(prompt);
  }

  /** Replaces all prompts of the server. */
  replaceServer(serverName: string, prompts: Iterable<DiscoveredMCPPrompt>): void {
    expectArguments("replaceServer()", { serverName: [serverName, aString], prompts: [prompts, someItems] });
    this.#prompts.replace(serverName, prompts);
  }

  /**
   * Sets a new order of servers. If several prompts have the same name, the prompt of the first server keeps the name.
   */
  setServerOrder(serverOrder: readonly string[], alwaysQualified: readonly string[] = []): void {
    expectArguments("setServerOrder()", {
      serverOrder: [serverOrder, aListOfStrings],
      alwaysQualified: [alwaysQualified, aListOfStrings],
    });
    this.#prompts.reorder(serverOrder, alwaysQualified);
  }

  removeServer(serverName: string): void {
    expectArguments("removeServer()", { serverName: [serverName, aString] });
    this.#prompts.remove(serverName);
  }

  getPrompt(name: string): DiscoveredMCPPrompt | undefined {
    expectArguments("getPrompt()", { name: [name, aString] });
    return this.#prompts.get(name);
  }

  find(serverName: string, serverPromptName: string): DiscoveredMCPPrompt | undefined {
    expectArguments("find()", { serverName: [serverName, aString], serverPromptName: [serverPromptName, aString] });
    return this.#prompts.find(serverName, serverPromptName);
  }

  getAllPrompts(): readonly DiscoveredMCPPrompt[] {
    return this.#prompts.all();
  }

  getPromptsByServer(serverName: string): readonly DiscoveredMCPPrompt[] {
    expectArguments("getPromptsByServer()", { serverName: [serverName, aString] });
    return this.#prompts.ofServer(serverName);
  }
}
