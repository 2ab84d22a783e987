/** Creates the parts of the app (host, conversation, session, services) and connects them. */

import { systemClock } from "@fairlead/core/clock";
import { HostError } from "@fairlead/core/errors";
import { keepResult } from "@fairlead/core/files/result-files";
import { openHost } from "@fairlead/core/host";
import type { Model } from "@fairlead/core/model/model";
import { openUrl } from "@fairlead/core/net/open-url";
import { extensionOf, toMediaType } from "@fairlead/core/normalise/content/media-type";
import { createRecorder } from "@fairlead/core/recordings/recorder";
import { toVisibleLine } from "@fairlead/core/text/safe-text";
import { approvalsPath } from "@fairlead/core/trust/approvals";
import type { Configuration } from "@fairlead/core/trust/configuration";
import { programPlace } from "@fairlead/core/trust/programs";
import type { TurnEvent } from "@fairlead/core/turn/events";
import type { ResumeOptions } from "../../conversations/find-conversation.ts";
import type { Context } from "../../shell/verb.ts";
import { findModel, findModels } from "../../targets/choose-model.ts";
import { captured, runVerbHere } from "../captured.ts";
import { createCompleter } from "../completer.ts";
import { loadHistory, saveEntry } from "../input/history.ts";
import { createPanel } from "../panel.ts";
import type { Services } from "../services.ts";
import { allCommands } from "../slash/commands.ts";
import type { Size } from "../state/app-state.ts";
import { initialState } from "../state/reduce.ts";
import { askIfWaiting, chooseAtStart } from "./begin.ts";
import { createConversationSlot } from "./conversation-slot.ts";
import { createLiveSettings, type LiveSettings } from "./live-settings.ts";
import { isConsentedByTyping, openManualModel } from "./open-model.ts";
import { resumeAtStart } from "./resume.ts";
import { createServerActions } from "./server-actions.ts";
import { answerServers } from "./server-questions.ts";
import { type AppSession, createSession, type Overlay, type SessionOptions } from "./session.ts";
import { signInFromApp } from "./sign-in.ts";
import { createStore } from "./store.ts";

/** A running session and the function that closes it. */
export interface OpenedAppSession {
  readonly session: AppSession;
  /** Closes the session. Resolves when every server has stopped. */
  readonly close: () => Promise<void>;
}

/** The terminal on which the app runs: its size and what it can do. */
export interface Screen extends Pick<SessionOptions, "onQuit" | "onRedraw"> {
  readonly size: Size;
  /** Whether the app draws a screen. With `--plain`, it prints lines instead. */
  readonly hasScreen: boolean;
  /** Writes a control sequence that neither prints text nor moves the cursor. */
  readonly writeTerminal: (sequence: string) => void;
}

/** Opens the session. Returns at once and connects to servers and to the model in the background. */
export function openAppSession(context: Context, configuration: Configuration, screen: Screen): OpenedAppSession {
  const { state: folder } = configuration.locations;
  // Only the app may write to the terminal.
  const { context: quiet } = captured(context);
  const settings = createLiveSettings({
    context,
    configuration,
    host: () => host,
    warn: (text) => session.note("warning", text),
  });
  const host = openHost(configuration, {
    ...answerServers({
      questions: () => session,
      model: () => session.model(),
      isConsented: (details) => isConsentedByTyping(host, conversation.model, details),
      openUrl: (url) => openUrl(url, programPlace(settings.get())),
      schemaOf: (server, tool) => host.catalog(server)?.tools.find(({ name }) => name === tool)?.inputSchema,
      note: (text, next) => session.note("info", text, next),
      tell: (text) => session.note("warning", text),
    }),
    debug: context.globals.debug,
    ...(context.globals.record !== undefined && { record: createRecorder({ folder: context.globals.record }) }),
    recover: true,
    watch: true,
    load: () => settings.read(),
    ide: context.ide,
  });
  const manual = openManualModel(
    () => host,
    () => conversation.tools(),
    quiet,
    () => findModel(settings.get(), undefined),
  );
  const conversation = createConversationSlot((model) => host.conversation({ model }), manual);
  const { provider, name } = manual;
  const store = createStore(initialState({ provider, name }, host.states(), screen.size));
  const ready = new Promise<void>((resolve) => setImmediate(() => resolve(choose())));
  let lastSave: Promise<void> = Promise.resolve();
  const session = createSession({
    host,
    store,
    conversation,
    manual,
    clock: systemClock,
    ready,
    keepMedia: (event) => keepMedia(event, folder, (text) => session.note("warning", text)),
    commands: () => allCommands(services),
    overlay: { press: (key) => overlay.press(key), pressed: (key) => overlay.pressed(key) },
    onEntered: (text) => {
      lastSave = lastSave.then(() => saveEntry(folder, text)).catch(session.fail);
    },
    ...screen,
  });
  const { services, overlay, end } = openServices({ session, context, settings, manual, screen });

  async function choose(): Promise<void> {
    const { model, ...resuming } = context.command.opts<{ readonly model?: string } & ResumeOptions>();
    await chooseAtStart(services, model);
    await resumeAtStart(resuming, services);
  }

  /**
   * Sends the message of `fairlead "…"`. Another program may have written it, so it must not run a tool call or a
   * built-in slash command. It may use a server's prompt.
   */
  function submitPrompt(): void {
    const prompt = context.operands.join(" ").trim();
    if (prompt === "" || store.get().isQuitting) return;
    const [, name] = /^\/(\S+)/.exec(prompt) ?? [];
    const isPrompt = session.commands().find((each) => each.name === name)?.prompt !== undefined;
    if (!isPrompt && session.model() === manual) offerPrompt(prompt);
    else {
      store.dispatch({ type: "entered", text: prompt });
      if (isPrompt) session.submit(prompt);
      else session.send(prompt);
    }
  }

  /** Without a model, the message would run as a tool call. So it is put into the prompt, and the user decides. */
  function offerPrompt(text: string): void {
    const { editor } = store.get();
    if (screen.hasScreen && editor.text === "") {
      store.dispatch({ type: "edit", editor: { ...editor, text, cursor: text.length } });
      session.note(
        "info",
        "There is no model, so the first message was not sent.",
        "press Enter to run it as a tool call",
      );
    } else
      session.note(
        "warning",
        `There is no model, so the first message was not sent: ${toVisibleLine(text)}`,
        "type it here to run it as a tool call",
      );
  }

  /** Uses `import`, so that this code is loaded after the first frame and the app starts faster. */
  async function openInboxQuestions(): Promise<AsyncDisposable> {
    const [{ Inbox }, { showInbox }] = await Promise.all([
      import("@fairlead/gateway/consent/inbox"),
      import("./inbox-questions.ts"),
    ]);
    const { ask, note, fail } = session;
    return showInbox({ ask, note, fail, inbox: new Inbox(folder), now: Date.now });
  }

  let inbox: Promise<AsyncDisposable> | undefined;
  let isClosed = false;
  async function begin(): Promise<void> {
    const entries = await loadHistory(folder);
    if (entries !== undefined) store.dispatch({ type: "history", entries });
    await host.recall();
    if (isClosed) return;
    inbox = openInboxQuestions();
    inbox.catch(session.fail);
    await Promise.all([host.start(), ready.then(() => askIfWaiting(services)).then(submitPrompt)]);
  }
  begin().catch((error: unknown) => {
    if (!store.get().isQuitting) session.fail(error);
  });

  return {
    session,
    async close() {
      isClosed = true;
      end();
      // Closes the inbox first. Otherwise `refuseAll` would send a "no" to the clients, as if the user had answered.
      const shown = await inbox?.catch(() => undefined);
      const isLeft = shown?.[Symbol.asyncDispose]();
      session.refuseAll();
      await Promise.all([host[Symbol.asyncDispose](), lastSave, isLeft]);
    },
  };
}

/** Saves images and audio of a tool result as files, and adds the paths to the event. */
async function keepMedia(event: TurnEvent, state: string, warn: (text: string) => void): Promise<TurnEvent> {
  if (event.type !== "call" || event.media === undefined) return event;
  const files: string[] = [...(event.files ?? [])];
  for (const { mimeType, data } of event.media) {
    const extension = extensionOf(toMediaType(mimeType));
    try {
      files.push((await keepResult(state, { extension, data, encoding: "base64" })).path);
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      warn(error.message);
    }
  }
  return { ...event, files };
}

interface ServicesOptions {
  readonly session: AppSession;
  readonly context: Context;
  readonly settings: LiveSettings;
  readonly manual: Model;
  readonly screen: Pick<Screen, "hasScreen" | "writeTerminal">;
}

interface OpenedServices {
  readonly services: Services;
  readonly overlay: Overlay;
  /** Cancels the open completion requests. */
  readonly end: () => void;
}

/** Columns at the right of the screen that a command's output leaves empty. */
const margin = 4;

function openServices({ session, context, settings, manual, screen }: ServicesOptions): OpenedServices {
  const runVerb: Services["runVerb"] = (...words) =>
    runVerbHere(words, context, Math.max(40, session.store.get().size.columns - margin));

  async function onSettingsChanged(file: string): Promise<void> {
    if (!(await settings.isChangedElsewhere(file))) return;
    const { locations, trust } = settings.get();
    if (file === approvalsPath(locations.state))
      return base.servers.reload(() => `The approvals for the servers of ${locations.root} changed.`);
    if (file !== locations.trustedFolders) return session.note("info", `Settings changed: ${file}`, "/mcp reload");
    // If the folder is no longer trusted, its servers must stop at once. So this does not wait for `/mcp reload`.
    await base.servers.reload(() => trustWords(locations.root, trust.trusted, settings.get().trust.trusted));
  }

  const base = {
    session,
    context,
    settings,
    runVerb,
    writeTerminal: screen.writeTerminal,
    models: {
      manual,
      find: (wanted?: string) => findModel(settings.get(), wanted),
      list: () => findModels(settings.get()),
    },
    servers: createServerActions({
      session,
      settings,
      runVerb,
      signIn: (server, device) => signInFromApp(server, { session, settings, context, device }),
    }),
  };
  session.host.on("settings_changed", ({ file }) => void onSettingsChanged(file).catch(session.fail));
  const panel = createPanel(base);
  const services: Services = { ...base, ...(screen.hasScreen && { openPanel: panel.open }) };
  const completer = createCompleter(services);
  return {
    services,
    overlay: { press: (key) => panel.press(key) || completer.press(key), pressed: completer.pressed },
    end: completer.end,
  };
}

function trustWords(root: string, wasTrusted: boolean, isTrusted: boolean): string {
  if (wasTrusted === isTrusted) return `Trusted folders changed; ${root} is still ${isTrusted ? "" : "not "}trusted.`;
  return `${root} is ${isTrusted ? "now" : "no longer"} trusted.`;
}
