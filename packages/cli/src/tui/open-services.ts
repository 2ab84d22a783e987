/** Creates the services that slash commands, the panel and completion use. */

import type { Model } from "@fairlead/core/model/model";
import type { Context } from "../shell/verb.ts";
import { findModel } from "../targets/choose-model.ts";
import { runVerbHere } from "./captured.ts";
import { createCompleter } from "./completer.ts";
import { createPanel } from "./panel.ts";
import type { Services } from "./services.ts";
import type { LiveSettings } from "./session/live-settings.ts";
import { createServerActions } from "./session/server-actions.ts";
import type { AppSession, Overlay } from "./session/session.ts";
import { signInFromApp } from "./session/sign-in.ts";

export interface ServicesOptions {
  readonly session: AppSession;
  readonly context: Context;
  readonly settings: LiveSettings;
  /** Reads what is typed as a call. */
  readonly manual: Model;
  /** False: there is no screen, only lines. */
  readonly hasScreen: boolean;
}

export interface OpenedServices {
  readonly services: Services;
  readonly overlay: Overlay;
  /** Cancels pending requests of the overlay. */
  readonly end: () => void;
}

/** Columns beside a list. */
const margin = 4;

export function openServices({ session, context, settings, manual, hasScreen }: ServicesOptions): OpenedServices {
  const runVerb: Services["runVerb"] = (...words) =>
    runVerbHere(words, context, Math.max(40, session.store.get().size.columns - margin));

  async function onSettingsChanged(file: string): Promise<void> {
    if (!(await settings.isChangedElsewhere(file))) return;
    const { locations, trust } = settings.get();
    if (file !== locations.trustedFolders) return session.note("info", `Settings changed: ${file}`, "/mcp reload");
    // A folder that is no longer trusted must not keep its servers until someone types a command.
    await base.servers.reload(() => trustWords(locations.root, trust.trusted, settings.get().trust.trusted));
  }

  const base = {
    session,
    context,
    settings,
    runVerb,
    models: { manual, find: (wanted?: string) => findModel(settings.get(), wanted) },
    servers: createServerActions({
      session,
      settings,
      runVerb,
      signIn: (server) => signInFromApp(server, { session, settings, context }),
    }),
  };
  session.host.on("settings_changed", ({ file }) => void onSettingsChanged(file).catch(session.fail));
  const panel = createPanel(base);
  const services: Services = { ...base, ...(hasScreen && { openPanel: panel.open }) };
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
