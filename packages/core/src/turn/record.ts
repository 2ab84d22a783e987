/** The changes that the recorder of a conversation writes, and the initial state of a resumed conversation. */

import type { Content, Part } from "../normalise/model-types.ts";
import type { Pin } from "../normalise/tool-name.ts";
import type { StoredResult } from "../results/result-handles.ts";
import type { TurnEvent } from "./events.ts";
import type { OwnFunction, OwnNames } from "./tools/own-functions.ts";

/** What a declaration in a request describes: a tool of a server, or one of Fairlead's own functions. */
export type OfferedPlace = { readonly server: string; readonly name: string } | { readonly function: OwnFunction };

/** A change of a conversation that is not an event of a turn. */
export type ConversationChange =
  /** A turn begins. `text` is the user's message as the user sees it. */
  | { readonly type: "input"; readonly text: string }
  /** A message is added to the history. If the message has calls, a `response` change follows for each call. */
  | { readonly type: "content"; readonly content: Content }
  /** The response to one call in the last message. The media in `beside` come after all responses. */
  | {
      readonly type: "response";
      /** The position of the call in its message. */
      readonly index: number;
      readonly server?: string;
      readonly part: Part;
      readonly beside?: readonly Part[];
    }
  /** Removes all but the first `to` messages of the history. */
  | { readonly type: "rewind"; readonly to: number }
  /** Replaces the history by these messages. */
  | { readonly type: "compact"; readonly contents: readonly Content[] }
  /** A result was stored. The model can read it as `result://ID`. */
  | ({ readonly type: "result" } & StoredResult)
  | { readonly type: "model"; readonly provider: string; readonly name: string }
  /**
   * New names of tools, and the names of Fairlead's own functions. In a resumed conversation, each name must mean the
   * same.
   */
  | { readonly type: "names"; readonly tools: readonly Pin[]; readonly functions?: OwnNames }
  /** The declarations in the next request. From position `from` on, `places` replaces the earlier list. */
  | { readonly type: "offered"; readonly from: number; readonly places: readonly OfferedPlace[] }
  | { readonly type: "tool"; readonly server: string; readonly serverToolName: string; readonly enabled: boolean }
  | { readonly type: "title"; readonly title: string };

/** Receives every change and every event of a conversation, before other code does. */
export type RecordChange = (change: ConversationChange | TurnEvent) => void;

/** The initial state of a resumed conversation. */
export interface EarlierConversation {
  readonly history: readonly Content[];
  readonly title?: string;
  /** The ids of all calls before the conversation was resumed. */
  readonly callIds: readonly string[];
  readonly names: readonly Pin[];
  readonly functions?: OwnNames;
  /** The declarations in the last request, in order. */
  readonly offered: readonly OfferedPlace[];
  readonly results: readonly StoredResult[];
  /** Tools that the user has removed from the conversation. */
  readonly disabled: readonly { readonly server: string; readonly serverToolName: string }[];
}
