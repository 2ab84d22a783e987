/** The prompts of all servers, each under one name, by the same rules as tools. */

import type { DiscoveredMCPPrompt } from "./discovered-prompt.ts";
import { createNamedItems, type NamedItems } from "./named-items.ts";

export interface PromptRegistryOptions {
  /** Who stands first keeps the bare name; by default whose prompts come first. */
  readonly serverOrder?: readonly string[];
  /** Servers that never take a bare name. */
  readonly alwaysQualified?: readonly string[];
}

/** The prompts of all servers, each under one unique name. */
export class PromptRegistry {
  readonly #prompts: NamedItems<DiscoveredMCPPrompt>;

  constructor({ serverOrder, alwaysQualified }: PromptRegistryOptions = {}) {
    this.#prompts = createNamedItems({ ownName: (prompt) => prompt.serverPromptName, serverOrder, alwaysQualified });
  }

  /** Of two with the same server and prompt the first stays. */
  registerPrompt(prompt: DiscoveredMCPPrompt): void {
    this.#prompts.add(prompt);
  }

  /** All prompts of that server at once. */
  replaceServer(serverName: string, prompts: Iterable<DiscoveredMCPPrompt>): void {
    this.#prompts.replace(serverName, prompts);
  }

  /** Takes over another order of servers: the first of equal names keeps the bare one. Conversations keep the names they have shown. */
  setServerOrder(serverOrder: readonly string[], alwaysQualified: readonly string[] = []): void {
    this.#prompts.reorder(serverOrder, alwaysQualified);
  }

  removeServer(serverName: string): void {
    this.#prompts.remove(serverName);
  }

  getPrompt(name: string): DiscoveredMCPPrompt | undefined {
    return this.#prompts.get(name);
  }

  find(serverName: string, serverPromptName: string): DiscoveredMCPPrompt | undefined {
    return this.#prompts.find(serverName, serverPromptName);
  }

  getAllPrompts(): readonly DiscoveredMCPPrompt[] {
    return this.#prompts.all();
  }

  getPromptsByServer(serverName: string): readonly DiscoveredMCPPrompt[] {
    return this.#prompts.ofServer(serverName);
  }
}
