/** Converts the messages of a prompt to messages for a model, with their roles and media. */

import type { PromptResult } from "@fairlead/wire";
import type { ContentLimits } from "../normalise/content/fit.ts";
import { type Keep, keepAll } from "../normalise/content/parts.ts";
import { toLabel } from "../normalise/content/shorten.ts";
import { asUntrusted, createNonce } from "../normalise/content/untrusted.ts";
import type { Content, Part } from "../normalise/model-types.ts";
import { createContentRoom } from "./references/references.ts";

/** One message of a prompt, as parts for a model. */
export interface PromptMessage {
  readonly role: "user" | "assistant";
  readonly parts: readonly Part[];
}

/** The server of the prompt, the size limits, and the function that saves what does not fit. */
export interface PromptMessagesOptions {
  readonly server: string;
  readonly keep?: Keep;
  readonly limits?: Partial<ContentLimits>;
  /** The random part of the tags that enclose untrusted content. Default: a new one for each message. */
  readonly nonce?: string;
}

/**
 * Converts the messages of a prompt. Their texts count as the user's request, because the user chose the prompt. All
 * other content, such as an embedded resource, counts as untrusted data.
 */
export async function toPromptMessages(
  { messages }: Pick<PromptResult, "messages">,
  { server, keep, limits, nonce }: PromptMessagesOptions,
): Promise<readonly PromptMessage[]> {
  const room = createContentRoom(limits);
  const giver = `Server '${toLabel(server)}'`;
  const made: PromptMessage[] = [];
  for (const { role, content } of messages) {
    const { parts, leftOut } = room.fit([content], giver);
    const marked = content.type !== "text" ? asUntrusted(parts, nonce ?? createNonce()) : parts;
    made.push({ role, parts: [...marked, ...(keep === undefined ? [] : await keepAll(leftOut, keep))] });
  }
  return made;
}

/**
 * Splits messages into the user's last message and the messages before it. If the assistant's message is the last one,
 * adds a user message that asks the model to go on. A model answers only user messages.
 */
export function toPromptInput(messages: readonly PromptMessage[]): {
  readonly before: readonly Content[];
  readonly parts: readonly Part[];
} {
  const contents = messages.map(
    ({ role, parts }): Content => ({ role: role === "user" ? "user" : "model", parts: [...parts] }),
  );
  const last = contents.at(-1);
  if (last?.role === "user") return { before: contents.slice(0, -1), parts: last.parts };
  return { before: contents, parts: [{ text: "Go on from there." }] };
}
