/** Completes the prompts of `fairlead prompt` and their arguments from cached catalogs. */

import type { HostPrompt } from "@fairlead/core/host";
import type { Suggestion } from "./answer.ts";
import type { CachedServers } from "./cached-servers.ts";
import type { Typed } from "./typed-words.ts";

/** Adds the server if two servers have the same prompt name, and a slash if the user typed one. */
export async function suggestPrompts(
  typed: Typed,
  current: string,
  known: CachedServers,
): Promise<readonly Suggestion[]> {
  const slash = current.startsWith("/") ? "/" : "";
  const prompts = await promptsOf(typed, known);
  return prompts.map((prompt) => {
    const isUnique = prompts.every((one) => one === prompt || one.serverPromptName !== prompt.serverPromptName);
    const isBare = isUnique && !current.startsWith(`${slash}${prompt.server}:`);
    const value = `${slash}${isBare ? prompt.serverPromptName : pairOf(prompt)}`;
    return { value, about: prompt.title ?? prompt.description };
  });
}

export async function suggestPromptArguments(typed: Typed, known: CachedServers): Promise<readonly Suggestion[]> {
  const wanted = typed.operands[0]?.replace(/^\//, "");
  const prompts = await promptsOf(typed, known);
  const found = prompts.find((prompt) => [prompt.serverPromptName, pairOf(prompt), prompt.name].includes(wanted ?? ""));
  return (found?.arguments ?? []).map(({ name, description, required }) => ({
    value: `${name}=`,
    about: [...(required ? ["required"] : []), ...(description === undefined ? [] : [description])].join(", "),
    isOpen: true,
  }));
}

async function promptsOf({ values }: Typed, { host, names, recall }: CachedServers): Promise<readonly HostPrompt[]> {
  const server = values.get("--server");
  const asked = server === undefined ? names : names.filter((name) => name === server);
  await recall(asked);
  return asked.flatMap((name) => host.prompts(name));
}

function pairOf({ server, serverPromptName }: HostPrompt): string {
  return `${server}:${serverPromptName}`;
}
