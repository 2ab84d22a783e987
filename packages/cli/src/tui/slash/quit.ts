/** `/quit`. */

import type { BuiltIn } from "./command.ts";

export const quit: BuiltIn = {
  name: "quit",
  summary: "leave; Ctrl-C twice on an empty prompt does the same",
  run: (_words, { session }) => session.quit(),
};
