/** Recorded conversations: the list, and one of them as it happened. */

import {
  type ConversationInfo,
  conversationPath,
  conversationsFolder,
  findConversation,
  readConversation,
} from "@fairlead/core/conversations";
import type { OpenedHost } from "@fairlead/core/host";
import type { JsonObject } from "@fairlead/wire";
import type { ConversationCommands, ConversationRow } from "../../protocol/conversations.ts";
import { eventsOf } from "../words/conversation-document.ts";
import { aCount, aSwitch, type Handlers, optional } from "./parameters.ts";

const usualListed = 50;
const mostListed = 500;

export function conversationCommands(host: OpenedHost): Handlers<ConversationCommands> {
  return {
    "conversations/list": {
      takes: { limit: optional(aCount(mostListed)), all: optional(aSwitch) },
      async run({ limit = usualListed, all = false }) {
        const { root } = host.configuration.locations;
        const found = await host.conversations({ limit, ...(all ? {} : { workspace: root }) });
        return { conversations: found.map(toConversationRow) };
      },
    },
  };
}

/** @throws HostError `not_found` */
export async function findRecorded(host: OpenedHost, id: string): Promise<ConversationInfo> {
  // What runs now is on disk when the list is read.
  await host.conversations({ limit: 1 });
  return findConversation(conversationsFolder(host.configuration.locations.state), id);
}

/** Reads the events of a recorded conversation, in their order. */
export async function readEvents(host: OpenedHost, id: string): Promise<readonly JsonObject[]> {
  const folder = conversationsFolder(host.configuration.locations.state);
  const events = eventsOf(await readConversation(conversationPath(folder, id)));
  return events.map((event) => withoutBytes({ ...event }));
}

export function toConversationRow({ model, bytes: _bytes, ...info }: ConversationInfo): ConversationRow {
  return { ...info, model: model.name };
}

/** Bytes are no part of any JSON. */
export function withoutBytes(event: JsonObject): JsonObject {
  const { media } = event;
  if (!Array.isArray(media)) return event;
  return { ...event, media: media.map(({ mimeType }: { readonly mimeType?: unknown }) => ({ mimeType })) };
}
