/** Finds a prompt by its registered name or by `server:name`. Pure. */

import { HostError } from "../errors.ts";
import type { DiscoveredMCPPrompt } from "../registry/discovered-prompt.ts";
import type { PromptRegistry } from "../registry/prompt-registry.ts";
import { closest } from "../text/closest.ts";

/** The part of a prompt registry that a search needs. */
export type PromptSource = Pick<PromptRegistry, "getPrompt" | "getAllPrompts">;

/**
 * Finds a prompt by `name` or `server:name`, without a slash; undefined if there is none.
 *
 * @throws HostError `usage` if several prompts match
 */
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
  throw new HostError("usage", `"${name}" is ambiguous: write ${names}`, { next: "fairlead prompts" });
}

/** Makes the error for an unknown prompt, with a suggestion. */
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
