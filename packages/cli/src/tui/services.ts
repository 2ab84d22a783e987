/** What slash commands, the `/mcp` panel and the completion list need from the app. */

import type { Context } from "../shell/verb.ts";
import type { Models } from "./session/open-model.ts";
import type { ServerActions } from "./session/server-actions.ts";
import type { AppSession } from "./session/session.ts";

/** The parts of the running app that slash commands use. */
export interface Services {
  readonly session: AppSession;
  readonly context: Context;
  readonly servers: ServerActions;
  readonly models: Models;
  /** Runs a `fairlead` command and returns its output. The command cannot ask the user anything. */
  readonly runVerb: (...words: readonly string[]) => Promise<string>;
  /**
   * Writes a control sequence to the terminal, such as one that copies text. It must not print text or move the cursor.
   */
  readonly writeTerminal: (sequence: string) => void;
  /** Opens a page of the console in the browser. */
  readonly openConsole: () => Promise<void>;
  /** Opens the `/mcp` panel. Undefined with `--plain`, which has no panel. */
  readonly openPanel?: (() => void) | undefined;
}
