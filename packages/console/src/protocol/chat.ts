import type { JsonObject } from "@fairlead/wire";

/**
 * A conversation with the configured model in the console. The events of its turns arrive as `turn` events: those of
 * `fairlead -p --output-format stream-json`, and `input` for what the person has written. Confirmations are questions.
 */
export interface ChatCommands {
  /** Begins a conversation, or resumes a recorded one. @throws `model` if no model is configured */
  "chat/open": {
    params: {
      readonly resume?: string | undefined;
      /** The model's name. Default: the configured model. */
      readonly model?: string | undefined;
    };
    result: { readonly conversation: string; readonly model: string };
  };
  /** What an open conversation has shown so far, for a page that comes later. */
  "chat/show": {
    params: { readonly conversation: string };
    result: { readonly model: string; readonly isRunning: boolean; readonly events: readonly JsonObject[] };
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
