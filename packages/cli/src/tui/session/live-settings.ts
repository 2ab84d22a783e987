/** Holds the current settings of the running app: reads them again after a change, and passes them to the host. */

import type { ServerChanges } from "@fairlead/core/events";
import { readText } from "@fairlead/core/files/read-text";
import type { Host } from "@fairlead/core/host";
import { limits } from "@fairlead/core/limits";
import { approvalsPath, readApprovals } from "@fairlead/core/trust/approvals";
import type { Configuration } from "@fairlead/core/trust/configuration";
import { configurationOf } from "../../shell/configuration.ts";
import type { Context } from "../../shell/verb.ts";
import { captured } from "../captured.ts";

export interface LiveSettings {
  readonly get: () => Configuration;
  /** Reads the settings files again. The host calls this function when it reloads. */
  readonly read: () => Promise<Configuration>;
  /** Reloads the host with the settings on disk. Servers whose definition has not changed keep running. */
  readonly reload: () => Promise<ServerChanges>;
  /** Runs a function that changes the settings, then reloads the host. */
  readonly change: <T>(work: () => Promise<T>) => Promise<T>;
  /**
   * Whether another program has changed a file of settings, trust rules or approvals since the app last read it. Waits
   * first for a running `change`.
   */
  readonly isChangedElsewhere: (file: string) => Promise<boolean>;
}

export interface LiveSettingsOptions {
  readonly context: Context;
  readonly configuration: Configuration;
  readonly host: () => Pick<Host, "reload">;
  /** Called with each problem in the settings. The app shows it, because printing to stderr would damage the screen. */
  readonly warn: (text: string) => void;
}

export function createLiveSettings({ context, configuration, host, warn }: LiveSettingsOptions): LiveSettings {
  let current = configuration;
  let changes: Promise<unknown> = Promise.resolve();
  /**
   * The contents of the files of settings, trust rules and approvals when the app last read them. Empty before the
   * first reload.
   */
  let texts: ReadonlyMap<string, string | undefined> = new Map();

  const approvalsAtStart = contentOf(approvalsPath(configuration.locations.state));

  async function applyChange<T>(work: () => Promise<T>): Promise<T> {
    const result = await work();
    await host().reload();
    return result;
  }

  async function isChangedElsewhere(file: string): Promise<boolean> {
    const ended = changes;
    await ended;
    const isFirst = texts.size === 0 && file === approvalsPath(current.locations.state);
    const before = isFirst ? await approvalsAtStart : texts.get(file);
    if (before === (await contentOf(file))) return false;
    // If the app has begun another change meanwhile, that change may have written the file. So this checks again.
    return changes === ended || isChangedElsewhere(file);
  }

  return {
    get: () => current,
    async read() {
      const { context: quiet, text } = captured(context);
      const { settings, locations } = current;
      const files = [
        ...settings.files.map(({ file }) => file),
        locations.trustedFolders,
        approvalsPath(locations.state),
      ];
      texts = new Map(await Promise.all(files.map(async (file) => [file, await contentOf(file)] as const)));
      const next = await configurationOf(quiet);
      if (text() !== "") warn(text());
      // While a settings file is invalid, the host and the app keep the last valid configuration.
      if (next.settings.files.every(({ state }) => state !== "broken")) current = next;
      return next;
    },
    reload: () => host().reload(),
    change(work) {
      const change = applyChange(work);
      changes = Promise.allSettled([changes, change]);
      return change;
    },
    isChangedElsewhere,
  };

  /**
   * Returns the part of a file whose change must reload the settings. For the file of approvals, this is the approvals
   * of this workspace. For any other file, it is the whole text.
   */
  async function contentOf(file: string): Promise<string | undefined> {
    const { state, root } = current.locations;
    if (file !== approvalsPath(state)) return textOf(file);
    const approvals = await readApprovals(state).catch(() => undefined);
    return approvals && JSON.stringify([...(approvals.get(root) ?? [])]);
  }
}

/** Reads a file as text. Returns undefined if the file is missing or cannot be read. */
async function textOf(file: string): Promise<string | undefined> {
  const read = await readText(file, limits.settingsBytes);
  return read.kind === "text" ? read.text : undefined;
}
