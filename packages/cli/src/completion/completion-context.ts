/**
 * Creates the context for completion: streams and global options. Ignores `--trust-workspace`, because the user has not
 * run the command yet.
 */

import { join } from "node:path";
import { type Configuration, loadConfiguration } from "@fairlead/core/trust";
import { configurationOptions } from "../shell/configuration.ts";
import type { Context, Io } from "../shell/verb.ts";
import type { Typed } from "./typed-words.ts";

/** What completion needs of a command's context. */
export type CompletionContext = Pick<Context, "io" | "globals">;

/** Returns the context for the options typed so far, such as `-C`. */
export function completionContextOf({ values }: Typed, io: Io): CompletionContext {
  const [root, settings] = [values.get("-C"), values.get("--settings")];
  return {
    io,
    globals: {
      workspace: !values.has("--no-workspace"),
      trustWorkspace: false,
      json: false,
      quiet: true,
      debug: false,
      root: root === undefined ? undefined : withHome(root, io),
      settings: settings === undefined ? undefined : withHome(settings, io),
    },
  };
}

/** Replaces "~" by the home folder, as the shell does when the command runs. */
function withHome(path: string, { home }: Io): string {
  return path === "~" || path.startsWith("~/") ? join(home, path.slice(1)) : path;
}

/** Loads the settings for completion. Starts no server. */
export function configurationAt(context: CompletionContext): Promise<Configuration> {
  return loadConfiguration(configurationOptions(context));
}
