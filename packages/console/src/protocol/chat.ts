import type { JsonObject } from "@fairlead/wire";
import type { ConversationRow } from "./conversations.ts";

/**
 * A conversation with the configured model. The events of its turns arrive as `turn` events: those of
 * `fairlead -p --output-format stream-json`, and `input` for what the person has written. A `call` event has the id of the
 * call's row as `row`. Confirmations are questions of the inbox, with that id as `call`.
 */
export interface ChatCommands {
  /** The name of the model of new conversations. @throws `model` if no model is configured */
  "chat/model": { params: Record<string, never>; result: { readonly model: string } };
  /** Begins a conversation, or resumes a recorded one. @throws `model` if no model is configured */
  "chat/open": {
    params: {
      readonly resume?: string | undefined;
      /** The model's name. Default: the configured model. */
      readonly model?: string | undefined;
    };
    result: { readonly conversation: string; readonly model: string };
  };
  /** A conversation so far, whether it is open or only recorded. @throws `not_found` */
  "chat/show": {
    params: {
      readonly conversation: string;
      /** How many of the latest events to return. Default: 500. */
      readonly limit?: number | undefined;
    };
    result: {
      readonly title?: string | undefined;
      readonly model: string;
      /** Absent while a new conversation has no message, and if conversations are not recorded. */
      readonly recorded?: ConversationRow | undefined;
      /** Whether messages can be sent without opening it first. */
      readonly isOpen: boolean;
      readonly isRunning: boolean;
      readonly events: readonly JsonObject[];
      /** How many earlier events are not in `events`. */
      readonly earlier: number;
      /** The number of the last `turn` event that `events` contains. */
      readonly number: number;
    };
  };
  /** Sends a message: text with references such as `@server://…`, or `/PROMPT` with arguments. Begins a turn. */
  "chat/send": {
    params: { readonly conversation: string; readonly text: string };
    result: Record<string, never>;
  };
  /** Stops the turn. With `onlyCalls`, stops the running calls, and the model goes on. */
  "chat/stop": {
    params: { readonly conversation: string; readonly onlyCalls?: boolean | undefined };
    result: Record<string, never>;
  };
  "chat/close": { params: { readonly conversation: string }; result: Record<string, never> };
}
