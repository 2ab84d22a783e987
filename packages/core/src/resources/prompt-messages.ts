/** What a server makes of a prompt, as messages for a model: all of them, with their roles and media. */

import type { Block, PromptResult } from "@fairlead/wire";
import type { ContentLimits } from "../normalise/content/fit.ts";
import { type Keep, keepAll } from "../normalise/content/parts.ts";
import { toLabel } from "../normalise/content/shorten.ts";
import { asUntrusted, createNonce } from "../normalise/content/untrusted.ts";
import type { Part } from "../normalise/model-types.ts";
import { createContentRoom } from "./references/content-room.ts";

export interface PromptMessage {
  readonly role: "user" | "assistant";
  readonly parts: readonly Part[];
}

export interface PromptMessagesOptions {
  readonly server: string;
  readonly keep?: Keep;
  readonly limits?: Partial<ContentLimits>;
  /** Of the tags round embedded contents; drawn anew for each by default. */
  readonly nonce?: string;
}

/** Their words are what the person asked for, and are no less than a request; what is embedded in them is data. */
export async function toPromptMessages(
  { messages }: Pick<PromptResult, "messages">,
  { server, keep, limits, nonce }: PromptMessagesOptions,
): Promise<readonly PromptMessage[]> {
  const room = createContentRoom(limits);
  const giver = `Server '${toLabel(server)}'`;
  const made: PromptMessage[] = [];
  for (const { role, content } of messages) {
    const { parts, leftOut } = room.fit([content], giver);
    const marked = isData(content) ? asUntrusted(parts, nonce ?? createNonce()) : parts;
    made.push({ role, parts: [...marked, ...(keep === undefined ? [] : await keepAll(leftOut, keep))] });
  }
  return made;
}

function isData({ type }: Block): boolean {
  return type !== "text";
}
