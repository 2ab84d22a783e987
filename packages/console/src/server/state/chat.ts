/** Conversations with the configured model in the console. Their calls and confirmations are those of any conversation. */

import { HostError } from "@fairlead/core/errors";
import type { OpenedHost } from "@fairlead/core/host";
import type { Model } from "@fairlead/core/model";
import {
  type ConfirmationAnswer,
  outcomeOf,
  type ToolCallConfirmationDetails,
  ToolConfirmationOutcome,
  toConfirmationView,
} from "@fairlead/core/policy";
import { SharedConfirmations } from "@fairlead/gateway/consent/shared-confirmations";
import type { ChatCommands } from "../../protocol/chat.ts";
import type { ConsoleEvent } from "../../protocol/events.ts";
import { ChatEvents } from "./chat-events.ts";
import { findRecorded, readEvents, toConversationRow } from "./conversations.ts";
import { type ChatPort, OpenChat } from "./open-chat.ts";
import { aCount, aSwitch, aText, type Handlers, optional } from "./parameters.ts";

/** Finds the model that `wanted` names, or the configured one. @throws HostError `model` if there is none */
export type FindModel = (wanted: string | undefined, signal: AbortSignal) => Promise<Model>;

interface ChatsOptions {
  readonly host: OpenedHost;
  readonly findModel: FindModel | undefined;
  readonly emit: (event: ConsoleEvent) => void;
  /** Chooses the id of the row of the requests that are sent with this signal. */
  readonly nameRow: (signal: AbortSignal) => string;
  /** Says that a question of the inbox is about the call with this row. */
  readonly linkQuestion: (question: string, row: string) => void;
  /** Called when a model was found. */
  readonly onModel: () => void;
}

/** One more conversation closes the one that was used longest ago. Its recording can be resumed. */
const mostChats = 16;
const usualShown = 500;
const mostShown = 100_000;

/** The open conversations of a console. */
export class Chats implements AsyncDisposable {
  readonly #options: ChatsOptions;
  /** The one that was used last is the last one. */
  readonly #chats = new Map<string, OpenChat>();
  readonly #shared: SharedConfirmations;
  readonly #port: ChatPort;
  /** The model that was found last. */
  #model: string | undefined;

  constructor(options: ChatsOptions) {
    const { host, emit, nameRow } = options;
    this.#options = options;
    this.#shared = new SharedConfirmations(host.configuration.locations.state, "a conversation in the console");
    this.#port = { host, emit, nameRow, confirm: (...question) => this.#confirm(...question) };
  }

  /** The name of the model. Not known before a conversation is opened: finding it may need the network. */
  get model(): string | undefined {
    return this.#model;
  }

  readonly handlers: Handlers<ChatCommands> = {
    "chat/model": {
      takes: {},
      run: async (_, { signal }) => ({ model: (await this.#findModel(undefined, signal)).name }),
    },
    "chat/open": {
      takes: { resume: optional(aText), model: optional(aText) },
      run: ({ resume, model }, { signal }) => this.#open(resume, model, signal),
    },
    "chat/show": {
      takes: { conversation: aText, limit: optional(aCount(mostShown)) },
      run: ({ conversation, limit = usualShown }) => this.#show(conversation, limit),
    },
    "chat/send": {
      takes: { conversation: aText, text: aText },
      run: ({ conversation, text }) => {
        const chat = this.#find(conversation);
        this.#chats.delete(chat.id);
        this.#chats.set(chat.id, chat);
        chat.send(text);
        return {};
      },
    },
    "chat/stop": {
      takes: { conversation: aText, onlyCalls: optional(aSwitch) },
      run: ({ conversation, onlyCalls = false }) => {
        const chat = this.#find(conversation);
        if (onlyCalls) chat.stopCalls();
        else chat.stop("cancelled in the console");
        return {};
      },
    },
    "chat/close": {
      takes: { conversation: aText },
      run: async ({ conversation }) => {
        const chat = this.#find(conversation);
        this.#chats.delete(chat.id);
        await chat.close("cancelled in the console");
        return {};
      },
    },
  };

  async [Symbol.asyncDispose](): Promise<void> {
    const chats = [...this.#chats.values()];
    this.#chats.clear();
    await Promise.all(chats.map((chat) => chat.close("the console was closed")));
    this.#shared.close();
  }

  async #open(
    resume: string | undefined,
    wanted: string | undefined,
    signal: AbortSignal,
  ): Promise<ChatCommands["chat/open"]["result"]> {
    const { host } = this.#options;
    const open = resume === undefined ? undefined : this.#chats.get(resume);
    if (open !== undefined) return { conversation: open.id, model: open.model };
    const model = await this.#findModel(wanted, signal);
    const conversation =
      resume === undefined ? host.conversation({ model }) : await host.conversation({ model, resume });
    const chat = new OpenChat(conversation, this.#port);
    if (resume !== undefined) await chat.readRecorded();
    this.#chats.set(chat.id, chat);
    await this.#closeOldest();
    return { conversation: chat.id, model: chat.model };
  }

  async #show(id: string, limit: number): Promise<ChatCommands["chat/show"]["result"]> {
    const { host } = this.#options;
    const chat = this.#chats.get(id);
    const info = await findRecorded(host, id).catch((error: unknown) => {
      if (chat === undefined) throw error;
      return undefined;
    });
    const recorded = info && toConversationRow(info);
    if (chat !== undefined) {
      const { title, model, isRunning } = chat;
      // The last `await` is above: no event comes between the events and their number.
      return { title, model, recorded, isOpen: true, isRunning, ...chat.events.latest(limit) };
    }
    const events = new ChatEvents();
    events.replace(await readEvents(host, info?.id ?? id));
    const { title, model = "" } = recorded ?? {};
    return { title, model, recorded, isOpen: false, isRunning: false, ...events.latest(limit) };
  }

  async #findModel(wanted: string | undefined, signal: AbortSignal): Promise<Model> {
    const { findModel, onModel } = this.#options;
    if (findModel === undefined) throw new HostError("model", "no model configured");
    const model = await findModel(wanted, signal);
    this.#model = model.name;
    onModel();
    return model;
  }

  async #closeOldest(): Promise<void> {
    if (this.#chats.size <= mostChats) return;
    const oldest = [...this.#chats.values()].find(({ isRunning }) => !isRunning);
    if (oldest === undefined) return;
    this.#chats.delete(oldest.id);
    await oldest.close("closed");
  }

  #find(id: string): OpenChat {
    const chat = this.#chats.get(id);
    if (chat !== undefined) return chat;
    throw new HostError("not_found", `the conversation ${id.slice(0, 100)} is not open in the console`);
  }

  /** Asks in the inbox, so that the first answer counts wherever it is given. */
  async #confirm(details: ToolCallConfirmationDetails, signal: AbortSignal, row: string): Promise<ConfirmationAnswer> {
    const view = toConfirmationView(details, { who: "model" });
    const open = await this.#shared.share(view, () => details.isOutdated?.() === true);
    this.#options.linkQuestion(open.id, row);
    const given = await Promise.race([open.answered, whenAborted(signal)]);
    if (given === undefined) {
      await open.withdraw();
      // The turn waits no longer.
      return ToolConfirmationOutcome.Cancel;
    }
    if (given.answer !== "no") return outcomeOf(given.answer, view.kind);
    return given.because === undefined ? ToolConfirmationOutcome.Cancel : { because: given.because };
  }
}

function whenAborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
}
