/** The settings as they are now: read again when something has changed them, and taken over by the running host. */

import type { ServerChanges } from "@fairlead/core/events";
import { readText } from "@fairlead/core/files/read-text";
import type { Host } from "@fairlead/core/host";
import { limits } from "@fairlead/core/limits";
import type { Configuration } from "@fairlead/core/trust/configuration";
import { configurationOf } from "../../shell/configuration.ts";
import type { Context } from "../../shell/verb.ts";
import { captured } from "../captured.ts";

export interface LiveSettings {
  readonly get: () => Configuration;
  /** Reads them once more, for the host. */
  readonly read: () => Promise<Configuration>;
  /** The same, and the host takes them over: servers that are still the same keep running. */
  readonly renew: () => Promise<ServerChanges>;
  /** Does what changes them, and takes that over. */
  readonly change: <T>(work: () => Promise<T>) => Promise<T>;
  /** Whether a file is another than when it was last read: what we change ourselves is no news. */
  readonly isNews: (file: string) => Promise<boolean>;
}

export interface LiveSettingsOptions {
  readonly context: Context;
  readonly configuration: Configuration;
  readonly host: () => Pick<Host, "reload">;
  /** Told what is wrong with them: nothing may be printed over the screen. */
  readonly warn: (text: string) => void;
}

export function createLiveSettings({ context, configuration, host, warn }: LiveSettingsOptions): LiveSettings {
  let current = configuration;
  let changes = 0;
  /** As they were when they were last read; nothing is known of the first time. */
  let texts: ReadonlyMap<string, string | undefined> = new Map();
  return {
    get: () => current,
    async read() {
      const { context: quiet, text } = captured(context);
      const files = current.settings.files.map(({ file }) => file);
      texts = new Map(await Promise.all(files.map(async (file) => [file, await textOf(file)] as const)));
      const next = await configurationOf(quiet);
      if (text() !== "") warn(text());
      // The host takes none of it over then, and neither do we.
      if (next.settings.files.every(({ state }) => state !== "broken")) current = next;
      return next;
    },
    renew: () => host().reload(),
    async change(work) {
      changes += 1;
      try {
        const result = await work();
        await host().reload();
        return result;
      } finally {
        changes -= 1;
      }
    },
    isNews: async (file) => changes === 0 && texts.get(file) !== (await textOf(file)),
  };
}

/** Undefined for a file that cannot be read, or is not there. */
async function textOf(file: string): Promise<string | undefined> {
  const read = await readText(file, limits.settingsBytes);
  return read.kind === "text" ? read.text : undefined;
}
