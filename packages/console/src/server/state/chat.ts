/** Conversations with the configured model in the console. Their calls and confirmations are those of any conversation. */

import { HostError } from "@fairlead/core/errors";
import type { OpenedHost } from "@fairlead/core/host";
import type { Model } from "@fairlead/core/model";
import type { Content, Part } from "@fairlead/core/normalise";
import { findPrompt, readPromptCall, splitWords, toPromptInput, toPromptMessages } from "@fairlead/core/request";
import type { Conversation, TurnEvent } from "@fairlead/core/turn";
import type { JsonObject } from "@fairlead/wire";
import { errorMessage } from "@fairlead/wire/text";
import type { ChatCommands } from "../../protocol/chat.ts";
import type { ConsoleEvent } from "../../protocol/events.ts";
import { aSwitch, aText, type Handlers, optional } from "./parameters.ts";
import type { Questions } from "./questions.ts";

/** Finds the model that `wanted` names, or the configured one. @throws HostError `model` if there is none */
export type FindModel = (wanted: string | undefined, signal: AbortSignal) => Promise<Model>;

interface ChatsOptions {
  readonly host: OpenedHost;
  readonly questions: Questions;
  readonly findModel: FindModel | undefined;
  readonly emit: (event: ConsoleEvent) => void;
  /** Called when a model was found. */
  readonly onModel: () => void;
}

interface Chat {
  readonly conversation: Conversation;
  /** What a page that comes later is shown. */
  readonly events: JsonObject[];
  running: AbortController | undefined;
}

/** A message for the model. */
interface Message {
  readonly before: readonly Content[];
  readonly parts: readonly Part[];
  /** Why references of the message could not be read. */
  readonly problems: readonly string[];
}

const mostChats = 16;
/** Events of one conversation that are kept for pages that come later. */
const mostEvents = 2000;
/** Milliseconds to wait for servers that a message names. */
const longestWait = 10_000;

/** The open conversations of a console. */
export class Chats implements AsyncDisposable {
  readonly #options: ChatsOptions;
  readonly #chats = new Map<string, Chat>();
  /** The model that was found last. */
  #model: string | undefined;
  /** The turns that run now. */
  readonly #turns = new Set<Promise<void>>();

  constructor(options: ChatsOptions) {
    this.#options = options;
  }

  /** The name of the model. Not known before a conversation is opened: finding it may need the network. */
  get model(): string | undefined {
    return this.#model;
  }

  readonly handlers: Handlers<ChatCommands> = {
    "chat/open": {
      takes: { resume: optional(aText), model: optional(aText) },
      run: ({ resume, model }, { signal }) => this.#open(resume, model, signal),
    },
    "chat/show": {
      takes: { conversation: aText },
      run: ({ conversation }) => {
        const chat = this.#find(conversation);
        return { model: chat.conversation.model.name, isRunning: chat.running !== undefined, events: chat.events };
      },
    },
    "chat/send": {
      takes: { conversation: aText, text: aText },
      run: ({ conversation, text }) => {
        const chat = this.#find(conversation);
        if (chat.running !== undefined)
          throw new HostError("busy", "a turn of this conversation is running: stop it first");
        const running = new AbortController();
        chat.running = running;
        const turn = this.#run(chat, text, running.signal).then((last) => {
          // The page may send the next message as soon as it knows that the turn has ended.
          chat.running = undefined;
          this.#turns.delete(turn);
          this.#tell(chat, last);
        });
        this.#turns.add(turn);
        return {};
      },
    },
    "chat/stop": {
      takes: { conversation: aText, onlyCalls: optional(aSwitch) },
      run: ({ conversation, onlyCalls = false }) => {
        const chat = this.#find(conversation);
        if (onlyCalls) chat.conversation.cancelCalls();
        else chat.running?.abort(new HostError("cancelled", "cancelled in the console"));
        return {};
      },
    },
    "chat/close": {
      takes: { conversation: aText },
      run: async ({ conversation: id }) => {
        const chat = this.#find(id);
        this.#chats.delete(id);
        chat.running?.abort(new HostError("cancelled", "cancelled in the console"));
        await chat.conversation.close();
        return {};
      },
    },
  };

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { running } of this.#chats.values())
      running?.abort(new HostError("cancelled", "the console was closed"));
    await Promise.all(this.#turns);
    await Promise.all([...this.#chats.values()].map(({ conversation }) => conversation.close()));
    this.#chats.clear();
  }

  async #open(
    resume: string | undefined,
    wanted: string | undefined,
    signal: AbortSignal,
  ): Promise<ChatCommands["chat/open"]["result"]> {
    const { host, findModel, onModel } = this.#options;
    if (this.#chats.size >= mostChats)
      throw new HostError("busy", `${mostChats} conversations are open in the console: close one first`);
    if (findModel === undefined) throw new HostError("model", "no model configured");
    const model = await findModel(wanted, signal);
    this.#model = model.name;
    onModel();
    const open = resume === undefined ? undefined : this.#chats.get(resume);
    if (open !== undefined) return { conversation: open.conversation.id, model: open.conversation.model.name };
    const conversation =
      resume === undefined ? host.conversation({ model }) : await host.conversation({ model, resume });
    this.#chats.set(conversation.id, { conversation, events: [], running: undefined });
    return { conversation: conversation.id, model: conversation.model.name };
  }

  #find(id: string): Chat {
    const chat = this.#chats.get(id);
    if (chat !== undefined) return chat;
    throw new HostError("not_found", `the conversation ${id.slice(0, 100)} is not open in the console`);
  }

  /** Runs one turn. Returns its last event, which says how it has ended. */
  async #run(chat: Chat, text: string, signal: AbortSignal): Promise<JsonObject> {
    const { conversation } = chat;
    this.#tell(chat, { type: "input", text });
    try {
      const { before, parts, problems } = await this.#compose(text, signal);
      for (const message of problems) this.#tell(chat, { type: "note", message });
      for await (const event of conversation.send(parts, { signal, before, shown: text })) {
        if (event.type === "done" || event.type === "error") return toShown(event);
        if (event.type === "confirmation") this.#confirm(event, signal);
        else this.#tell(chat, toShown(event));
      }
      return { type: "error", error: { code: "internal", message: "the turn has ended without a reason" } };
    } catch (error) {
      return { type: "error", error: failureOf(error) };
    }
  }

  /** The call waits until the question is answered. If the turn is stopped, nobody has answered: the call ends. */
  #confirm({ details }: Extract<TurnEvent, { readonly type: "confirmation" }>, signal: AbortSignal): void {
    const { questions } = this.#options;
    void questions
      .confirm(details, { who: "model", from: "a conversation in this console" }, signal)
      .then((outcome) => outcome && details.onConfirm(outcome))
      // An approval that cannot be saved still counts for this call; the turn reports it.
      .catch(() => undefined);
  }

  async #compose(typed: string, signal: AbortSignal): Promise<Message> {
    const { host } = this.#options;
    const [{ text: name } = { text: "" }] = splitWords(typed.trimStart().slice(1));
    // A text that begins with a path ("/etc/hosts: what is this?") names no prompt.
    const isPrompt = /^\s*\/[^\s/]+(?:\s|$)/.test(typed) && findPrompt(name, host.promptRegistry) !== undefined;
    const call = isPrompt ? readPromptCall(typed, host.promptRegistry) : undefined;
    if (call !== undefined) {
      const { server, prompt, args } = call;
      const result = await host.getPrompt(server, prompt, args, { signal, wait: longestWait });
      const { before, parts } = toPromptInput(await toPromptMessages(result, { server }));
      return { before, parts, problems: [] };
    }
    const { parts, problems } = await host.expandReferences(typed, { signal, wait: longestWait });
    return { before: [], parts, problems: problems.map(({ text, error }) => `${text}: ${error.message}`) };
  }

  #tell({ conversation, events }: Chat, event: JsonObject): void {
    const last = events.at(-1);
    const isMore = (event["type"] === "text" || event["type"] === "thought") && last?.["type"] === event["type"];
    // A page that comes later needs no single pieces of a text.
    if (isMore) events[events.length - 1] = { ...last, text: `${String(last["text"])}${String(event["text"])}` };
    else if (event["type"] !== "progress") events.push(event);
    if (events.length > mostEvents) events.shift();
    this.#options.emit({ type: "turn", conversation: conversation.id, event });
  }
}

/** An event of a turn as JSON. Bytes are no part of any JSON. */
function toShown(event: Exclude<TurnEvent, { readonly type: "confirmation" }>): JsonObject {
  if (event.type === "error") return { type: event.type, error: failureOf(event.error) };
  if (event.type !== "call" || event.media === undefined) return { ...event };
  return { ...event, media: event.media.map(({ mimeType }) => ({ mimeType })) };
}

function failureOf(error: unknown): JsonObject {
  if (!(error instanceof HostError)) return { code: "internal", message: errorMessage(error) };
  const { code, message, next } = error;
  return { code, message, next };
}
