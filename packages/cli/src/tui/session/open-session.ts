/** Opens the host, the model, the conversation, the session and its services, and connects them. */

import { systemClock } from "@fairlead/core/clock";
import { openHost } from "@fairlead/core/host";
import { openUrl } from "@fairlead/core/net/open-url";
import type { Configuration } from "@fairlead/core/trust/configuration";
import { programPlace } from "@fairlead/core/trust/programs";
import type { Context } from "../../shell/verb.ts";
import { captured } from "../captured.ts";
import { loadHistory, saveEntry } from "../input/history-file.ts";
import { openServices } from "../open-services.ts";
import { allCommands } from "../slash/commands.ts";
import type { Size } from "../state/app-state.ts";
import { initialState } from "../state/reduce.ts";
import { askAtStart, chooseAtStart } from "./begin.ts";
import { keepMedia } from "./kept-media.ts";
import { createLiveSettings } from "./live-settings.ts";
import { isConsentedByTyping } from "./models.ts";
import { openManualModel } from "./open-model.ts";
import { answerServers } from "./server-questions.ts";
import { type AppSession, createSession, type SessionOptions } from "./session.ts";
import { createStore } from "./store.ts";

export interface OpenedAppSession {
  readonly session: AppSession;
  /** Resolves when every server has stopped. */
  readonly close: () => Promise<void>;
}

export interface Screen extends Pick<SessionOptions, "onQuit" | "onRedraw"> {
  readonly size: Size;
  /** False with `--plain`. */
  readonly hasScreen: boolean;
}

/** Returns at once: servers and the model are reached in the background. */
export function openAppSession(context: Context, configuration: Configuration, screen: Screen): OpenedAppSession {
  const { state: folder } = configuration.locations;
  // Nothing but the app writes to the terminal.
  const { context: quiet } = captured(context);
  const settings = createLiveSettings({
    context,
    configuration,
    host: () => host,
    warn: (text) => session.note("warning", text),
  });
  const host = openHost(configuration, {
    ...answerServers({
      asking: () => session,
      model: () => conversation.model,
      isConsented: (details) => isConsentedByTyping(host, conversation.model, details),
      openUrl: (url) => openUrl(url, programPlace(settings.get())),
      tell: (text) => session.note("warning", text),
    }),
    debug: context.globals.debug,
    recover: true,
    watch: true,
    load: () => settings.read(),
  });
  const manual = openManualModel(
    () => host,
    () => conversation.tools(),
    quiet,
  );
  const conversation = host.conversation({ model: manual });
  const { provider, name } = manual;
  const store = createStore(initialState({ provider, name }, host.states(), screen.size));
  const ready = new Promise<void>((resolve) => setImmediate(() => resolve(choose())));
  let saved: Promise<void> = Promise.resolve();
  const session = createSession({
    host,
    store,
    conversation,
    clock: systemClock,
    ready,
    keepMedia: (event) => keepMedia(event, folder, (text) => session.note("warning", text)),
    commands: () => allCommands(services),
    overlay: { press: (key) => overlay.press(key), pressed: (key) => overlay.pressed(key) },
    onEntered: (text) => {
      saved = saved.then(() => saveEntry(folder, text)).catch(session.fail);
    },
    ...screen,
  });
  const { services, overlay, end } = openServices({ session, context, settings, manual, hasScreen: screen.hasScreen });

  function choose(): Promise<void> {
    const { model } = context.command.opts<{ readonly model?: string }>();
    return chooseAtStart(services, model);
  }

  async function begin(): Promise<void> {
    const entries = await loadHistory(folder);
    if (entries !== undefined) store.dispatch({ type: "history", entries });
    await host.recall();
    await Promise.all([host.start(), ready.then(() => askAtStart(services))]);
  }
  begin().catch((error: unknown) => {
    if (!store.get().isQuitting) session.fail(error);
  });

  return {
    session,
    async close() {
      end();
      session.refuseAll();
      await Promise.all([host[Symbol.asyncDispose](), saved]);
    },
  };
}
