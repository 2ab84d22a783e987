/** The conversation of the app, which `/clear` replaces by a new one. */

import type { Model } from "@fairlead/core/model/model";
import type { Conversation } from "@fairlead/core/turn/conversation";

export interface ConversationSlot extends Conversation {
  /** Begins a new conversation with the same model; the old one is dropped. */
  readonly renew: () => void;
}

export function createConversationSlot(open: (model: Model) => Conversation, first: Model): ConversationSlot {
  let current = open(first);
  return {
    get history() {
      return current.history;
    },
    get model() {
      return current.model;
    },
    send: (...given) => current.send(...given),
    cancelCalls: () => current.cancelCalls(),
    setModel: (model) => current.setModel(model),
    setTool: (...given) => current.setTool(...given),
    tools: () => current.tools(),
    offers: () => current.offers(),
    renew() {
      current = open(current.model);
    },
  };
}
