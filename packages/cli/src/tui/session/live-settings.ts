/** The current settings of the running app. Reads them again after a change and reloads the host. */

import type { ServerChanges } from "@fairlead/core/events";
import { readText } from "@fairlead/core/files/read-text";
import type { Host } from "@fairlead/core/host";
import { limits } from "@fairlead/core/limits";
import { approvalsPath, readApprovals } from "@fairlead/core/trust/approvals";
import type { Configuration } from "@fairlead/core/trust/configuration";
import { configurationOf } from "../../shell/configuration.ts";
import type { Context } from "../../shell/verb.ts";
import { captured } from "../captured.ts";

/** The app's settings. `get` returns the last valid configuration. */
export interface LiveSettings {
  readonly get: () => Configuration;
  /** Reads the settings files again. The host calls this function when it reloads. */
  readonly read: () => Promise<Configuration>;
  /** Makes the host read the settings again. Servers with an unchanged definition keep running. */
  readonly reload: () => Promise<ServerChanges>;
  /** Runs `work`, which changes settings files, then reloads the host. */
  readonly change: <T>(work: () => Promise<T>) => Promise<T>;
  /**
   * Whether another program has changed the file since the app last read it. `file`: settings, trusted folders or
   * approvals. Waits first for a running `change`.
   */
  readonly isChangedElsewhere: (file: string) => Promise<boolean>;
}

/** The configuration at the start, and the host to reload. */
export interface LiveSettingsOptions {
  readonly context: Context;
  readonly configuration: Configuration;
  readonly host: () => Pick<Host, "reload">;
  /** Called with the problems in the settings. The app shows them, because stderr output would damage the screen. */
  readonly warn: (text: string) => void;
}

/** Creates the settings from the configuration that is already loaded. */
export function createLiveSettings({ context, configuration, host, warn }: LiveSettingsOptions): LiveSettings {
  let current = configuration;
  let changes: Promise<unknown> = Promise.resolve();
  /** What the files contained when the app last read them. Empty before the first reload. */
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
    // If the app itself has started another change, that change may have written the file. Then checks again.
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
      // Keeps the last valid configuration while a settings file is invalid, as the host does.
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
   * Returns the part of the file that concerns this workspace. The file of approvals also contains other workspaces.
   */
  async function contentOf(file: string): Promise<string | undefined> {
    const { state, root } = current.locations;
    if (file !== approvalsPath(state)) return textOf(file);
    const approvals = await readApprovals(state).catch(() => undefined);
    return approvals && JSON.stringify([...(approvals.get(root) ?? [])]);
  }
}

async function textOf(file: string): Promise<string | undefined> {
  const read = await readText(file, limits.settingsBytes);
  return read.kind === "text" ? read.text : undefined;
}
