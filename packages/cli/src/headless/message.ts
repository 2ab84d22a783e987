/** Builds the message to the model from the user's text or a server's prompt. Piped input comes last. */

import type { HostError } from "@fairlead/core/errors";
import type { Host } from "@fairlead/core/host";
import { asUntrusted, type Content, createNonce, type Part } from "@fairlead/core/normalise";
import { toShellWord } from "@fairlead/core/plain-text";
import {
  findPrompt,
  type PromptCall,
  readPromptCall,
  serversNamedBy,
  splitWords,
  toPromptInput,
  toPromptMessages,
  unknownPrompt,
} from "@fairlead/core/request";
import type { DiscoveredMCPPrompt } from "@fairlead/core/server";
import type { Context } from "../shell/verb.ts";
import { lookUp, namesOf } from "../targets/look-up.ts";
import type { HeadlessOptions } from "./options.ts";

/** The message to the model (`parts`), with earlier messages and warnings. */
export interface HeadlessMessage {
  /** The messages of a server's prompt except the last message, which is in `parts`. */
  readonly history: readonly Content[];
  readonly parts: readonly Part[];
  /** Errors about references, such as `@file`, that could not be read. */
  readonly notes: readonly string[];
}

/**
 * The servers to which Fairlead may connect to expand the prompt, and how many milliseconds it waits for them.
 */
type ReferenceOptions = Pick<HeadlessOptions, "servers" | "wait">;

/** Default of `--wait`: milliseconds to wait for servers without a cached catalog. */
const usualWait = 10_000;

/**
 * Returns the message, with references such as `@file` replaced by their contents. Piped input after a typed text is
 * marked as untrusted. Without a typed text, the piped input is the message, unchanged.
 */
export async function composeMessage(
  { typed, servers, wait = usualWait }: ReferenceOptions & Pick<HeadlessOptions, "typed">,
  piped: string | undefined,
  host: Host,
  context: Context,
): Promise<HeadlessMessage> {
  const references = { servers, wait };
  if (typed.trim() === "") return { history: [], parts: [{ text: piped ?? "" }], notes: [] };
  const behind = piped === undefined ? [] : asUntrusted([{ text: piped }], createNonce(), "piped input");
  const message =
    (await fromPrompt(typed, references, host, context)) ?? (await fromWords(typed, references, host, context));
  return { ...message, parts: [...message.parts, ...behind] };
}

async function fromWords(
  typed: string,
  references: ReferenceOptions,
  host: Host,
  { io }: Context,
): Promise<HeadlessMessage> {
  const { parts, problems } = await host.expandReferences(typed, { ...references, signal: io.signal });
  return { history: [], parts, notes: problems.map(({ text, error }) => `${text}: ${error.message}`) };
}

/** Gets a server's prompt. Returns undefined if the text does not begin with `/` and a prompt's name. */
async function fromPrompt(
  typed: string,
  references: ReferenceOptions,
  host: Host,
  context: Context,
): Promise<HeadlessMessage | undefined> {
  const call = await findPromptCall(typed, references, host, context);
  if (call === undefined) return undefined;
  const { server, prompt, args } = call;
  const result = await host.getPrompt(server, prompt, args, { signal: context.io.signal, wait: references.wait });
  const { before, parts } = toPromptInput(await toPromptMessages(result, { server }));
  return { history: before, parts, notes: [] };
}

/**
 * Finds the prompt that the text names. A text that begins with a path ("/etc/hosts: what is this?") names no prompt,
 * so Fairlead connects to no server.
 */
async function findPromptCall(
  typed: string,
  references: ReferenceOptions,
  host: Host,
  context: Context,
): Promise<PromptCall | undefined> {
  const { servers = namesOf(host), wait } = references;
  if (!/^\s*\/[^\s/]+(?:\s|$)/.test(typed)) return undefined;
  const [{ text: name } = { text: "" }] = splitWords(typed.trimStart().slice(1));
  const { promptRegistry: all } = host;
  const isChosen = ({ serverName }: { readonly serverName: string }): boolean => servers.includes(serverName);
  const prompts: Parameters<typeof readPromptCall>[1] = {
    getAllPrompts: () => all.getAllPrompts().filter(isChosen),
    getPrompt: (wanted) => [all.getPrompt(wanted)].find((prompt) => prompt !== undefined && isChosen(prompt)),
  };
  const named = serversNamedBy(name, servers);
  const find = (): DiscoveredMCPPrompt | HostError => findPrompt(name, prompts) ?? unknownPrompt(name, prompts);
  const byName = {
    serverOf: ({ serverName }: DiscoveredMCPPrompt): string => serverName,
    commandFor: (owner: string): string => `fairlead -p ${toShellWord(`/${owner}.${name}`)}`,
  };
  await lookUp({ named, isOpen: named.length === 0, find, byName, servers, wait }, host, context);
  // Only now, because the arguments must fit the prompt of the server that counts.
  return readPromptCall(typed, prompts);
}
