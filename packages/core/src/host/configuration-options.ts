/** Where the settings of a host are looked for, from what a program gives. */

import { homedir } from "node:os";
import type { ConfigurationOptions } from "../trust/configuration.ts";
import { settingsText } from "./options.ts";
import type { HostOptions } from "./types.ts";

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
