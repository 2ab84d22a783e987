/** Converts the options of `createHost` to those of the configuration. */

import { homedir } from "node:os";
import type { ConfigurationOptions } from "../trust/configuration.ts";
import { settingsText } from "./options.ts";
import type { HostOptions } from "./types.ts";

/** Returns where the settings of a host are read from. */
export function toConfigurationOptions({ settings, workspace, trust, environment }: HostOptions): ConfigurationOptions {
  return {
    environment: environment ?? { env: process.env, home: homedir(), cwd: process.cwd(), platform: process.platform },
    workspace: workspace !== false,
    ...(typeof workspace === "string" ? { root: workspace } : {}),
    ...settingsFrom(settings),
    ...(trust === undefined ? {} : { embedderTrust: trust }),
  };
}

function settingsFrom(settings: HostOptions["settings"]): Pick<ConfigurationOptions, "settingsFile" | "userSettings"> {
  if (typeof settings === "string") return { settingsFile: settings };
  const userSettings = settingsText(settings);
  return userSettings === undefined ? {} : { userSettings };
}
