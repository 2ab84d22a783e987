/** The running app without its screen: opens the host, runs commands and turns, and keeps the state up to date. */

import { type Clock, systemClock } from "@fairlead/core/clock";
import { openUrl } from "@fairlead/core/connect";
import { HostError } from "@fairlead/core/errors";
import type { HostEvent } from "@fairlead/core/events";
import { keepResult } from "@fairlead/core/files";
import { type OpenedHost, openHost } from "@fairlead/core/host";
import type { Model } from "@fairlead/core/model";
import { type Content, extensionOf, type Part, toMediaType } from "@fairlead/core/normalise";
import { createRecorder } from "@fairlead/core/recordings";
import { findPrompt } from "@fairlead/core/request";
import { toVisibleLine } from "@fairlead/core/text/safe-text";
import { approvalsPath, type Configuration, programPlace } from "@fairlead/core/trust";
import type { Conversation, TurnEvent } from "@fairlead/core/turn";
import type { SharedConfirmations } from "@fairlead/gateway/consent/shared-confirmations";
import { errorMessage } from "@fairlead/wire/text";
import type { ResumeOptions } from "../../conversations/find-conversation.ts";
import { serversOfCalls } from "../../headless/manual-line.ts";
import { configurationOptions, printConfigurationNotes } from "../../shell/configuration.ts";
import type { Context } from "../../shell/verb.ts";
import { openStatelessInBackground } from "../../targets/background.ts";
import { findModel, findModels } from "../../targets/choose-model.ts";
import { captured, runVerbHere } from "../captured.ts";
import { Completer } from "../completer.ts";
import { isTypedCall } from "../input/call-words.ts";
import { loadHistory, saveEntry } from "../input/history.ts";
import { type Action, routeKey } from "../input/key-router.ts";
import type { Key } from "../input/keys.ts";
import { Panel } from "../panel.ts";
import type { Services } from "../services.ts";
import type { SlashCommand } from "../slash/command.ts";
import { commandsOf } from "../slash/commands.ts";
import type { AppEvent, Size } from "../state/app-state.ts";
import { initialState } from "../state/reduce.ts";
import type { NoteTone } from "../state/transcript.ts";
import { AppConsole } from "./app-console.ts";
import { askIfWaiting, chooseAtStart } from "./begin.ts";
import { isConsentedByTyping, openManualModel } from "./open-model.ts";
import { QuestionQueue } from "./question-queue.ts";
import { resumeAtStart } from "./resume.ts";
import { ServerActions } from "./server-actions.ts";
import { answerServers } from "./server-questions.ts";
import { signInFromApp } from "./sign-in.ts";
import { Store } from "./store.ts";

/** The terminal on which the app runs: its size and what it can do. */
export interface Screen {
  readonly size: Size;
  /** Whether the app draws a screen. With `--plain`, it prints lines instead. */
  readonly hasScreen: boolean;
  /** Writes a control sequence that neither prints text nor moves the cursor. */
  readonly writeTerminal: (sequence: string) => void;
  readonly onQuit: () => void;
  readonly onRedraw: () => void;
}

interface Message {
  readonly input: string | readonly Part[];
  readonly shown: string;
  readonly before: readonly Content[];
  readonly isCall: boolean;
}

/** Host events that change the app's state. `#onSettingsChanged` handles `settings_changed`. */
const hostEvents: readonly HostEvent["type"][] = [
  "state",
  "history_failed",
  "conversation_not_recorded",
  "refresh_failed",
  "catalog",
  "ide_trust_changed",
  "settings_unread",
];

/** Columns at the right of the screen that a command's output leaves empty. */
const margin = 4;

/** The running app: its state, its conversation and what the user can do. */
export class AppSession {
  readonly store: Store;
  readonly host: OpenedHost;
  readonly clock: Clock = systemClock;
  readonly ask: QuestionQueue["ask"];
  readonly answer: QuestionQueue["answer"];
  readonly #questions: QuestionQueue;
  readonly #context: Context;
  readonly #screen: Screen;
  readonly #folder: string;
  /** The model for manual mode, which turns each typed line into a tool call. */
  readonly #manual: Model;
  readonly #services: Services;
  readonly #panel: Panel;
  readonly #completer: Completer;
  /** Resolves when the app has chosen its model. Earlier messages wait until then. */
  readonly #ready: Promise<void>;
  readonly #queue: Message[] = [];
  #conversation: Conversation;
  #model: Model;
  #stop: AbortController | undefined;
  readonly #console: AppConsole;
  #inbox: Promise<AsyncDisposable> | undefined;
  #shared: Promise<SharedConfirmations> | undefined;
  #lastSave: Promise<void> = Promise.resolve();
  #isClosed = false;

  /** Opens the session at once, and connects to servers and to the model in the background. */
  constructor(context: Context, configuration: Configuration, screen: Screen) {
    this.#context = context;
    this.#screen = screen;
    this.#folder = configuration.locations.state;
    this.host = openHost(configuration, {
      ...answerServers({
        questions: () => this,
        model: () => this.model(),
        isConsented: (details) => isConsentedByTyping(this.host, this.#conversation.model, details),
        openUrl: (url) => openUrl(url, programPlace(this.host.configuration)),
        schemaOf: (server, tool) => this.host.catalog(server)?.tools.find(({ name }) => name === tool)?.inputSchema,
        note: (text, next) => this.note("info", text, next),
        tell: (text) => this.note("warning", text),
        share: async (view, isOutdated) => (await this.#sharedConfirmations()).share(view, isOutdated),
      }),
      debug: context.globals.debug,
      record: context.globals.record === undefined ? undefined : createRecorder({ folder: context.globals.record }),
      telemetry: context.telemetry,
      recover: true,
      watch: true,
      from: configurationOptions(context),
      ide: context.ide,
      // Only the app may write to the terminal.
      background: openStatelessInBackground(() => this.host.configuration, captured(context).context),
    });
    const { host } = this;
    this.#manual = openManualModel(
      host,
      () => this.#conversation.tools(),
      // Only the app may write to the terminal.
      captured(context).context,
      () => findModel(host.configuration, undefined),
    );
    this.#model = this.#manual;
    this.#conversation = host.conversation({ model: this.#manual });
    const { provider, name } = this.#manual;
    this.store = new Store(initialState({ provider, name }, host.states(), screen.size));
    this.#questions = new QuestionQueue(this.store);
    this.ask = this.#questions.ask;
    this.answer = this.#questions.answer;
    const runVerb: Services["runVerb"] = (...words) =>
      runVerbHere(words, context, Math.max(40, this.store.get().size.columns - margin));
    const servers = new ServerActions({
      session: this,
      runVerb,
      signIn: (server, device) => signInFromApp(server, { session: this, context, device }),
    });
    this.#console = new AppConsole(this, context);
    this.#services = {
      session: this,
      context,
      servers,
      models: {
        manual: this.#manual,
        find: (wanted) => findModel(host.configuration, wanted),
        list: () => findModels(host.configuration),
      },
      runVerb,
      writeTerminal: screen.writeTerminal,
      openConsole: () => this.#console.show(),
      openPanel: screen.hasScreen ? () => this.#panel.open() : undefined,
    };
    this.#panel = new Panel(this.#services);
    this.#completer = new Completer(this.#services);
    this.#listen();
    this.#ready = new Promise((resolve) => setImmediate(() => resolve(this.#choose())));
    this.#ready.catch(this.fail);
    this.#begin().catch((error: unknown) => {
      if (!this.store.get().isQuitting) this.fail(error);
    });
  }

  /** Shows the problems in the settings as a note, because output on stderr would damage the screen. */
  #noteSettings(): void {
    const { context, text } = captured(this.#context);
    printConfigurationNotes(this.host.configuration, context);
    if (text() !== "") this.note("warning", text());
  }

  #listen(): void {
    const { host, store } = this;
    for (const type of hostEvents) host.on(type, (event) => store.dispatch({ type: "host", event }));
    // Asks the host for the states: an event may come from a server that a reload has already replaced.
    for (const type of ["state", "servers"] as const)
      host.on(type, () => store.dispatch({ type: "servers", servers: host.states() }));
    // The host has read its settings again.
    host.on("servers", () => this.#noteSettings());
    host.on("settings_changed", ({ file }) => void this.#onSettingsChanged(file).catch(this.fail));
  }

  async #choose(): Promise<void> {
    const { model, ...resuming } = this.#context.command.opts<{ readonly model?: string } & ResumeOptions>();
    await chooseAtStart(this.#services, model);
    await resumeAtStart(resuming, this.#services);
  }

  async #begin(): Promise<void> {
    const entries = await loadHistory(this.#folder);
    if (entries !== undefined) this.store.dispatch({ type: "history", entries });
    await this.host.recall();
    if (this.#isClosed) return;
    this.#inbox = this.#openInbox();
    this.#inbox.catch(this.fail);
    const asked = this.#ready.then(() => askIfWaiting(this.#services));
    await Promise.all([this.host.start(), asked.then(() => this.#submitPrompt())]);
  }

  /** Uses `import`, so that this code is loaded after the first frame and the app starts faster. */
  async #openInbox(): Promise<AsyncDisposable> {
    const [{ Inbox }, { showInbox }] = await Promise.all([
      import("@fairlead/gateway/consent/inbox"),
      import("./inbox-questions.ts"),
    ]);
    const { ask, note, fail } = this;
    return showInbox({ ask, note, fail, inbox: new Inbox(this.#folder), now: Date.now });
  }

  /** The confirmations of the conversation, as other programs see them. */
  #sharedConfirmations(): Promise<SharedConfirmations> {
    this.#shared ??= import("@fairlead/gateway/consent/shared-confirmations").then(
      ({ SharedConfirmations }) => new SharedConfirmations(this.#folder, "a conversation in the terminal app"),
    );
    return this.#shared;
  }

  /**
   * Sends the message of `fairlead "…"`. Another program may have written it, so it must not run a tool call or a
   * built-in slash command. It may use a server's prompt.
   */
  #submitPrompt(): void {
    const prompt = this.#context.operands.join(" ").trim();
    if (prompt === "" || this.store.get().isQuitting) return;
    const [, name] = /^\/(\S+)/.exec(prompt) ?? [];
    const isPrompt = this.commands().find((each) => each.name === name)?.prompt !== undefined;
    if (!isPrompt && this.#model === this.#manual) this.#offerPrompt(prompt);
    else {
      this.store.dispatch({ type: "entered", text: prompt });
      if (isPrompt) this.submit(prompt);
      else this.send(prompt);
    }
  }

  /** Without a model, the message would run as a tool call. So it is put into the prompt, and the user decides. */
  #offerPrompt(text: string): void {
    const { editor } = this.store.get();
    const isNotSent = "There is no model, so the first message was not sent";
    if (this.#screen.hasScreen && editor.text === "") {
      this.store.dispatch({ type: "edit", editor: { ...editor, text, cursor: text.length } });
      this.note("info", `${isNotSent}.`, "press Enter to run it as a tool call");
    } else this.note("warning", `${isNotSent}: ${toVisibleLine(text)}`, "type it here to run it as a tool call");
  }

  async #onSettingsChanged(file: string): Promise<void> {
    const { servers } = this.#services;
    const { locations, trust } = this.host.configuration;
    if (file === approvalsPath(locations.state))
      return servers.reload(() => `The approvals for the servers of ${locations.root} changed.`);
    if (file !== locations.trustedFolders) return this.note("info", `Settings changed: ${file}`, "/mcp reload");
    // If the folder is no longer trusted, its servers must stop at once. So this does not wait for `/mcp reload`.
    await servers.reload(() => trustWords(locations.root, trust.trusted, this.host.configuration.trust.trusted));
  }

  get conversation(): Conversation {
    return this.#conversation;
  }

  /** The model that the user chose. While a typed call runs, `conversation.model` is the manual model instead. */
  model(): Model {
    return this.#model;
  }

  /** Changes the model, starting with the next request. */
  setModel(next: Model): void {
    this.#model = next;
    // A typed call needs the manual model until it ends. `#takeTurn` then sets the new model.
    if (this.#conversation.model !== this.#manual || this.#stop === undefined) this.#conversation.setModel(next);
    this.store.dispatch({ type: "model", model: { provider: next.provider, name: next.name } });
  }

  readonly note = (tone: NoteTone, text: string, next?: string): void =>
    this.store.dispatch({ type: "note", tone, text, next });

  readonly show = (title: string, text: string): void => this.store.dispatch({ type: "output", title, text });

  readonly fail = (error: unknown): void => {
    const { message, next } = unexpected(error);
    this.note("error", message, next);
  };

  /** Returns all current commands, including the prompts of servers. */
  commands(): readonly SlashCommand[] {
    return commandsOf(this.#services);
  }

  readonly press = (key: Key): void => {
    // The panel and the completion list receive each key first.
    if (this.#panel.press(key) || this.#completer.press(key)) return;
    const { events, action } = routeKey(this.store.get(), key);
    for (const event of events) {
      // Folding changes rows that are already printed, so the screen is drawn again.
      if (event.type === "fold") this.#screen.onRedraw();
      this.store.dispatch(event);
    }
    if (action !== undefined) this.#act(action);
    this.#completer.pressed(key);
  };

  #act(action: Action): void {
    switch (action.type) {
      case "submit":
        this.#lastSave = this.#lastSave.then(() => saveEntry(this.#folder, action.text)).catch(this.fail);
        this.submit(action.text);
        break;
      case "answer":
        this.answer(action.question.key, action.answer);
        break;
      case "cancel_calls":
        this.#takeBack();
        if (!this.#conversation.cancelCalls()) this.cancelTurn();
        break;
      case "cancel_turn":
        this.cancelTurn();
        break;
      case "redraw":
        this.#screen.onRedraw();
        break;
      case "quit":
        this.quit();
        break;
    }
  }

  /** Handles an entered text: a slash command, a tool call, or a message for the model. */
  submit(text: string): void {
    const [, name, words = ""] = /^\/(\S+)\s*([\s\S]*)$/.exec(text) ?? [];
    if (name !== undefined && !name.includes("/")) return void this.#runCommand(name, words.trim()).catch(this.fail);
    if (isTypedCall(text, () => this.#conversation.tools())) this.sendCall(text);
    else this.send(text);
  }

  async #runCommand(name: string, words: string): Promise<void> {
    const commands = this.commands();
    const command = commands.find((each) => each.name === name) ?? commands.find(this.#isPromptNamed(name));
    if (command === undefined) return this.note("error", `unknown command /${name}`, "/help");
    await command.run(words, this.#services);
  }

  #isPromptNamed(name: string): (command: SlashCommand) => boolean {
    const found = findPrompt(name, this.host.promptRegistry);
    return ({ prompt }) =>
      found !== undefined && prompt?.server === found.serverName && prompt.serverPromptName === found.serverPromptName;
  }

  /**
   * Sends a message to the model, even if it begins with `/`. `shown`: the text in the transcript. `before`: earlier
   * messages, if a server's prompt has several.
   */
  send(
    input: string | readonly Part[],
    shown: string = typeof input === "string" ? input : "",
    before: readonly Content[] = [],
  ): void {
    this.#beginTurn({ input, shown, before, isCall: false });
  }

  /** Runs the tool calls that the user typed, without asking the model. */
  sendCall(input: string, shown: string = input): void {
    this.#beginTurn({ input, shown, before: [], isCall: true });
  }

  #beginTurn(message: Message): void {
    if (this.#stop !== undefined) {
      this.#queue.push(message);
      this.store.dispatch({ type: "wait", text: message.shown });
    } else {
      this.store.dispatch({ type: "sent", text: message.shown, attachments: [], now: this.clock.now() });
      void this.#takeTurn(message);
    }
  }

  async #takeTurn({ input, shown, before, isCall }: Message): Promise<void> {
    const controller = new AbortController();
    const { signal } = controller;
    const { host } = this;
    const conversation = this.#conversation;
    this.#stop = controller;
    try {
      const stopped = new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      // If no model could be chosen, the error is already shown and the turn runs in manual mode.
      await Promise.race([this.#ready.catch(() => undefined), stopped]);
      conversation.setModel(isCall ? this.#manual : this.#model);
      const isManual = conversation.model.provider === "manual";
      const waitFor =
        isManual && typeof input === "string"
          ? await serversOfCalls(input, { host, tools: conversation.tools() })
          : undefined;
      for await (const event of conversation.send(input, { signal, references: !isManual, before, shown, waitFor }))
        this.#tell(await this.#keepMedia(event));
    } catch (error) {
      // A conversation reports failures as events, so an exception is a bug. Even then the turn must end.
      this.#tell({ type: "error", error: unexpected(error) });
    } finally {
      conversation.setModel(this.#model);
      this.store.dispatch({ type: "context", tokens: conversation.tokens() });
      this.#endTurn(signal);
    }
  }

  #tell(event: TurnEvent): void {
    this.store.dispatch({ type: "turn", event, now: this.clock.now() });
  }

  /** Sends the next queued message, unless the user has stopped this turn. */
  #endTurn({ aborted }: AbortSignal): void {
    this.#stop = undefined;
    if (aborted) this.#takeBack();
    const next = this.#queue.shift();
    if (next === undefined) return;
    this.store.dispatch({ type: "waited", count: 1 });
    this.#beginTurn(next);
  }

  /** Puts queued messages back into the prompt, because a user who stops a turn does not want the next one to start. */
  #takeBack(): void {
    const texts = this.#queue.splice(0).map(({ shown }) => shown);
    if (texts.length === 0) return;
    const { waiting, editor } = this.store.get();
    this.store.dispatch({ type: "waited", count: waiting.length });
    const text = [...texts, ...(editor.text === "" ? [] : [editor.text])].join("\n");
    this.store.dispatch({ type: "edit", editor: { ...editor, text, cursor: text.length } });
  }

  /** Saves images and audio of a tool result as files, and adds the paths to the event. */
  async #keepMedia(event: TurnEvent): Promise<TurnEvent> {
    if (event.type !== "call" || event.media === undefined) return event;
    const files: string[] = [...(event.files ?? [])];
    for (const { mimeType, data } of event.media) {
      const extension = extensionOf(toMediaType(mimeType));
      try {
        files.push((await keepResult(this.#folder, { extension, data, encoding: "base64" })).path);
      } catch (error) {
        if (!(error instanceof HostError)) throw error;
        this.note("warning", error.message);
      }
    }
    return { ...event, files };
  }

  cancelTurn(): void {
    this.store.dispatch({ type: "cancelling" });
    this.#stop?.abort();
  }

  /** Starts a new conversation and clears the screen. */
  clear(): void {
    this.#replace(this.host.conversation({ model: this.#conversation.model }), []);
  }

  /** Switches to the conversation `next`, and shows its transcript. */
  take(next: Conversation, shown: Iterable<AppEvent>): void {
    this.#replace(next, shown);
    this.setModel(next.model);
  }

  #replace(next: Conversation, shown: Iterable<AppEvent>): void {
    this.#conversation.close().catch(this.fail);
    this.#conversation = next;
    this.store.dispatch({ type: "clear" });
    for (const event of shown) this.store.dispatch(event);
    this.#screen.onRedraw();
  }

  /** Lets the model summarise the conversation. Not allowed during a turn. Esc stops the summary. */
  async compact(): Promise<void> {
    const controller = new AbortController();
    const { signal } = controller;
    this.#stop = controller;
    this.store.dispatch({ type: "sent", text: "/compact", attachments: [], now: this.clock.now() });
    try {
      await this.#conversation.compact({ signal });
      this.#tell({ type: "note", message: "The model continues from its summary. All messages stay on disk." });
      this.#tell({ type: "done", reason: "stop", text: "", denied: 0, calls: 0 });
    } catch (error) {
      this.#tell({ type: "error", error: unexpected(error) });
    } finally {
      this.#endTurn(signal);
    }
  }

  quit(): void {
    this.store.dispatch({ type: "quit" });
    this.#stop?.abort();
    this.#screen.onQuit();
  }

  /** Closes the session. Resolves when every server has stopped. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#completer.end();
    // Closes the inbox first. Otherwise `refuseAll` would send a "no" to the clients, as if the user had answered.
    const shown = await this.#inbox?.catch(() => undefined);
    const isLeft = shown?.[Symbol.asyncDispose]();
    this.#questions.refuseAll();
    await Promise.all([this.host[Symbol.asyncDispose](), this.#lastSave, isLeft, this.#console.close()]);
    (await this.#shared)?.close();
  }
}

function unexpected(error: unknown): HostError {
  if (error instanceof HostError) return error;
  const message = `internal failure: ${errorMessage(error)}`;
  return new HostError("internal", message, { cause: error });
}

function trustWords(root: string, wasTrusted: boolean, isTrusted: boolean): string {
  if (wasTrusted === isTrusted) return `Trusted folders changed; ${root} is still ${isTrusted ? "" : "not "}trusted.`;
  return `${root} is ${isTrusted ? "now" : "no longer"} trusted.`;
}
