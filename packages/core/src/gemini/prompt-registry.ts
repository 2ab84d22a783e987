/** Prompts that a program has discovered itself, each under one name. */

import { anObject, expectArguments } from "../expect-arguments.ts";
import { DiscoveredMCPPrompt } from "../registry/discovered-prompt.ts";
import { PromptRegistry, type PromptRegistryOptions } from "../registry/prompt-registry.ts";
import type { Config } from "./config.ts";

const aPrompt = { words: "a DiscoveredMCPPrompt", accepts: (given: unknown) => given instanceof DiscoveredMCPPrompt };

/** The prompts of all servers, each under one unique name. */
export class OwnPromptRegistry extends PromptRegistry {
  /** @param options Gemini CLI passes its configuration, which is accepted and has no effect. */
  constructor(options: PromptRegistryOptions | Config = {}) {
    expectArguments("new PromptRegistry()", { options: [options, anObject] });
    super("isTrustedFolder" in options ? {} : options);
  }

  override registerPrompt(prompt: DiscoveredMCPPrompt): void {
    expectArguments("registerPrompt()", { prompt: [prompt, aPrompt] });
    super.registerPrompt(prompt);
  }
}
