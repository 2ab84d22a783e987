/** What is sent to the model: what was typed, with its references and prompts, and behind it what was piped in. */

import { HostError } from "@fairlead/core/errors";
import type { Host } from "@fairlead/core/host";
import { asUntrusted, createNonce } from "@fairlead/core/normalise/content/untrusted";
import type { Content, Part } from "@fairlead/core/normalise/model-types";
import { type PromptCall, readPromptCall } from "@fairlead/core/resources/prompt-arguments";
import { toPromptMessages } from "@fairlead/core/resources/prompt-messages";
import type { Context } from "../shell/verb.ts";
import { lookUp, namesOf } from "../targets/look-up.ts";
import type { HeadlessOptions } from "./options.ts";

export interface HeadlessMessage {
  /** What a prompt of a server puts before it. */
  readonly history: readonly Content[];
  readonly parts: readonly Part[];
  /** What could not be read, in words. */
  readonly notes: readonly string[];
}

/** Who may be asked for what is referred to, and for how long: the options of the run. */
type ReferenceOptions = Pick<HeadlessOptions, "servers" | "wait">;

/** Milliseconds; as long as a conversation waits for whom it does not know. */
const usualWait = 10_000;

export async function composeMessage(
  { typed, servers, wait = usualWait }: ReferenceOptions & Pick<HeadlessOptions, "typed">,
  piped: string | undefined,
  host: Host,
  context: Context,
): Promise<HeadlessMessage> {
  const asking = { servers, wait };
  if (typed.trim() === "") return { history: [], parts: [{ text: piped ?? "" }], notes: [] };
  const behind = piped === undefined ? [] : asUntrusted([{ text: piped }], createNonce(), "what was piped in");
  const message = (await fromPrompt(typed, asking, host, context)) ?? (await fromWords(typed, asking, host, context));
  return { ...message, parts: [...message.parts, ...behind] };
}

async function fromWords(
  typed: string,
  asking: ReferenceOptions,
  host: Host,
  { io }: Context,
): Promise<HeadlessMessage> {
  const { parts, problems } = await host.expandReferences(typed, { ...asking, signal: io.signal });
  return { history: [], parts, notes: problems.map(({ text, error }) => `${text}: ${error.message}`) };
}

/** Undefined for what is no `/prompt`. */
async function fromPrompt(
  typed: string,
  asking: ReferenceOptions,
  host: Host,
  context: Context,
): Promise<HeadlessMessage | undefined> {
  const call = await findPromptCall(typed, asking, host, context);
  if (call === undefined) return undefined;
  const { server, prompt, args } = call;
  const result = await host.getPrompt(server, prompt, args, { signal: context.io.signal, wait: asking.wait });
  const contents = (await toPromptMessages(result, { server })).map(toContent);
  const last = contents.at(-1);
  if (last?.role === "user") return { history: contents.slice(0, -1), parts: last.parts, notes: [] };
  throw new HostError(
    "protocol",
    `prompt ${prompt} of "${server}" does not end with something for the model to answer`,
    {
      serverName: server,
      next: `fairlead prompt ${server}:${prompt}`,
    },
  );
}

/** A path, as in "/etc/hosts: what is this?", is no name of a prompt, and nobody is asked about it. */
async function findPromptCall(
  typed: string,
  asking: ReferenceOptions,
  host: Host,
  context: Context,
): Promise<PromptCall | undefined> {
  const { servers = namesOf(host), wait } = asking;
  const [, name] = /^\s*\/(\S+)/.exec(typed) ?? [];
  if (name === undefined || name.includes("/")) return undefined;
  const { promptRegistry: all } = host;
  const isChosen = ({ serverName }: { readonly serverName: string }): boolean => servers.includes(serverName);
  const prompts: Parameters<typeof readPromptCall>[1] = {
    getAllPrompts: () => all.getAllPrompts().filter(isChosen),
    getPrompt: (wanted) => [all.getPrompt(wanted)].find((prompt) => prompt !== undefined && isChosen(prompt)),
  };
  const find = (): PromptCall | HostError => {
    try {
      return readPromptCall(typed, prompts) ?? new HostError("usage", `there is no prompt "${name}"`);
    } catch (error) {
      // Where there is such a prompt, knowing more of servers mends nothing.
      if (error instanceof HostError && error.code === "usage") return error;
      throw error;
    }
  };
  const named = servers.filter((server) => name.startsWith(`${server}:`));
  return lookUp({ named, isOpen: named.length === 0, find, servers, wait }, host, context);
}

function toContent({ role, parts }: { readonly role: "user" | "assistant"; readonly parts: readonly Part[] }): Content {
  return { role: role === "user" ? "user" : "model", parts: [...parts] };
}
