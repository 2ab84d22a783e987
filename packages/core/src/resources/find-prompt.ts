/** The prompt that a name stands for: its own in the registry, or a server's and the server's name for it. Pure. */

import { HostError } from "../errors.ts";
import type { DiscoveredMCPPrompt } from "../registry/discovered-prompt.ts";
import type { PromptRegistry } from "../registry/prompt-registry.ts";
import { closest } from "../text/closest.ts";

export type PromptSource = Pick<PromptRegistry, "getPrompt" | "getAllPrompts">;

/** `name` or `server:name`, without a slash. Undefined if there is none; more than one is an error. */
export function findPrompt(name: string, prompts: PromptSource): DiscoveredMCPPrompt | undefined {
  const registered = prompts.getPrompt(name);
  if (registered) return registered;
  const all = prompts.getAllPrompts();
  const [only, second] = firstNotEmpty([
    all.filter((prompt) => pairOf(prompt) === name),
    all.filter((prompt) => `${prompt.serverName}:${prompt.name}` === name),
    all.filter((prompt) => prompt.serverPromptName === name),
  ]);
  if (only === undefined || second === undefined) return only;
  const names = [only, second].map((prompt) => `/${prompt.name}`).join(" or ");
  throw new HostError("usage", `"${name}" could be more than one prompt; write ${names}`, { next: "fairlead prompts" });
}

export function unknownPrompt(name: string, prompts: PromptSource): HostError {
  const known = prompts.getAllPrompts().flatMap((prompt) => [prompt.name, pairOf(prompt)]);
  const near = closest(name, known);
  const message = `there is no prompt "${name}"${near === undefined ? "" : `; did you mean /${near}?`}`;
  return new HostError("usage", message, { next: "fairlead prompts" });
}

function pairOf({ serverName, serverPromptName }: DiscoveredMCPPrompt): string {
  return `${serverName}:${serverPromptName}`;
}

function firstNotEmpty<T>(lists: readonly (readonly T[])[]): readonly T[] {
  return lists.find(({ length }) => length > 0) ?? [];
}
