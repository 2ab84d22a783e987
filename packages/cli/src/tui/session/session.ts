/** The app without its screen: runs commands and turns, and keeps the state up to date. */

import type { Clock } from "@fairlead/core/clock";
import { HostError } from "@fairlead/core/errors";
import type { HostEvent } from "@fairlead/core/events";
import type { Host, HostPrompt } from "@fairlead/core/host";
import type { Model } from "@fairlead/core/model/model";
import type { Content, Part } from "@fairlead/core/normalise/model-types";
import { findPrompt } from "@fairlead/core/resources/prompt-arguments";
import type { Conversation } from "@fairlead/core/turn/conversation";
import type { TurnEvent } from "@fairlead/core/turn/events";
import { errorMessage } from "@fairlead/wire/text";
import { serversOfCalls } from "../../headless/manual-line.ts";
import { type Action, routeKey } from "../input/key-router.ts";
import type { Key } from "../input/keys.ts";
import { isTypedCall } from "../input/typed-call.ts";
import type { AppEvent } from "../state/app-state.ts";
import type { NoteTone } from "../state/transcript.ts";
import type { ConversationSlot } from "./conversation-slot.ts";
import { createQuestionQueue, type QuestionQueue } from "./question-queue.ts";
import type { Store } from "./store.ts";

/** A command that the user runs with `/name`. */
export interface SlashCommand {
  readonly name: string;
  readonly summary: string;
  /** The arguments as `/help` shows them, such as `[list|auth SERVER]`. */
  readonly usage?: string;
  readonly prompt?: HostPrompt;
  /** Runs the command. `words`: the text after its name. The app shows the error if this throws. */
  readonly run: (words: string, session: AppSession) => void | Promise<void>;
}

/** The running app: its state, its conversation and what the user can do. */
export interface AppSession extends QuestionQueue {
  readonly store: Store;
  readonly host: Host;
  readonly conversation: Conversation;
  readonly clock: Clock;
  /** Returns all current commands, including the prompts of servers. */
  readonly commands: () => readonly SlashCommand[];
  readonly press: (key: Key) => void;
  /** Handles an entered text: a slash command, a tool call, or a message for the model. */
  readonly submit: (text: string) => void;
  /** Runs the tool calls that the user typed, without asking the model. */
  readonly sendCall: (calls: string, shown?: string) => void;
  /**
   * Sends a message to the model, even if it begins with `/`. `shown`: the text in the transcript. `before`: earlier
   * messages, if a server's prompt has several.
   */
  readonly send: (input: string | readonly Part[], shown?: string, before?: readonly Content[]) => void;
  readonly cancelTurn: () => void;
  readonly note: (tone: NoteTone, text: string, next?: string) => void;
  readonly show: (title: string, text: string) => void;
  readonly fail: (error: unknown) => void;
  /** The model that the user chose. While a typed call runs, `conversation.model` is the manual model instead. */
  readonly model: () => Model;
  /** Changes the model, starting with the next request. */
  readonly setModel: (model: Model) => void;
  /** Starts a new conversation and clears the screen. */
  readonly clear: () => void;
  /** Switches to the conversation `next`, and shows its transcript. */
  readonly take: (next: Conversation, shown: Iterable<AppEvent>) => void;
  /** Lets the model summarise the conversation. Not allowed during a turn. Esc stops the summary. */
  readonly compact: () => Promise<void>;
  readonly quit: () => void;
}

/** A part of the app that receives keys before the prompt does. */
export interface Overlay {
  /** Handles a key. Returns false if the overlay does not use this key. */
  readonly press: (key: Key) => boolean;
  /** Called after a key that `press` did not use. */
  readonly pressed: (key: Key) => void;
}

/** The parts that a session connects, and the functions that it calls. */
export interface SessionOptions {
  readonly host: Host;
  readonly store: Store;
  readonly conversation: ConversationSlot;
  /** The model for manual mode, which turns each typed line into a tool call. */
  readonly manual: Model;
  readonly clock: Clock;
  /** Resolves when the app has chosen its model. Earlier messages wait until then. */
  readonly ready: Promise<void>;
  readonly commands: (session: AppSession) => readonly SlashCommand[];
  readonly onEntered: (text: string) => void;
  /** The panel and the completion list, which receive each key first. */
  readonly overlay?: Overlay;
  readonly onQuit: () => void;
  /** Saves images and audio of a tool result as files, and adds the paths to the event. */
  readonly keepMedia: (event: TurnEvent) => Promise<TurnEvent>;
  readonly onRedraw: () => void;
}

/** Host events that change the app's state. `open-session.ts` handles `settings_changed`. */
const hostEvents: readonly HostEvent["type"][] = [
  ...([
    "state",
    "history_failed",
    "conversation_not_recorded",
    "refresh_failed",
    "catalog",
    "ide_trust_changed",
  ] as const),
];

/** Creates the session and listens to the host's events. */
export function createSession(options: SessionOptions): AppSession {
  const { host, store, conversation, manual, clock, ready, onEntered, keepMedia, onQuit, onRedraw } = options;
  const { dispatch } = store;
  const questions = createQuestionQueue(store);
  const queue: Message[] = [];
  let stop: AbortController | undefined;
  let { model } = conversation;

  for (const type of hostEvents) host.on(type, (event) => dispatch({ type: "host", event }));
  ready.catch(fail);
  // Asks the host for the states: an event may come from a server that a reload has already replaced.
  for (const type of ["state", "servers"] as const)
    host.on(type, () => dispatch({ type: "servers", servers: host.states() }));

  const note: AppSession["note"] = (tone, text, next) =>
    dispatch({ type: "note", tone, text, ...(next !== undefined && { next }) });

  function fail(error: unknown): void {
    const { message, next } = unexpected(error);
    note("error", message, next);
  }

  async function takeTurn({ input, shown, before, isCall }: Message): Promise<void> {
    const controller = new AbortController();
    const { signal } = controller;
    stop = controller;
    try {
      const stopped = new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      // If no model could be chosen, the error is already shown and the turn runs in manual mode.
      await Promise.race([ready.catch(() => undefined), stopped]);
      conversation.setModel(isCall ? manual : model);
      const isManual = conversation.model.provider === "manual";
      const waitFor =
        isManual && typeof input === "string"
          ? serversOfCalls(input, { host, tools: conversation.tools() })
          : undefined;
      for await (const event of conversation.send(input, { signal, references: !isManual, before, shown, waitFor }))
        dispatch({ type: "turn", event: await keepMedia(event), now: clock.now() });
    } catch (error) {
      // A conversation reports failures as events, so an exception is a bug. Even then the turn must end.
      dispatch({ type: "turn", event: { type: "error", error: unexpected(error) }, now: clock.now() });
    } finally {
      stop = undefined;
      conversation.setModel(model);
      dispatch({ type: "context", tokens: conversation.tokens() });
      if (signal.aborted) takeBack();
      else sendNext();
    }
  }

  function sendNext(): void {
    const next = queue.shift();
    if (next === undefined) return;
    dispatch({ type: "waited", count: 1 });
    begin(next);
  }

  function begin(message: Message): void {
    if (stop !== undefined) {
      queue.push(message);
      dispatch({ type: "wait", text: message.shown });
    } else {
      dispatch({ type: "sent", text: message.shown, attachments: [], now: clock.now() });
      void takeTurn(message);
    }
  }

  /** Puts queued messages back into the prompt, because a user who stops a turn does not want the next one to start. */
  function takeBack(): void {
    const texts = queue.splice(0).map(({ shown }) => shown);
    if (texts.length === 0) return;
    dispatch({ type: "waited", count: store.get().waiting.length });
    const { editor } = store.get();
    const text = [...texts, ...(editor.text === "" ? [] : [editor.text])].join("\n");
    dispatch({ type: "edit", editor: { ...editor, text, cursor: text.length } });
  }

  function act(action: Action): void {
    switch (action.type) {
      case "submit":
        onEntered(action.text);
        session.submit(action.text);
        break;
      case "answer":
        questions.answer(action.question.key, action.answer);
        break;
      case "cancel_calls":
        takeBack();
        if (!conversation.cancelCalls()) session.cancelTurn();
        break;
      case "cancel_turn":
        session.cancelTurn();
        break;
      case "redraw":
        onRedraw();
        break;
      case "quit":
        session.quit();
        break;
    }
  }

  async function runCommand(name: string, words: string): Promise<void> {
    const commands = session.commands();
    const command = commands.find((each) => each.name === name) ?? commands.find(isPromptNamed(name));
    if (command === undefined) return note("error", `unknown command /${name}`, "/help");
    await command.run(words, session);
  }

  function isPromptNamed(name: string): (command: SlashCommand) => boolean {
    const found = findPrompt(name, host.promptRegistry);
    return ({ prompt }) =>
      found !== undefined && prompt?.server === found.serverName && prompt.serverPromptName === found.serverPromptName;
  }

  const session: AppSession = {
    ...questions,
    store,
    host,
    conversation,
    clock,
    note,
    fail,
    commands: () => options.commands(session),
    press(key) {
      if (options.overlay?.press(key) === true) return;
      const { events, action } = routeKey(store.get(), key);
      for (const event of events) {
        // Folding changes rows that are already printed, so the screen is drawn again.
        if (event.type === "fold") onRedraw();
        dispatch(event);
      }
      if (action !== undefined) act(action);
      options.overlay?.pressed(key);
    },
    submit(text) {
      const [, name, words = ""] = /^\/(\S+)\s*([\s\S]*)$/.exec(text) ?? [];
      if (name !== undefined && !name.includes("/")) return void runCommand(name, words.trim()).catch(fail);
      if (isTypedCall(text, conversation.tools)) session.sendCall(text);
      else session.send(text);
    },
    send: (input, shown = typeof input === "string" ? input : "", before = []) =>
      begin({ input, shown, before, isCall: false }),
    sendCall: (input, shown = input) => begin({ input, shown, before: [], isCall: true }),
    cancelTurn() {
      dispatch({ type: "cancelling" });
      stop?.abort();
    },
    show: (title, text) => dispatch({ type: "output", title, text }),
    model: () => model,
    setModel(next) {
      model = next;
      // A typed call needs the manual model until it ends. `takeTurn` then sets the new model.
      if (conversation.model !== manual || stop === undefined) conversation.setModel(next);
      dispatch({ type: "model", model: { provider: next.provider, name: next.name } });
    },
    clear() {
      conversation.renew().catch(fail);
      dispatch({ type: "clear" });
      onRedraw();
    },
    take(next, shown) {
      conversation.replace(next).catch(fail);
      dispatch({ type: "clear" });
      for (const event of shown) dispatch(event);
      session.setModel(next.model);
      onRedraw();
    },
    async compact() {
      const controller = new AbortController();
      stop = controller;
      dispatch({ type: "sent", text: "/compact", attachments: [], now: clock.now() });
      const tell = (event: TurnEvent): void => dispatch({ type: "turn", event, now: clock.now() });
      try {
        await conversation.compact({ signal: controller.signal });
        tell({ type: "note", message: "The model continues from its summary. All messages stay on disk." });
        tell({ type: "done", reason: "stop", text: "", denied: 0, calls: 0 });
      } catch (error) {
        tell({ type: "error", error: unexpected(error) });
      } finally {
        stop = undefined;
        if (controller.signal.aborted) takeBack();
        else sendNext();
      }
    },
    quit() {
      dispatch({ type: "quit" });
      stop?.abort();
      onQuit();
    },
  };
  return session;
}

interface Message {
  readonly input: string | readonly Part[];
  readonly shown: string;
  readonly before: readonly Content[];
  readonly isCall: boolean;
}

function unexpected(error: unknown): HostError {
  if (error instanceof HostError) return error;
  const message = `internal failure: ${errorMessage(error)}`;
  return new HostError("internal", message, { cause: error });
}
