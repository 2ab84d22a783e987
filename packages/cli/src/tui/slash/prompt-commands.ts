/**
 * Makes each prompt of a server a slash command. The command sends the prompt's messages to the model. Without a model,
 * it shows them.
 */

import type { HostPrompt } from "@fairlead/core/host";
import {
  type CompletionRequest,
  promptUsage,
  readPromptCall,
  toPromptInput,
  toPromptMessages,
  typedPromptName,
} from "@fairlead/core/request";
import type { JsonObject } from "@fairlead/wire";
import { reportPrompt } from "../../output/reports/result-reports.ts";
import { captured } from "../captured.ts";
import type { CompletionItem } from "../input/completion.ts";
import type { Services } from "../services.ts";
import { type SlashCommand, wordsOf } from "./command.ts";

/**
 * Creates a slash command for each prompt, with the prompt's name. If a built-in command or a prompt of an earlier
 * server has that name, the command is called `server.prompt`.
 *
 * @param taken The names of the built-in commands.
 */
export function promptCommands(prompts: readonly HostPrompt[], taken: ReadonlySet<string>): readonly SlashCommand[] {
  return prompts.map((prompt) => {
    const { server, serverPromptName, title, description } = prompt;
    const listed = typedPromptName({ ...prompt, serverName: server });
    const usage = promptUsage({ ...prompt, serverName: server }).slice(listed.length + 2);
    const name = (taken.has(listed) ? `${server}.${serverPromptName}` : listed).replaceAll(/[\s/]/g, "_");
    return {
      name,
      summary: `${title ?? description ?? "a prompt"} (${server})`,
      usage: usage === "" ? undefined : usage,
      prompt,
      complete: (before) => offerArguments(prompt, before),
      run: (words, services) => run(prompt, name, words, services),
    };
  });
}

/** Returns the prompts, with the name of their slash command as `name`. */
export function asTyped(prompts: readonly HostPrompt[], commands: readonly SlashCommand[]): readonly HostPrompt[] {
  return prompts.map((prompt) => {
    const { server, serverPromptName } = prompt;
    const isIt = ({ prompt: one }: SlashCommand): boolean =>
      one?.server === server && one.serverPromptName === serverPromptName;
    return { ...prompt, name: commands.find(isIt)?.name ?? prompt.name };
  });
}

function offerArguments(prompt: HostPrompt, before: readonly string[]): readonly CompletionItem[] {
  return prompt.arguments
    .filter(({ name }) => !before.some((word) => word.startsWith(`${name}=`)))
    .map(({ name, description = "", required }) => ({
      value: `${name}=`,
      about: [...(required ? ["required"] : []), ...(description === "" ? [] : [description])].join(", "),
      isOpen: true,
    }));
}

/** Returns the completion request for the argument that the user is typing. Undefined if no value is being typed. */
export function valueQuestion(
  { server, serverPromptName, arguments: wanted }: HostPrompt,
  before: readonly string[],
  typed: string,
): CompletionRequest | undefined {
  const [name, value] = splitNamed(typed);
  if (value === undefined || !wanted.some((argument) => argument.name === name)) return undefined;
  const given = before.map(splitNamed).flatMap(([key, text]) => (text === undefined ? [] : [[key, text] as const]));
  return {
    of: { kind: "prompt", server, prompt: serverPromptName },
    name,
    value,
    given: given.length > 0 ? Object.fromEntries(given) : undefined,
  };
}

function splitNamed(word: string): readonly [name: string, value: string | undefined] {
  const at = word.indexOf("=");
  return at === -1 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)];
}

async function run(prompt: HostPrompt, name: string, words: string, services: Services): Promise<void> {
  const { session, context } = services;
  const { host } = session;
  const { server, serverPromptName } = prompt;
  const args = await argumentsOf(prompt, words, services);
  if (args === undefined) return;
  const result = await host.getPrompt(server, serverPromptName, args);
  const typed = `/${name}${words === "" ? "" : ` ${words}`}`;
  if (session.model().provider !== "manual") {
    const { before, parts } = toPromptInput(await toPromptMessages(result, { server }));
    return session.send(parts, typed, before);
  }
  const { context: quiet, text } = captured(context);
  await reportPrompt({ server, prompt: serverPromptName, result, folder: undefined, draw: undefined }, quiet);
  session.show(typed, text());
}

/**
 * Returns the arguments that the user typed. If there are none but some are required, shows a form. Returns undefined
 * if the user cancels the form.
 */
async function argumentsOf(
  prompt: HostPrompt,
  words: string,
  { session }: Services,
): Promise<Readonly<Record<string, string>> | undefined> {
  const { server, name, title = name } = prompt;
  const needsMore = wordsOf(words).length === 0 && prompt.arguments.some(({ required }) => required);
  if (!needsMore) return readPromptCall(`/${name} ${words}`, session.host.promptRegistry)?.args;
  const asked = {
    kind: "form",
    serverName: server,
    toolName: prompt.serverPromptName,
    message: title,
    schema: schemaOf(prompt),
    purpose: "arguments",
  } as const;
  const answer = await session.ask("form", asked);
  if (answer.action !== "accept") return undefined;
  return Object.fromEntries(Object.entries(answer.content ?? {}).map(([key, value]) => [key, String(value)]));
}

function schemaOf({ arguments: wanted }: HostPrompt): JsonObject {
  return {
    type: "object",
    properties: Object.fromEntries(wanted.map(({ name, description }) => [name, { type: "string", description }])),
    required: wanted.flatMap(({ name, required }) => (required ? name : [])),
  };
}
