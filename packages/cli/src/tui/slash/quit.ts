/** `/quit`: ends the app. */

import type { BuiltIn } from "./command.ts";

export const quit: BuiltIn = {
  name: "quit",
  summary: "quit (also: Ctrl-C twice on an empty prompt)",
  run: (_words, { session }) => session.quit(),
};
