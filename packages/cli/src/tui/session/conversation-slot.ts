/** Holds the app's current conversation. `/clear` starts a new one, and `/resume` switches to an earlier one. */

import type { Model } from "@fairlead/core/model/model";
import type { Conversation } from "@fairlead/core/turn/conversation";

/** A conversation that passes every call on to the current conversation. */
export interface ConversationSlot extends Conversation {
  /** Starts a new conversation with the same model. Resolves when the previous one is saved. */
  readonly renew: () => Promise<void>;
  /** Switches to the conversation `next`. Resolves when the previous one is saved. */
  readonly replace: (next: Conversation) => Promise<void>;
}

/** Opens the first conversation with the model `first`, and holds it until it is replaced. */
export function createConversationSlot(open: (model: Model) => Conversation, first: Model): ConversationSlot {
  let current = open(first);

  function replace(next: Conversation): Promise<void> {
    const before = current;
    current = next;
    return before.close();
  }

  return {
    get id() {
      return current.id;
    },
    get title() {
      return current.title;
    },
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
    rename: (title) => current.rename(title),
    compact: (...given) => current.compact(...given),
    undoCompact: () => current.undoCompact(),
    tokens: () => current.tokens(),
    close: () => current.close(),
    renew: () => replace(open(current.model)),
    replace,
  };
}
