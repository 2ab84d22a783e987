/** Recorded conversations, for replay. */

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
import { aCount, anIndex, aSwitch, aText, type Handlers, optional } from "./parameters.ts";

const usualListed = 50;
const mostListed = 500;
const usualEvents = 500;
const mostEvents = 2000;

export function conversationCommands(host: OpenedHost): Handlers<ConversationCommands> {
  return {
    "conversations/list": {
      takes: { limit: optional(aCount(mostListed)), all: optional(aSwitch) },
      async run({ limit = usualListed, all = false }) {
        const { root } = host.configuration.locations;
        const found = await host.conversations({ limit, ...(all ? {} : { workspace: root }) });
        return { conversations: found.map(toRow) };
      },
    },
    "conversations/show": {
      takes: { id: aText, from: optional(anIndex), limit: optional(aCount(mostEvents)) },
      async run({ id, from = 0, limit = usualEvents }) {
        // What runs now is on disk when the list is read.
        await host.conversations({ limit: 1 });
        const folder = conversationsFolder(host.configuration.locations.state);
        const info = await findConversation(folder, id);
        const events = eventsOf(await readConversation(conversationPath(folder, info.id)));
        const shown = events.slice(from, from + limit).map((event): JsonObject => withoutMedia({ ...event }));
        return { conversation: toRow(info), events: shown, total: events.length };
      },
    },
  };
}

function toRow({ model, bytes: _bytes, ...info }: ConversationInfo): ConversationRow {
  return { ...info, model: model.name };
}

/** Bytes are no part of any JSON. */
function withoutMedia(event: JsonObject): JsonObject {
  const { media } = event;
  if (!Array.isArray(media)) return event;
  return { ...event, media: media.map(({ mimeType }: { readonly mimeType?: unknown }) => ({ mimeType })) };
}
