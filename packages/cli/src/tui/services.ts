/** What slash commands, the panel and the first screen work with beside the session: settings, servers, models, the verbs of the command. */

import type { Context } from "../shell/verb.ts";
import type { LiveSettings } from "./session/live-settings.ts";
import type { Models } from "./session/models.ts";
import type { ServerActions } from "./session/server-actions.ts";
import type { AppSession } from "./session/session.ts";

export interface Services {
  readonly session: AppSession;
  readonly context: Context;
  readonly settings: LiveSettings;
  readonly servers: ServerActions;
  readonly models: Models;
  /** Runs a command of ours as the shell would, and gives what it printed; nobody is asked anything. */
  readonly runVerb: (...words: readonly string[]) => Promise<string>;
  /** Absent where there is no screen for it. */
  readonly openPanel?: () => void;
}
