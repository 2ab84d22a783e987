/** Prompts that a program has discovered itself, each under one name. */

import { aListOfStrings, anObject, expectArguments, optional, readMembers, type Wanted } from "../expect-arguments.ts";
import { DiscoveredMCPPrompt } from "../server/discovered-prompt.ts";
import { PromptRegistry, type PromptRegistryOptions } from "../server/registries.ts";
import type { Config } from "./config.ts";

const wantedOptions = { serverOrder: optional(aListOfStrings), alwaysQualified: optional(aListOfStrings) };
const aPrompt: Wanted = { words: "a DiscoveredMCPPrompt", accepts: (given) => given instanceof DiscoveredMCPPrompt };

/** The prompts of all servers, each under one unique name. */
export class OwnPromptRegistry extends PromptRegistry {
  /** @param options Gemini CLI passes its configuration, which is accepted and has no effect. */
  constructor(options: PromptRegistryOptions | Config = {}) {
    const call = "new PromptRegistry()";
    expectArguments(call, { options: [options, anObject] });
    super("isTrustedFolder" in options ? {} : readMembers(call, options, wantedOptions, "options."));
  }

  override registerPrompt(prompt: DiscoveredMCPPrompt): void {
    expectArguments("registerPrompt()", { prompt: [prompt, aPrompt] });
    super.registerPrompt(prompt);
  }
}
