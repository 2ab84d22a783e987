/**
 * The services that slash commands, the panel and completion use: session, settings, servers, models and shell
 * commands.
 */

import type { Context } from "../shell/verb.ts";
import type { LiveSettings } from "./session/live-settings.ts";
import type { Models } from "./session/open-model.ts";
import type { ServerActions } from "./session/server-actions.ts";
import type { AppSession } from "./session/session.ts";

export interface Services {
  readonly session: AppSession;
  readonly context: Context;
  readonly settings: LiveSettings;
  readonly servers: ServerActions;
  readonly models: Models;
  /** Runs a `fairlead` command and returns its output. The command has no terminal to ask on. */
  readonly runVerb: (...words: readonly string[]) => Promise<string>;
  /** Writes a control sequence that neither prints text nor moves the cursor. */
  readonly writeTerminal: (sequence: string) => void;
  /** Opens the `/mcp` panel. Undefined with `--plain`, which has no panel. */
  readonly openPanel?: () => void;
}
